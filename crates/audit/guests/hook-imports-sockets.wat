;; A handler that imports wasi:sockets/tcp@0.2.0.
(component
  (@custom "skillgate:hook" "0.1")
  (import "wasi:sockets/tcp@0.2.0" (instance)))
