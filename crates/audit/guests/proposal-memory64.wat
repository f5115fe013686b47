;; Case 16: a memory of 64-bit addresses.
(module
  (memory i64 1)
  (func (export "attack") (result i32) (i32.load (i64.const 0))))
