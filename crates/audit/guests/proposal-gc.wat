;; Case 16: an object of the garbage collector.
(module
  (type $pair (struct (field i32)))
  (func (export "attack") (result i32) (struct.get $pair 0 (struct.new $pair (i32.const 0)))))
