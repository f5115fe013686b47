  ;; Asks for standard output as often as COUNT says and drops nothing.
  (core module $guest
    (import "host" "get-stdout" (func $get-stdout (result i32)))
    (func (export "run") (result i32)
      (local $left i32)
      (local.set $left (i32.const COUNT))
      (loop $more
        (drop (call $get-stdout))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br_if $more (local.get $left)))
      (i32.const 0)))
