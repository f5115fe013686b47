//! Which files a use of a tool of the host touches, as far as its input says.

use super::decide::ToolCall;
use crate::Session;
use serde_json::Value;
use skillgate_exec::Program;

/// Paths that one call gives; a program can name any number.
const MAX_PATHS: usize = 256;

impl Session {
    /// The files that a use of a tool names, for [`Session::touch`]: those of the tools for files and searches, and for `Bash` the
    /// files of redirections and every word of a command that may be one. A word that is no file activates nothing that the file
    /// of its name would not.
    ///
    /// What a tool touches without naming it, such as what a search found, only the host knows.
    #[must_use]
    pub fn touched_by(&self, call: &ToolCall) -> Vec<String> {
        let text = |name: &str| call.input.get(name).and_then(Value::as_str).map(str::to_owned);
        let mut paths = match call.tool.as_str() {
            "Bash" => text("command").map(|source| self.named_in(&source)).unwrap_or_default(),
            _ => ["file_path", "notebook_path", "path"].into_iter().filter_map(text).collect(),
        };
        paths.truncate(MAX_PATHS);
        paths
    }

    /// What a program names. One that cannot be taken apart names nothing that could be relied on.
    fn named_in(&self, source: &str) -> Vec<String> {
        let Ok(program) = Program::from_text(source, &self.runtime.limits) else { return Vec::new() };
        let written = program.written();
        let files = written.files.iter().filter_map(|file| file.path.clone());
        let words = written.commands.iter().flat_map(|command| command.words.iter().skip(1));
        let named = words.filter_map(|word| word.as_deref().ok()).filter_map(file_in);
        files.chain(named.map(str::to_owned)).collect()
    }
}

/// The part of a word that may name a file: of an option its value.
fn file_in(word: &str) -> Option<&str> {
    let path = match word.strip_prefix('-') {
        Some(option) => option.split_once('=')?.1,
        None => word,
    };
    let is_path = !path.is_empty() && !path.contains("://") && !path.contains(char::is_control);
    is_path.then_some(path)
}
