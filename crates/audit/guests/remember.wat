;; Case 20: leaves something in a global and in memory, and traps; the control looks in the same instance.
(module
  (memory 1)
  (global $global (mut i32) (i32.const 0))
  (func $seen (result i32)
    (i32.or (global.get $global) (i32.load (i32.const 4096))))
  (func $leave
    (global.set $global (i32.const 1))
    (i32.store (i32.const 4096) (i32.const 1)))
  (func (export "attack") (result i32)
    (if (call $seen) (then (return (i32.const 1))))
    (call $leave)
    (unreachable))
  (func (export "control") (result i32)
    (call $leave)
    (i32.eqz (call $seen))))
