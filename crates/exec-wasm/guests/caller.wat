  ;; Makes the calls that standard input lists and writes what they gave.
  ;;
  ;; Input: records of 44 bytes, little-endian: the operation, then ten arguments. An argument from 0xf0000000 on, up to
  ;; 0xf00003ff, is the value that the call of that number gave (0: the root directory, 1: standard output, 2: standard input, 3 and on: the records).
  ;; A record of operation 0 ends the list; what follows it is text whose addresses, from 0x10000 on, the arguments may use.
  ;; Output: for each record eight bytes, whether it failed, and its value or the number of its error.
  (core module $guest
    (import "libc" "memory" (memory 32))
    (import "host" "block" (func $block (param i32)))
    (import "host" "ready" (func $ready (param i32) (result i32)))
    (import "host" "poll" (func $poll (param i32 i32 i32)))
    (import "host" "read-stream" (func $read-stream (param i32 i64 i32)))
    (import "host" "blocking-read" (func $blocking-read (param i32 i64 i32)))
    (import "host" "subscribe-input" (func $subscribe-input (param i32) (result i32)))
    (import "host" "check-write" (func $check-write (param i32 i32)))
    (import "host" "write-stream" (func $write-stream (param i32 i32 i32 i32)))
    (import "host" "blocking-write" (func $blocking-write (param i32 i32 i32 i32)))
    (import "host" "write-zeroes" (func $write-zeroes (param i32 i64 i32)))
    (import "host" "splice" (func $splice (param i32 i32 i64 i32)))
    (import "host" "subscribe-output" (func $subscribe-output (param i32) (result i32)))
    (import "host" "get-stdin" (func $get-stdin (result i32)))
    (import "host" "get-stdout" (func $get-stdout (result i32)))
    (import "host" "get-stderr" (func $get-stderr (result i32)))
    (import "host" "subscribe-duration" (func $subscribe-duration (param i64) (result i32)))
    (import "host" "random-bytes" (func $random-bytes (param i64 i32)))
    (import "host" "read-via-stream" (func $read-via-stream (param i32 i64 i32)))
    (import "host" "write-via-stream" (func $write-via-stream (param i32 i64 i32)))
    (import "host" "append-via-stream" (func $append-via-stream (param i32 i32)))
    (import "host" "set-size" (func $set-size (param i32 i64 i32)))
    (import "host" "set-times" (func $set-times (param i32 i32 i64 i32 i32 i64 i32 i32)))
    (import "host" "read" (func $read (param i32 i64 i64 i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i64 i32)))
    (import "host" "read-directory" (func $read-directory (param i32 i32)))
    (import "host" "create-directory" (func $create-directory (param i32 i32 i32 i32)))
    (import "host" "stat" (func $stat (param i32 i32 i32 i32 i32)))
    (import "host" "set-times-at" (func $set-times-at (param i32 i32 i32 i32 i32 i64 i32 i32 i64 i32 i32)))
    (import "host" "link" (func $link (param i32 i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "open" (func $open (param i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "readlink" (func $readlink (param i32 i32 i32 i32)))
    (import "host" "remove-directory" (func $remove-directory (param i32 i32 i32 i32)))
    (import "host" "rename" (func $rename (param i32 i32 i32 i32 i32 i32 i32)))
    (import "host" "symlink" (func $symlink (param i32 i32 i32 i32 i32 i32)))
    (import "host" "unlink" (func $unlink (param i32 i32 i32 i32)))
    (import "host" "read-entry" (func $read-entry (param i32 i32)))
    (import "host" "get-directories" (func $get-directories (param i32)))
    (import "host" "drop-descriptor" (func $drop-descriptor (param i32)))
    (import "host" "drop-input" (func $drop-input (param i32)))
    (import "host" "drop-output" (func $drop-output (param i32)))
    (import "host" "drop-entries" (func $drop-entries (param i32)))
    (import "host" "drop-pollable" (func $drop-pollable (param i32)))

    ;; 0x1000: the result of a call. 0x2000: the values of all calls, eight bytes each. 0x10000: the input.
    (global $record (mut i32) (i32.const 0x10000))
    (global $calls (mut i32) (i32.const 3))
    (global $result i32 (i32.const 0x1000))

    ;; An argument of the current record.
    (func $a (param $index i32) (result i32)
      (local $value i32)
      (local.set $value
        (i32.load offset=4 (i32.add (global.get $record) (i32.shl (local.get $index) (i32.const 2)))))
      (if (i32.eq (i32.and (local.get $value) (i32.const 0xfffffc00)) (i32.const 0xf0000000))
        (then
          (local.set $value (i32.and (local.get $value) (i32.const 0x3ff)))
          (local.set $value
            (i32.load offset=0x2004 (i32.shl (local.get $value) (i32.const 3))))))
      (local.get $value))
    ;; The same as a number of 64 bits; the greatest stays the greatest.
    (func $l (param $index i32) (result i64)
      (i64.extend_i32_s (call $a (local.get $index))))
    (func $keep (param $call i32) (param $failed i32) (param $value i32)
      (i32.store offset=0x2000 (i32.shl (local.get $call) (i32.const 3)) (local.get $failed))
      (i32.store offset=0x2004 (i32.shl (local.get $call) (i32.const 3)) (local.get $value)))

    (func (export "run") (result i32)
      (local $op i32) (local $at i32) (local $value i32)
      (local $in i32)
      ;; The registers.
      (call $get-directories (global.get $result))
      (call $keep (i32.const 0) (i32.const 0) (i32.load (i32.load (global.get $result))))
      (call $keep (i32.const 1) (i32.const 0) (call $get-stdout))
      (local.set $in (call $get-stdin))
      (call $keep (i32.const 2) (i32.const 0) (local.get $in))
      ;; The input, to its end or to 0xf0000 bytes.
      (local.set $at (i32.const 0x10000))
      (block $end
        (loop $more
          (call $blocking-read (local.get $in) (i64.const 16384) (global.get $result))
          (br_if $end (i32.load8_u (global.get $result)))
          (br_if $end
            (i32.gt_u
              (i32.add (local.get $at) (i32.load offset=8 (global.get $result)))
              (i32.const 0x100000)))
          (memory.copy
            (local.get $at)
            (i32.load offset=4 (global.get $result))
            (i32.load offset=8 (global.get $result)))
          (local.set $at (i32.add (local.get $at) (i32.load offset=8 (global.get $result))))
          (br $more)))
      (block $done
        (loop $next
          (br_if $done (i32.ge_u (global.get $calls) (i32.const 0x400)))
          (local.set $op (i32.load (global.get $record)))
          (br_if $done (i32.eqz (local.get $op)))
          (memory.fill (global.get $result) (i32.const 0) (i32.const 128))
          (local.set $value (i32.const -1))
          (block $made
            (if (i32.eq (local.get $op) (i32.const 1)) (then
              (call $open (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (call $a (i32.const 3)) (call $a (i32.const 4)) (call $a (i32.const 5)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 2)) (then
              (call $stat (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (call $a (i32.const 3)) (global.get $result))
              ;; Its payload is larger than the others' and stands at eight.
              (local.set $value (i32.load8_u offset=8 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 3)) (then
              (call $create-directory (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 4)) (then
              (call $remove-directory (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 5)) (then
              (call $unlink (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 6)) (then
              (call $rename (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (call $a (i32.const 3)) (call $a (i32.const 4)) (call $a (i32.const 5)) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 7)) (then
              (call $link (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (call $a (i32.const 3)) (call $a (i32.const 4)) (call $a (i32.const 5)) (call $a (i32.const 6)) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 8)) (then
              (call $symlink (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (call $a (i32.const 3)) (call $a (i32.const 4)) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 9)) (then
              (call $set-times-at (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (call $a (i32.const 3)) (call $a (i32.const 4)) (call $l (i32.const 5)) (i32.const 0) (call $a (i32.const 4)) (call $l (i32.const 5)) (i32.const 0) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 10)) (then
              (call $readlink (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 11)) (then
              (call $read-directory (call $a (i32.const 0)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 12)) (then
              (call $read-entry (call $a (i32.const 0)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 13)) (then
              (call $read (call $a (i32.const 0)) (call $l (i32.const 1)) (call $l (i32.const 2)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 14)) (then
              (call $write (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (call $l (i32.const 3)) (global.get $result))
              (local.set $value (i32.load8_u offset=8 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 15)) (then
              (call $set-size (call $a (i32.const 0)) (call $l (i32.const 1)) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 16)) (then
              (call $set-times (call $a (i32.const 0)) (call $a (i32.const 1)) (call $l (i32.const 2)) (i32.const 0) (call $a (i32.const 1)) (call $l (i32.const 2)) (i32.const 0) (global.get $result))
              (local.set $value (i32.load8_u offset=1 (global.get $result))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 17)) (then
              (call $read-via-stream (call $a (i32.const 0)) (call $l (i32.const 1)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 18)) (then
              (call $write-via-stream (call $a (i32.const 0)) (call $l (i32.const 1)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 19)) (then
              (call $append-via-stream (call $a (i32.const 0)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 20)) (then
              (call $read-stream (call $a (i32.const 0)) (call $l (i32.const 1)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 21)) (then
              (call $blocking-read (call $a (i32.const 0)) (call $l (i32.const 1)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 22)) (then
              (call $write-stream (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 23)) (then
              (call $blocking-write (call $a (i32.const 0)) (call $a (i32.const 1)) (call $a (i32.const 2)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 24)) (then
              (call $write-zeroes (call $a (i32.const 0)) (call $l (i32.const 1)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 25)) (then
              (call $splice (call $a (i32.const 0)) (call $a (i32.const 1)) (call $l (i32.const 2)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 26)) (then
              (call $check-write (call $a (i32.const 0)) (global.get $result)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 27)) (then
              (local.set $value (call $subscribe-input (call $a (i32.const 0)))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 28)) (then
              (local.set $value (call $subscribe-output (call $a (i32.const 0)))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 29)) (then
              (local.set $value (call $subscribe-duration (call $l (i32.const 0)))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 30)) (then (call $block (call $a (i32.const 0))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 31)) (then
              (local.set $value (call $ready (call $a (i32.const 0)))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 32)) (then
              (call $poll (call $a (i32.const 0)) (call $a (i32.const 1)) (global.get $result))
              (local.set $value (i32.load offset=4 (global.get $result)))
              (i32.store8 (global.get $result) (i32.const 0)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 33)) (then
              (call $random-bytes (call $l (i32.const 0)) (global.get $result))
              (i32.store8 (global.get $result) (i32.const 0)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 34)) (then (local.set $value (call $get-stdin)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 35)) (then (local.set $value (call $get-stderr)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 36)) (then
              (call $get-directories (global.get $result))
              (local.set $value (i32.load (i32.load (global.get $result))))
              (i32.store8 (global.get $result) (i32.const 0)) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 37)) (then (call $drop-descriptor (call $a (i32.const 0))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 38)) (then (call $drop-input (call $a (i32.const 0))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 39)) (then (call $drop-output (call $a (i32.const 0))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 40)) (then (call $drop-entries (call $a (i32.const 0))) (br $made)))
            (if (i32.eq (local.get $op) (i32.const 41)) (then (call $drop-pollable (call $a (i32.const 0))) (br $made))))
          (if (i32.eq (local.get $value) (i32.const -1))
            (then (local.set $value (i32.load offset=4 (global.get $result)))))
          (call $keep (global.get $calls) (i32.load8_u (global.get $result)) (local.get $value))
          (global.set $calls (i32.add (global.get $calls) (i32.const 1)))
          (global.set $record (i32.add (global.get $record) (i32.const 44)))
          (br $next)))
      (call $blocking-write
        (i32.load offset=0x200c (i32.const 0))
        (i32.const 0x2018)
        (i32.shl (i32.sub (global.get $calls) (i32.const 3)) (i32.const 3))
        (global.get $result))
      (i32.const 0))
  )
