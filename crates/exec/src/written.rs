//! What a program does as far as its text tells, for deciding over a shell that is not ours.

use crate::executor::sketch;
use crate::program::Program;
use skillgate_core::Span;
use skillgate_shell::{Command, Node, RedirectOperator, RedirectTarget, walk};

/// A simple command as it is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenCommand {
    /// Names of the variables that are set for it alone. Variables such as `LD_PRELOAD` change what a command does.
    pub assigned: Vec<String>,
    /// The words as far as they are known; `Err` is the place of one that is known only later. Empty for assignments alone.
    pub words: Vec<Result<String, Span>>,
    /// The command in the program's source.
    pub span: Span,
}

/// A file that a redirection opens.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WrittenFile {
    /// Whether it is opened for writing.
    pub writes: bool,
    /// The path, when it is known.
    pub path: Option<String>,
    /// The redirection in the program's source.
    pub span: Span,
}

/// All that a program's text says it would run and open, wherever it stands.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WrittenProgram {
    /// The simple commands. Calls of the program's own functions are none: the commands of their bodies are.
    pub commands: Vec<WrittenCommand>,
    /// The files of redirections; `/dev/null` and the standard streams are none.
    pub files: Vec<WrittenFile>,
}

impl Program {
    /// What the program would run and open, whoever runs it.
    #[must_use]
    pub fn written(&self) -> WrittenProgram {
        let functions: Vec<&str> = walk(&self.tree)
            .filter_map(|node| match node {
                Node::Command(Command::Function(function)) => Some(function.name.as_str()),
                _ => None,
            })
            .collect();
        let mut written = WrittenProgram::default();
        for node in walk(&self.tree) {
            match node {
                Node::Command(Command::Simple(command)) => {
                    let words: Vec<_> = command.words.iter().flat_map(|word| sketch(word, self)).collect();
                    let is_call = words
                        .first()
                        .is_some_and(|word| matches!(word, Ok(name) if functions.contains(&name.as_str())));
                    if !is_call {
                        let assigned = command.assignments.iter().map(|it| it.name.clone()).collect();
                        written.commands.push(WrittenCommand { assigned, words, span: command.span });
                    }
                }
                Node::Redirect(redirect) => {
                    let RedirectTarget::File(word) = &redirect.target else { continue };
                    let path = sketch(word, self).into_iter().next().and_then(Result::ok);
                    if path.as_deref().is_some_and(is_free) {
                        continue;
                    }
                    let writes = redirect.operator != RedirectOperator::Read;
                    written.files.push(WrittenFile { writes, path, span: redirect.span });
                }
                _ => {}
            }
        }
        written
    }
}

fn is_free(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr")
}

#[cfg(test)]
mod tests {
    use super::*;
    use skillgate_core::Limits;

    #[test]
    fn what_is_written_is_found_wherever_it_stands() {
        let source = "f() { git log; }; f; A=1 ls \"$x\" > out 2>/dev/null < in; echo $(cat y) <<< w > $z";
        let limits: Limits = skillgate_policy::builtin_limits();
        let written = Program::from_text(source, &limits).expect("a program").written();
        let words = |command: &WrittenCommand| -> Vec<String> {
            command.words.iter().map(|word| word.clone().unwrap_or_else(|_| "?".to_owned())).collect()
        };
        let mut commands: Vec<Vec<String>> = written.commands.iter().map(words).collect();
        commands.sort();
        assert_eq!(commands, [vec!["cat", "y"], vec!["echo", "?"], vec!["git", "log"], vec!["ls", "?"]]);
        let with_variable = written.commands.iter().find(|command| !command.assigned.is_empty());
        assert_eq!(with_variable.map(words), Some(vec!["ls".to_owned(), "?".to_owned()]));
        let files: Vec<_> = written.files.iter().map(|file| (file.writes, file.path.as_deref())).collect();
        assert_eq!(files, [(true, Some("out")), (false, Some("in")), (true, None)]);
    }
}
