;; The control of cases that are about a module's form: nothing but what every engine has.
(module
  (func (export "attack") (result i32) (i32.const 0))
  (func (export "control") (result i32) (i32.const 0)))
