  ;; Writes 64 KiB to standard output as often as COUNT says, each time SIZE bytes of it.
  (core module $guest
    (import "libc" "memory" (memory 32))
    (import "host" "get-stdout" (func $get-stdout (result i32)))
    (import "host" "write-stream" (func $write-stream (param i32 i32 i32 i32)))
    (func (export "run") (result i32)
      (local $out i32) (local $left i64)
      (local.set $out (call $get-stdout))
      (memory.fill (i32.const 0x10000) (i32.const 120) (i32.const 0x10000))
      (local.set $left (i64.const COUNT))
      (block $done
        (loop $more
          (br_if $done (i64.eqz (local.get $left)))
          (call $write-stream (local.get $out) (i32.const 0x10000) (i32.const SIZE) (i32.const 0x1000))
          (if (i32.load8_u (i32.const 0x1000)) (then (return (i32.const 1))))
          (local.set $left (i64.sub (local.get $left) (i64.const 1)))
          (br $more)))
      (i32.const 0)))
