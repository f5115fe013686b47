;; Case 7: a function that calls itself for ever, and one that does so ten times.
(module
  (func $deep (param $left i64) (result i64)
    (if (result i64) (i64.eqz (local.get $left))
      (then (i64.const 1))
      (else (i64.add (call $deep (i64.sub (local.get $left) (i64.const 1))) (i64.const 1)))))
  (func (export "attack") (result i32)
    (drop (call $deep (i64.const -1)))
    (i32.const 0))
  (func (export "control") (result i32)
    (i64.ne (call $deep (i64.const 10)) (i64.const 11))))
