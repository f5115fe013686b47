//! The control: the same handler with a verdict that there is.

use hook_guest::{Handler, Verdict};

struct Guard;

impl Handler for Guard {
    fn handle(_event: String, _input: Vec<u8>) -> Verdict {
        Verdict::Deny("no".into())
    }
}

hook_guest::handler!(Guard);

fn main() {}
