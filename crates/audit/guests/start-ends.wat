;; Case 2, control: a start function that returns.
(module
  (global $started (mut i32) (i32.const 1))
  (func $start (global.set $started (i32.const 0)))
  (start $start)
  (func (export "control") (result i32) (global.get $started)))
