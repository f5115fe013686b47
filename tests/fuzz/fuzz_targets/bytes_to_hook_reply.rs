#![no_main]
#![expect(clippy::disallowed_methods, reason = "the macro of libfuzzer-sys writes a file when it is told to")]

libfuzzer_sys::fuzz_target!(|data: &[u8]| skillgate_fuzz::bytes_to_hook_reply(data));
