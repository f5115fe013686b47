//! A handler that wants to permit something.

use hook_guest::{Handler, Verdict};

struct Guard;

impl Handler for Guard {
    fn handle(_event: String, _input: Vec<u8>) -> Verdict {
        Verdict::Allow
    }
}

hook_guest::handler!(Guard);

fn main() {}
