;; A handler that answers with a text of 512 KiB: as many lines of a log.
(component
  (@custom "skillgate:hook" "0.1")
  (core module $guest
    (memory (export "memory") 2)
    (global $free (mut i32) (i32.const 65536))
    
    (func (export "realloc") (param i32 i32 i32 i32) (result i32) (local $at i32)
      (local.set $at (global.get $free))
      (global.set $free (i32.and (i32.add (i32.add (local.get $at) (local.get 3)) (i32.const 15)) (i32.const -16)))
      (local.get $at))
    (func (export "handle") (param i32 i32 i32 i32) (result i32)
      (drop (memory.grow (i32.const 16)))
      (memory.fill (i32.const 65536) (i32.const 0x78) (i32.const 524288))
      (i32.store8 (i32.const 16) (i32.const 3))
      (i32.store (i32.const 20) (i32.const 65536))
      (i32.store (i32.const 24) (i32.const 524288))
      (i32.const 16)))
  (core instance $guest (instantiate $guest))
  (type $verdict (variant (case "pass") (case "deny" string) (case "ask" string) (case "context" string) (case "rewrite" (list u8))))
  (func $handle (param "event" string) (param "input" (list u8)) (result $verdict)
    (canon lift (core func $guest "handle") (memory (core memory $guest "memory")) (realloc (core func $guest "realloc"))))
  (component $handler
    (type $verdict (variant (case "pass") (case "deny" string) (case "ask" string) (case "context" string) (case "rewrite" (list u8))))
    (import "import-verdict" (type $given (eq $verdict)))
    (import "import-handle" (func $handle (param "event" string) (param "input" (list u8)) (result $given)))
    (export $named "verdict" (type $given))
    (export "handle" (func $handle) (func (param "event" string) (param "input" (list u8)) (result $named))))
  (instance $handler (instantiate $handler
    (with "import-verdict" (type $verdict)) (with "import-handle" (func $handle))))
  (export "skillgate:hook/handler@0.1.0" (instance $handler)))
