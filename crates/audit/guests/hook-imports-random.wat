;; A handler that imports wasi:random/random@0.2.0.
(component
  (@custom "skillgate:hook" "0.1")
  (import "wasi:random/random@0.2.0" (instance)))
