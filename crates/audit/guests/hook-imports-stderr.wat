;; A handler that imports wasi:cli/stderr@0.2.0.
(component
  (@custom "skillgate:hook" "0.1")
  (import "wasi:cli/stderr@0.2.0" (instance)))
