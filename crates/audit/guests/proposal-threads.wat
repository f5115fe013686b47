;; Case 16: shared memory.
(module
  (memory 1 1 shared)
  (func (export "attack") (result i32) (i32.atomic.load (i32.const 0))))
