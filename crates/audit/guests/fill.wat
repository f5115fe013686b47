;; Case 8: fills the whole memory again and again, each time in one instruction.
(module
  (memory 512)
  (func (export "attack") (result i32)
    (loop $again
      (memory.fill (i32.const 0) (i32.const 1) (i32.const 33554432))
      (br $again))
    (unreachable))
  (func (export "control") (result i32)
    (memory.fill (i32.const 0) (i32.const 1) (i32.const 33554432))
    (i32.ne (i32.load8_u (i32.const 33554431)) (i32.const 1))))
