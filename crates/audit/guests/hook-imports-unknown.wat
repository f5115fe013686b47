;; A handler that imports env.
(component
  (@custom "skillgate:hook" "0.1")
  (import "env" (instance)))
