;; Case 21: looks through all of its memory, as much as it can get, for the marker of another guest; 1 when it is there. The
;; control puts the marker there itself, and fails when it is not found.
(module
  (memory 256)
  (func $found (result i32) (local $at i32) (local $end i32)
    (local.set $end (i32.shl (memory.size) (i32.const 16)))
    (loop $next
      (if (i32.eq (i32.load (local.get $at)) (i32.const 0x5a5a5a5a)) (then (return (i32.const 1))))
      (local.set $at (i32.add (local.get $at) (i32.const 4)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
    (i32.const 0))
  (func (export "attack") (result i32)
    (drop (memory.grow (i32.const 256)))
    (call $found))
  (func (export "control") (result i32)
    (i32.store (i32.const 8388608) (i32.const 0x5a5a5a5a))
    (i32.eqz (call $found))))
