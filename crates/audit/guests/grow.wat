;; Case 4: takes memory, a mebibyte at a time, and touches it. It fails when growing failed before 4 GiB; the control takes two.
(module
  (memory (export "memory") 1)
  (func $take (param $mebibytes i32) (result i32) (local $taken i32) (local $page i32)
    (loop $more
      (local.set $page (memory.grow (i32.const 16)))
      (if (i32.eq (local.get $page) (i32.const -1)) (then (return (i32.const 1))))
      (memory.fill (i32.shl (local.get $page) (i32.const 16)) (i32.const 0xaa) (i32.const 1048576))
      (local.set $taken (i32.add (local.get $taken) (i32.const 1)))
      (br_if $more (i32.lt_u (local.get $taken) (local.get $mebibytes))))
    (i32.const 0))
  (func (export "attack") (result i32) (call $take (i32.const 4095)))
  (func (export "control") (result i32) (call $take (i32.const 2))))
