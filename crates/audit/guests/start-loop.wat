;; Case 2: the start function never returns.
(module
  (func $start (loop $again (br $again)))
  (start $start)
  (func (export "attack") (result i32) (i32.const 0)))
