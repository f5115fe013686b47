//! The placeholders of a text: arguments, positions, declared names and variables.

use skillgate_core::Profile;
use std::collections::HashMap;

/// Characters an argument's name may have.
const MAX_NAME: usize = 100;

/// A value that the host knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Variable {
    /// `${CLAUDE_SKILL_DIR}`: the skill's own directory.
    SkillDir,
    /// `${CLAUDE_SESSION_ID}`
    SessionId,
    /// `${CLAUDE_PROJECT_DIR}`
    ProjectDir,
    /// `${CLAUDE_EFFORT}`
    Effort,
    /// `${CLAUDE_PLUGIN_ROOT}`, for skills of plugins.
    PluginRoot,
    /// `${CLAUDE_PLUGIN_DATA}`, for skills of plugins.
    PluginData,
}

impl Variable {
    /// The variable of a name without `${` and `}`; every name is known with `CLAUDE_` and with `SKILLGATE_` before it.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let rest = name.strip_prefix("CLAUDE_").or_else(|| name.strip_prefix("SKILLGATE_"))?;
        Some(match rest {
            "SKILL_DIR" => Variable::SkillDir,
            "SESSION_ID" => Variable::SessionId,
            "PROJECT_DIR" => Variable::ProjectDir,
            "EFFORT" => Variable::Effort,
            "PLUGIN_ROOT" => Variable::PluginRoot,
            "PLUGIN_DATA" => Variable::PluginData,
            _ => return None,
        })
    }
}

/// What a placeholder stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum PlaceholderKind {
    /// `$ARGUMENTS`: the arguments as typed.
    Arguments,
    /// `$ARGUMENTS[N]`: one word, by number as written.
    Indexed(usize),
    /// `$N` or `${N}`: one word, by number as written.
    Position(usize),
    /// `$name` or `${name}`: the word at the position (from 0) of a name that the header declares.
    Name(usize),
    /// `${CLAUDE_…}`
    Variable(Variable),
}

/// Why a text cannot be an argument's name.
pub(crate) fn argument_name_problem(name: &str) -> Option<&'static str> {
    if name.is_empty() {
        Some("it is empty")
    } else if name.bytes().all(|byte| byte.is_ascii_digit()) {
        Some("a number is a position")
    } else if name == "ARGUMENTS" {
        Some("`ARGUMENTS` stands for all of them")
    } else if name.len() > MAX_NAME {
        Some("it is too long")
    } else if name.chars().any(ends_name) {
        Some("it holds a character that ends a name")
    } else {
        None
    }
}

/// Whether no name can hold the character.
fn ends_name(c: char) -> bool {
    c.is_whitespace() || c.is_control() || matches!(c, '$' | '{' | '}' | '`' | '\\')
}

/// What counts as a placeholder in a text.
#[derive(Debug)]
pub(crate) struct Grammar {
    names: HashMap<String, usize>,
    longest: usize,
    /// Whether positions and names may stand in braces.
    braces: bool,
    /// Whether `$5.00` is money.
    money: bool,
}

/// A placeholder that was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub(crate) kind: PlaceholderKind,
    /// Bytes of it, the dollar sign included.
    pub(crate) length: usize,
}

impl Grammar {
    /// The placeholders of a profile, with the names that the header declares; names that cannot be used are left out.
    pub(crate) fn new(profile: Profile, names: &[String]) -> Self {
        let mut known = HashMap::new();
        for (index, name) in names.iter().enumerate() {
            if argument_name_problem(name).is_none() {
                known.entry(name.clone()).or_insert(index);
            }
        }
        let longest = known.keys().map(String::len).max().unwrap_or(0);
        let safe = profile != Profile::Claude;
        Self { names: known, longest, braces: safe, money: safe }
    }

    /// The placeholder that begins at the dollar sign at the start of `text`. Money is an ordinary text, except where
    /// `command` says that this is a program.
    pub(crate) fn read(&self, text: &str, command: bool) -> Option<Token> {
        let rest = text.strip_prefix('$')?;
        if let Some(inner) = rest.strip_prefix('{') {
            // The longest thing in braces is a name.
            let end = inner.bytes().take(self.longest.max(32) + 1).position(|byte| byte == b'}')?;
            let kind = self.braced(&inner[..end])?;
            return Some(Token { kind, length: end + 3 });
        }
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits > 0 {
            let after = &rest[digits..];
            let money = !command && self.money && is_money(after);
            let index = number(&rest[..digits]).filter(|_| ends_token(after) && !money);
            if let Some(index) = index {
                return Some(Token { kind: PlaceholderKind::Position(index), length: digits + 1 });
            }
        }
        if let Some(after) = rest.strip_prefix("ARGUMENTS") {
            if let Some(inner) = after.strip_prefix('[')
                && let Some(end) = inner.bytes().take(24).position(|byte| byte == b']')
                && let Some(index) = number(&inner[..end])
            {
                return Some(Token { kind: PlaceholderKind::Indexed(index), length: "$ARGUMENTS[]".len() + end });
            }
            if ends_token(after) {
                return Some(Token { kind: PlaceholderKind::Arguments, length: "$ARGUMENTS".len() });
            }
        }
        self.name(rest)
    }

    fn braced(&self, inner: &str) -> Option<PlaceholderKind> {
        if let Some(variable) = Variable::from_name(inner) {
            return Some(PlaceholderKind::Variable(variable));
        }
        if !self.braces {
            return None;
        }
        match self.names.get(inner) {
            Some(index) => Some(PlaceholderKind::Name(*index)),
            None => number(inner).map(PlaceholderKind::Position),
        }
    }

    /// The longest declared name that ends where a token can end.
    fn name(&self, rest: &str) -> Option<Token> {
        if self.names.is_empty() {
            return None;
        }
        let mut best = None;
        for (at, c) in rest.char_indices() {
            let end = at + c.len_utf8();
            if end > self.longest || ends_name(c) {
                break;
            }
            if ends_token(&rest[end..])
                && let Some(index) = self.names.get(&rest[..end])
            {
                best = Some(Token { kind: PlaceholderKind::Name(*index), length: end + 1 });
            }
        }
        best
    }

    /// Whether a backslash before the dollar sign at the start of `text` escapes it.
    pub(crate) fn escapes(&self, text: &str) -> bool {
        let Some(rest) = text.strip_prefix('$') else { return false };
        rest.starts_with(|c: char| c.is_ascii_digit())
            || self.read(text, true).is_some_and(|token| !matches!(token.kind, PlaceholderKind::Variable(_)))
    }
}

/// Whether a name or number ends before `rest`.
fn ends_token(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| !c.is_alphanumeric() && c != '_')
}

/// Whether a number goes on as an amount: `.` or `,` and a digit.
fn is_money(rest: &str) -> bool {
    matches!(rest.as_bytes(), [b'.' | b',', digit, ..] if digit.is_ascii_digit())
}

/// A number without leading zeros that fits; everything else is no position.
fn number(digits: &str) -> Option<usize> {
    let plain = digits == "0" || !digits.starts_with(['0', '+']);
    digits.parse::<u32>().ok().filter(|_| plain).and_then(|number| usize::try_from(number).ok())
}

#[cfg(test)]
mod tests {
    use super::PlaceholderKind::{Arguments, Indexed, Name, Position};
    use super::*;

    #[test]
    fn placeholders_end_where_a_word_ends() {
        let names: Vec<String> = ["issue", "pr-number", "pr", "a.b+", "7", "ARGUMENTS"].map(String::from).to_vec();
        let grammar = Grammar::new(Profile::Safe, &names);
        for (text, expected) in [
            ("$1", Some((Position(1), 2))),
            ("$10 x", Some((Position(10), 3))),
            ("$1st", None),
            ("$1_", None),
            ("$1.", Some((Position(1), 2))),
            ("$1.5", None),
            ("$1,000", None),
            ("$01", None),
            ("${1}", Some((Position(1), 4))),
            ("${1}x", Some((Position(1), 4))),
            ("${1:-x}", None),
            ("$99999999999999999999", None),
            ("$ARGUMENTS", Some((Arguments, 10))),
            ("$ARGUMENTS.", Some((Arguments, 10))),
            ("$ARGUMENTSX", None),
            ("$ARGUMENTS_", None),
            ("$ARGUMENTS[0]x", Some((Indexed(0), 13))),
            ("$ARGUMENTS[x]", Some((Arguments, 10))),
            ("$issue", Some((Name(0), 6))),
            ("$issues", None),
            ("${issue}s", Some((Name(0), 8))),
            ("$pr-number", Some((Name(1), 10))),
            ("$pr-x", Some((Name(2), 3))),
            ("$a.b+ c", Some((Name(3), 5))),
            ("$axb+", None),
            ("${CLAUDE_SKILL_DIR}", Some((PlaceholderKind::Variable(Variable::SkillDir), 19))),
            ("${SKILLGATE_EFFORT}", Some((PlaceholderKind::Variable(Variable::Effort), 19))),
            ("${CLAUDE_OTHER}", None),
            ("$CLAUDE_SKILL_DIR", None),
            ("$é", None),
            ("$", None),
            ("${", None),
        ] {
            let found = grammar.read(text, false).map(|token| (token.kind, token.length));
            assert_eq!(found, expected, "{text}");
        }
        assert_eq!(grammar.read("$1.5", true).map(|token| token.length), Some(2), "no money in commands");
        let claude = Grammar::new(Profile::Claude, &names);
        assert_eq!(claude.read("$1.5", false).map(|token| token.length), Some(2));
        assert_eq!(claude.read("${1}", false), None);
    }
}
