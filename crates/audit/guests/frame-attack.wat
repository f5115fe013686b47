;; A command component around a core module; its `run` is the module's `attack`. The module stands first, so that another one can
;; take its place.
(component
  (core module $module (func (export "attack") (result i32) (i32.const 0)))
  (core instance $guest (instantiate $module))
  (func $run (result (result)) (canon lift (core func $guest "attack")))
  (instance $exported (export "run" (func $run)))
  (export "wasi:cli/run@0.2.6" (instance $exported)))
