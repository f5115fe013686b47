;; Case 16: an exception.
(module
  (tag $thrown)
  (func (export "attack") (result i32) (throw $thrown)))
