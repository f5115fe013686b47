;; Case 6: a table of a hundred million elements, and one of a thousand.
(module
  (table $table 1 funcref)
  (func $grow (param $elements i32) (result i32)
    (i32.eq (table.grow $table (ref.null func) (local.get $elements)) (i32.const -1)))
  (func (export "attack") (result i32) (call $grow (i32.const 100000000)))
  (func (export "control") (result i32) (call $grow (i32.const 1000))))
