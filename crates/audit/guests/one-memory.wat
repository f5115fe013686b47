;; Case 5, control: one memory of the same size.
(module
  (memory 256)
  (func (export "control") (result i32) (i32.const 0)))
