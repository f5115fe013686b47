use skillgate_core::{Hole, HoleValue, Injection, InjectionForm, Limits, Span};
use skillgate_shell::braces::{self, BraceError, BraceLimits};
use skillgate_shell::{
    Command, CompoundKind, HoleKind, Node, ParseOptions, RedirectOperator, RedirectTarget, SingleQuoteRule,
    SyntaxError, SyntaxErrorKind, parse, walk,
};

/// Why a shell program cannot be run, before anything ran.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct ProgramError {
    /// What is wrong.
    pub reason: String,
    /// Where in the program's source.
    pub span: Span,
    /// Whether an argument of the invocation stands where it could become syntax.
    pub unsafe_argument: bool,
}

impl ProgramError {
    /// A reason with its place.
    #[must_use]
    pub fn new(reason: impl Into<String>, span: Span) -> Self {
        Self { reason: reason.into(), span, unsafe_argument: false }
    }
}

impl From<SyntaxError> for ProgramError {
    fn from(error: SyntaxError) -> Self {
        let unsafe_argument = matches!(error.kind, SyntaxErrorKind::UnsafeHole { .. });
        Self { reason: error.to_string(), span: error.span, unsafe_argument }
    }
}

/// A parsed shell program with the values of its placeholders, ready to be planned and run.
#[derive(Clone, Debug)]
pub struct Program {
    source: String,
    pub(crate) tree: skillgate_shell::Program,
    pub(crate) holes: Vec<Hole>,
}

impl Program {
    /// Parses an injection. Nothing runs.
    ///
    /// # Errors
    /// [`ProgramError`]: a syntax error, a construct the capability shell does not have, or an argument where it could become
    /// syntax; always with its place.
    pub fn of_injection(injection: &Injection, limits: &Limits) -> Result<Self, ProgramError> {
        let holes: Vec<skillgate_shell::Hole> = injection
            .holes
            .iter()
            .map(|hole| skillgate_shell::Hole {
                span: hole.span,
                kind: match hole.value {
                    HoleValue::Words { .. } => HoleKind::Words,
                    HoleValue::Word(_) | HoleValue::Missing => HoleKind::Word,
                },
                in_single_quotes: if hole.literal_in_single_quotes {
                    SingleQuoteRule::Literal
                } else {
                    SingleQuoteRule::Substitute
                },
            })
            .collect();
        let bytes = usize::try_from(limits.source_bytes).unwrap_or(usize::MAX);
        let options = ParseOptions::new(bytes, limits.depth as usize);
        let tree = parse(&injection.source, &holes, &options)?;
        check_supported(&tree, &injection.source)?;
        check_braces(&tree, limits)?;
        Ok(Self { source: injection.source.clone(), tree, holes: injection.holes.clone() })
    }

    /// Parses a program without placeholders.
    ///
    /// # Errors
    /// As [`Program::of_injection`].
    pub fn from_text(source: &str, limits: &Limits) -> Result<Self, ProgramError> {
        let injection = Injection {
            source: source.to_owned(),
            span: Span::new(0, source.len()),
            source_start: 0,
            form: InjectionForm::Block,
            holes: Vec::new(),
        };
        Self::of_injection(&injection, limits)
    }

    /// The program's text as the author wrote it.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }
}

/// Commands of a shell that this one does not have, sorted.
const NOT_BUILT_IN: &[&str] = &[
    "alias",
    "bg",
    "builtin",
    "declare",
    "enable",
    "exec",
    "fg",
    "getopts",
    "hash",
    "jobs",
    "let",
    "mapfile",
    "readarray",
    "readonly",
    "shopt",
    "times",
    "trap",
    "typeset",
    "ulimit",
    "umask",
    "wait",
];

/// The highest descriptor that a redirection may name.
const MAX_DESCRIPTOR: u32 = 9;

/// The first option of a built-in that it does not have, as far as the text tells it.
fn unknown_option(name: &str, arguments: &[skillgate_shell::Word]) -> Option<Span> {
    let known: &[&str] = match name {
        "read" => &["-r", "--"],
        "local" => &["--"],
        // Of its own options only this one would set a variable; the rest is its component's business.
        "printf" => {
            return arguments.first().filter(|word| word.as_literal().as_deref() == Some("-v")).map(|word| word.span);
        }
        _ => return None,
    };
    for word in arguments {
        let text = word.as_literal()?;
        if text == "--" || !text.starts_with('-') {
            return None;
        }
        if !known.contains(&text.as_str()) {
            return Some(word.span);
        }
    }
    None
}

/// Refuses what the evaluator does not do, with its place, so that a program is never run in part.
fn check_supported(tree: &skillgate_shell::Program, source: &str) -> Result<(), ProgramError> {
    let refuse = |what: &str, span: Span| {
        let text: String = span.slice(source).unwrap_or_default().chars().take(40).collect();
        Err(ProgramError {
            reason: format!("{what} is not supported (`{text}`); nothing of the program ran"),
            span,
            unsafe_argument: false,
        })
    };
    for node in walk(tree) {
        match node {
            Node::List(list) => {
                if let Some(span) = list.items.iter().find_map(|item| item.background) {
                    return refuse("running a command in the background", span);
                }
            }
            Node::Command(Command::Simple(command)) => {
                let name = command.words.first().and_then(skillgate_shell::Word::as_literal);
                if name.as_deref().is_some_and(|name| NOT_BUILT_IN.binary_search(&name).is_ok()) {
                    return refuse("this command of the shell", command.span);
                }
                if let Some(option) = name.and_then(|name| unknown_option(&name, &command.words[1..])) {
                    return refuse("this option", option);
                }
            }
            Node::Redirect(redirect) => {
                let from = match redirect.target {
                    RedirectTarget::Descriptor(fd) => Some(fd),
                    _ => None,
                };
                if redirect.fd.max(from).is_some_and(|fd| fd > MAX_DESCRIPTOR) {
                    return refuse("a file descriptor above 9", redirect.span);
                }
                let reads = matches!(
                    redirect.operator,
                    RedirectOperator::Read
                        | RedirectOperator::HereDocument
                        | RedirectOperator::HereString
                        | RedirectOperator::DuplicateInput
                );
                if reads && redirect.fd.is_some_and(|fd| fd != 0) {
                    return refuse("reading from another descriptor than 0", redirect.span);
                }
                if redirect.operator == RedirectOperator::ReadWrite {
                    return refuse("opening a file for reading and writing", redirect.span);
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Refuses braces that a shell reads otherwise. Whether they give too many words is known when they are expanded.
fn check_braces(tree: &skillgate_shell::Program, limits: &Limits) -> Result<(), ProgramError> {
    let most = |limit: u64| usize::try_from(limit).unwrap_or(usize::MAX);
    let limits = BraceLimits { max_words: most(limits.glob_results), max_bytes: most(limits.output_bytes) };
    for node in walk(tree) {
        let words = match node {
            Node::Command(Command::Simple(command)) => &command.words,
            Node::Command(Command::Compound(compound)) => match &compound.kind {
                CompoundKind::For { words: Some(words), .. } => words,
                _ => continue,
            },
            _ => continue,
        };
        for word in words {
            match braces::expand(word, &limits) {
                Ok(_) | Err(BraceError::TooMany { .. }) => {}
                Err(error) => return Err(ProgramError::new(error.to_string(), word.span)),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::limits;

    #[test]
    fn what_the_shell_does_not_do_is_refused_with_its_place() {
        for (source, at) in [
            ("ls & echo x", 3),
            ("echo a; trap ls", 8),
            ("ls 10>&1", 3),
            ("ls 1>&10", 3),
            ("ls 3<x", 3),
            ("echo a; read -p x y", 13),
            ("printf -v x y", 7),
            ("f() { local -i x; }", 12),
            ("args {a,$x}y", 5),
            ("args {a},b}", 5),
            ("ls <>x", 3),
            ("ls 2<x", 3),
            ("diff <(ls) x", 5),
        ] {
            let error = Program::from_text(source, &limits()).expect_err(source);
            assert_eq!(error.span.start, at, "{source}: {error}");
        }
    }

    #[test]
    fn the_table_is_sorted_for_the_binary_search() {
        assert!(NOT_BUILT_IN.is_sorted());
    }

    #[test]
    fn what_it_does_is_taken() {
        for source in [
            "git log | head -5 || echo none",
            "if [ -f x ]; then cat x; else echo no; fi",
            "for f in *.md; do wc -l \"$f\"; done 2>/dev/null",
            "x=$(ls | wc -l); echo $((x + 1))",
            "cat <<E\nhi\nE",
            "[[ -f x && $y == a* ]] && echo ok",
        ] {
            assert!(Program::from_text(source, &limits()).is_ok(), "{source}");
        }
    }
}
