//! What must hold for every input of a parser: the bodies of the fuzz targets.
//!
//! Each target is a function of bytes whose assertions are the invariants. Two callers share it: the fuzzer's binary in
//! `tests/fuzz`, which is a workspace of its own and reaches this module by its path, and the test that replays the committed
//! corpus. A new target is a module here, a line in [`TARGETS`], a `[[bin]]` in `tests/fuzz`, and a directory in its corpus.

mod archive_to_files;
mod bytes_to_document;
mod bytes_to_hook_reply;
mod document_round_trip;
mod policy_file;
mod program_to_tree;
mod text_to_plan;
mod tool_patterns;
mod tree_to_evaluation;

pub use archive_to_files::archive_to_files;
pub use bytes_to_document::bytes_to_document;
pub use bytes_to_hook_reply::bytes_to_hook_reply;
pub use document_round_trip::document_round_trip;
pub use policy_file::policy_file;
pub use program_to_tree::program_to_tree;
pub use text_to_plan::text_to_plan;
pub use tool_patterns::tool_patterns;
pub use tree_to_evaluation::tree_to_evaluation;

/// A fuzz target.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The target's name: of its function, its binary and its corpus directory.
    pub name: &'static str,
    /// Checks one input and panics where an invariant does not hold.
    pub run: fn(&[u8]),
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target { name: "archive_to_files", run: archive_to_files },
    Target { name: "bytes_to_document", run: bytes_to_document },
    Target { name: "bytes_to_hook_reply", run: bytes_to_hook_reply },
    Target { name: "document_round_trip", run: document_round_trip },
    Target { name: "policy_file", run: policy_file },
    Target { name: "program_to_tree", run: program_to_tree },
    Target { name: "text_to_plan", run: text_to_plan },
    Target { name: "tool_patterns", run: tool_patterns },
    Target { name: "tree_to_evaluation", run: tree_to_evaluation },
];
