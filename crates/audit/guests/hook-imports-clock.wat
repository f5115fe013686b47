;; A handler that imports wasi:clocks/wall-clock@0.2.0.
(component
  (@custom "skillgate:hook" "0.1")
  (import "wasi:clocks/wall-clock@0.2.0" (instance)))
