;; Case 16: a call through a typed reference.
(module
  (type $zero (func (result i32)))
  (func $f (type $zero) (i32.const 0))
  (elem declare func $f)
  (func (export "attack") (result i32) (call_ref $zero (ref.func $f))))
