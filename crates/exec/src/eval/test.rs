//! `test`, `[` and `[[`.

use super::{Eval, Flow, Io, Shell};
use cap_std::fs::Metadata;
use skillgate_shell::arithmetic;
use skillgate_shell::{BinaryTest, Conditional, ConditionalKind, UnaryTest};

/// `test` and `[`: the status is left in the shell; 2 for words that are no test.
pub(super) fn run(shell: &mut Shell<'_>, vector: &[String], io: &Io) -> Eval<Flow> {
    let words: Vec<&str> = vector[1..].iter().map(String::as_str).collect();
    let words = match (vector[0].as_str(), words.split_last()) {
        ("[", Some((&"]", words))) => words.to_vec(),
        ("[", _) => {
            shell.complain(io, "[: missing `]`")?;
            shell.status = 2;
            return Ok(Flow::Next);
        }
        _ => words,
    };
    let mut parser = Words { shell, words: &words, at: 0, depth: 0 };
    let result = parser.any().filter(|_| parser.at == words.len());
    shell.status = match result {
        Some(holds) => u8::from(!holds),
        None if words.is_empty() => 1,
        None => {
            shell.complain(io, &format!("test: {}: not a test that can be read", words.join(" ")))?;
            2
        }
    };
    Ok(Flow::Next)
}

/// Nesting of `!` and parentheses that is still read.
const MAX_DEPTH: u32 = 64;

/// Recursive descent over the words: `-o`, `-a`, `!`, parentheses, tests.
struct Words<'s, 'a, 'w> {
    shell: &'s Shell<'a>,
    words: &'w [&'w str],
    at: usize,
    depth: u32,
}

impl Words<'_, '_, '_> {
    fn next_is(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at) == Some(&word);
        self.at += usize::from(found);
        found
    }

    fn any(&mut self) -> Option<bool> {
        let mut holds = self.all()?;
        while self.next_is("-o") {
            holds |= self.all()?;
        }
        Some(holds)
    }

    fn all(&mut self) -> Option<bool> {
        let mut holds = self.one()?;
        while self.next_is("-a") {
            holds &= self.one()?;
        }
        Some(holds)
    }

    fn one(&mut self) -> Option<bool> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let holds = self.one_within();
        self.depth -= 1;
        holds
    }

    fn one_within(&mut self) -> Option<bool> {
        let rest = &self.words[self.at..];
        // How many words there are decides what an operator is, as POSIX has it.
        if let [left, operator, right, ..] = rest
            && let Some(test) = binary(operator)
        {
            self.at += 3;
            return self.shell.compare(test, left, right);
        }
        match rest {
            [word] => {
                self.at += 1;
                Some(!word.is_empty())
            }
            ["!", ..] => {
                self.at += 1;
                self.one().map(|holds| !holds)
            }
            ["(", ..] => {
                self.at += 1;
                let holds = self.any()?;
                self.next_is(")").then_some(holds)
            }
            [operator, operand, ..] => match UnaryTest::of_operator(operator) {
                Some(test) => {
                    self.at += 2;
                    Some(self.shell.holds(test, operand))
                }
                None => {
                    self.at += 1;
                    Some(!operator.is_empty())
                }
            },
            [] => None,
        }
    }
}

/// The operators of `[`: those of `[[` without the regular expression.
fn binary(operator: &str) -> Option<BinaryTest> {
    BinaryTest::of_operator(operator).filter(|test| *test != BinaryTest::Regex)
}

impl Shell<'_> {
    /// The status of a condition: 0 when it holds, 1 when it does not, 2 when it holds a regular expression that is none.
    pub(super) fn conditional(&mut self, conditional: &Conditional, io: &Io) -> Eval<u8> {
        let status = |holds: bool| Ok(u8::from(!holds));
        match &conditional.kind {
            ConditionalKind::Not(inner) => status(self.conditional(inner, io)? != 0),
            ConditionalKind::All(parts) => {
                for part in parts {
                    let part = self.conditional(part, io)?;
                    if part != 0 {
                        return Ok(part);
                    }
                }
                Ok(0)
            }
            ConditionalKind::Any(parts) => {
                let mut last = 1;
                for part in parts {
                    last = self.conditional(part, io)?;
                    if last == 0 {
                        break;
                    }
                }
                Ok(last)
            }
            ConditionalKind::Unary { test, operand } => {
                let operand = self.text(operand, io)?;
                status(self.holds(*test, &operand))
            }
            ConditionalKind::Binary { test, left, right } => {
                let left = self.text(left, io)?;
                match test {
                    BinaryTest::Matches => status(self.matches(right, &left, io)?),
                    BinaryTest::DoesNotMatch => status(!self.matches(right, &left, io)?),
                    BinaryTest::Regex => {
                        let right = self.pieces(right, io)?;
                        // bash says 2 for an expression that it cannot read.
                        self.matches_regex(&right, &left, io)?.map_or(Ok(2), status)
                    }
                    test => {
                        let right = self.text(right, io)?;
                        match test.on_numbers() {
                            Some(holds) => {
                                let (left, right) = (self.number(&left, io)?, self.number(&right, io)?);
                                status(left.zip(right).is_some_and(|(left, right)| holds(&left, &right)))
                            }
                            None => status(self.compare(*test, &left, &right).unwrap_or(false)),
                        }
                    }
                }
            }
        }
    }

    /// A side of a number test of `[[`, which is arithmetic; `None` when it is none, which has been said.
    fn number(&mut self, text: &str, io: &Io) -> Eval<Option<i64>> {
        match arithmetic::parse(text, self.shared.run.limits().depth as usize) {
            _ if text.trim().is_empty() => Ok(Some(0)),
            Ok(expr) => self.arithmetic_or_complaint(&expr, io),
            Err(error) => {
                self.complain(io, &format!("[[: {text}: {error}"))?;
                Ok(None)
            }
        }
    }

    fn metadata(&self, path: &str, follow: bool) -> Option<Metadata> {
        if path.is_empty() || !self.parents_are_there(path) {
            return None;
        }
        // What a slash at the end names is a directory, or what a link to one leads to.
        let directory = path.ends_with('/');
        let located = self.shared.scene.mounts.locate(&self.absolute(path))?;
        let metadata = located.metadata(self.shared.gate.paths(), follow || directory).ok()?;
        (metadata.is_dir() || !directory).then_some(metadata)
    }

    fn holds(&self, test: UnaryTest, operand: &str) -> bool {
        let is = |check: &dyn Fn(&Metadata) -> bool| self.metadata(operand, true).is_some_and(|m| check(&m));
        match test {
            UnaryTest::Empty => operand.is_empty(),
            UnaryTest::NotEmpty => !operand.is_empty(),
            UnaryTest::VariableSet => self.variables.contains_key(operand),
            // No stream of a sandboxed program is a terminal, and nothing in a mount is a device that can be opened.
            UnaryTest::Terminal | UnaryTest::BlockDevice | UnaryTest::Socket | UnaryTest::Fifo => false,
            UnaryTest::CharacterDevice => operand == "/dev/null",
            UnaryTest::Exists => operand == "/dev/null" || is(&|_| true),
            UnaryTest::RegularFile => is(&Metadata::is_file),
            UnaryTest::Directory => is(&Metadata::is_dir),
            UnaryTest::SymbolicLink => self.metadata(operand, false).is_some_and(|m| m.is_symlink()),
            UnaryTest::SizeAboveZero => is(&|m| m.len() > 0),
            UnaryTest::Readable => operand == "/dev/null" || is(&|_| true),
            UnaryTest::Writable => operand == "/dev/null",
            UnaryTest::Executable => is(&executable),
        }
    }

    /// `None` when a number test has a side that is no number.
    fn compare(&self, test: BinaryTest, left: &str, right: &str) -> Option<bool> {
        if let Some(holds) = test.on_numbers() {
            return Some(holds(&left.trim().parse().ok()?, &right.trim().parse().ok()?));
        }
        let times = || {
            let modified = |path| self.metadata(path, true).and_then(|m| m.modified().ok());
            (modified(left), modified(right))
        };
        Some(match test {
            BinaryTest::Matches => left == right,
            BinaryTest::DoesNotMatch => left != right,
            BinaryTest::Before => left < right,
            BinaryTest::After => left > right,
            BinaryTest::Newer => matches!(times(), (Some(l), Some(r)) if l > r) || matches!(times(), (Some(_), None)),
            BinaryTest::Older => matches!(times(), (Some(l), Some(r)) if l < r) || matches!(times(), (None, Some(_))),
            BinaryTest::SameFile => {
                let same = |l: &Metadata, r: &Metadata| identity(l).is_some() && identity(l) == identity(r);
                self.metadata(left, true).zip(self.metadata(right, true)).is_some_and(|(l, r)| same(&l, &r))
            }
            // `[` has no `=~`, and `[[` does not come here with it.
            _ => return None,
        })
    }
}

#[cfg(unix)]
fn executable(metadata: &Metadata) -> bool {
    use cap_std::fs::PermissionsExt as _;
    metadata.is_dir() || metadata.permissions().mode() & 0o111 != 0
}

#[cfg(not(unix))]
fn executable(_: &Metadata) -> bool {
    true
}

#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use cap_std::fs::MetadataExt as _;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}
