;; A handler that imports wasi:cli/environment@0.2.0.
(component
  (@custom "skillgate:hook" "0.1")
  (import "wasi:cli/environment@0.2.0" (instance)))
