;; A handler that imports skillgate:command/run@0.1.0.
(component
  (@custom "skillgate:hook" "0.1")
  (import "skillgate:command/run@0.1.0" (instance)))
