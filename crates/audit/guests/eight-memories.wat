;; Case 5: eight memories, each far below the bound of one.
(module
  (memory 256) (memory 256) (memory 256) (memory 256) (memory 256) (memory 256) (memory 256) (memory 256)
  (func (export "attack") (result i32) (i32.const 0)))
