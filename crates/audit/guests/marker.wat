;; Case 21: fills much memory with a marker and ends well.
(module
  (memory 256)
  (func (export "attack") (result i32)
    (memory.fill (i32.const 0) (i32.const 0x5a) (i32.const 16777216))
    (i32.const 0)))
