;; Case 1: a loop without an end, and one of a thousand turns.
(module
  (func (export "attack") (result i32)
    (loop $again (br $again))
    (unreachable))
  (func (export "control") (result i32) (local $turns i32)
    (loop $again
      (local.set $turns (i32.add (local.get $turns) (i32.const 1)))
      (br_if $again (i32.lt_u (local.get $turns) (i32.const 1000))))
    (i32.const 0)))
