;; A handler that imports wasi:logging/logging@0.1.0.
(component
  (@custom "skillgate:hook" "0.1")
  (import "wasi:logging/logging@0.1.0" (instance)))
