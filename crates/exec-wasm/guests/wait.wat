  ;; Waits for NANOSECONDS, in the host.
  (core module $guest
    (import "host" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
    (import "host" "block" (func $block (param i32)))
    (func (export "run") (result i32)
      (call $block (call $subscribe-duration (i64.const NANOSECONDS)))
      (i32.const 0)))
