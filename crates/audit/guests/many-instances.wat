;; Case 5: four modules with a memory of 100 MiB each, as a component can have them without any proposal.
(component
  (core module $m (memory 1600))
  (core module $entry (func (export "run") (result i32) (i32.const 0)))
  (core instance (instantiate $m)) (core instance (instantiate $m))
  (core instance (instantiate $m)) (core instance (instantiate $m))
  (core instance $guest (instantiate $entry))
  (func $run (result (result)) (canon lift (core func $guest "run")))
  (instance $exported (export "run" (func $run)))
  (export "wasi:cli/run@0.2.6" (instance $exported)))
