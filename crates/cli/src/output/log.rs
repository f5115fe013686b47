use schemars::JsonSchema;
use serde::Serialize;
use skillgate_state::Verdict;
use std::path::Path;

/// What `log verify` found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct LogVerifyOutput {
    /// The log.
    pub(crate) file: String,
    /// Whether every line holds, and what was expected is there.
    pub(crate) holds: bool,
    /// The last line that holds, as `--expect` takes it: its number, a colon and its hash.
    pub(crate) head: Option<String>,
    /// How many lines hold.
    pub(crate) lines: u64,
    /// Lines that were cut by a stop of their writer and are marked as such.
    pub(crate) cut: Vec<CutOutput>,
    /// The first line that does not hold.
    pub(crate) fault: Option<FaultOutput>,
    /// Whether it was said what has to be there; without it, a chain cannot show that its end is missing.
    pub(crate) expected: bool,
}

/// A line that was cut.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct CutOutput {
    /// Its number in the file, from 1.
    pub(crate) line: u64,
    /// How many bytes of it there are.
    pub(crate) bytes: usize,
}

/// A line that does not hold.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FaultOutput {
    /// Its number in the file, from 1.
    pub(crate) line: u64,
    /// What is wrong: `not-a-line`, `edited`, `removed`, `reordered`, `repeated`, `forked`, `unlinked`, `nothing-cut`,
    /// `cut-off`, `not-closed`, `contents`, `unexpected` or `shorter`.
    pub(crate) code: String,
    /// The same in words.
    pub(crate) message: String,
}

impl LogVerifyOutput {
    pub(crate) fn new(file: &Path, verdict: &Verdict, expected: bool) -> Self {
        Self {
            file: file.display().to_string(),
            holds: verdict.fault.is_none(),
            head: verdict.head.map(|head| head.to_string()),
            lines: verdict.head.map_or(0, |head| head.seq),
            cut: verdict.cut.iter().map(|cut| CutOutput { line: cut.line, bytes: cut.bytes }).collect(),
            fault: verdict.fault.as_ref().map(|fault| FaultOutput {
                line: fault.line,
                code: fault.kind.code().to_owned(),
                message: fault.kind.to_string(),
            }),
            expected,
        }
    }
}
