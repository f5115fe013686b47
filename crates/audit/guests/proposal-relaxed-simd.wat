;; Case 16: an instruction whose result depends on the processor.
(module
  (func (export "attack") (result i32)
    (i32x4.extract_lane 0 (i32x4.relaxed_trunc_f32x4_s (v128.const i32x4 0 0 0 0)))))
