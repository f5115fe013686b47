//! Regular expressions of POSIX with GNU's extensions, translated to the syntax of the regex crates.

use super::request::Syntax;

/// Why a pattern is not taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ExpressionError {
    /// In GNU's words.
    Wrong(String),
    /// GNU's grep does it, and this one does not.
    Unsupported(String),
}

fn wrong<T>(message: &str) -> Result<T, ExpressionError> {
    Err(ExpressionError::Wrong(message.to_owned()))
}

fn unsupported<T>(what: &str) -> Result<T, ExpressionError> {
    Err(ExpressionError::Unsupported(what.to_owned()))
}

const BRACKET: &str = "Unmatched [, [^, [:, [., or [=";
/// Copies that one repetition may ask for, as GNU's `RE_DUP_MAX`.
const MAX_COPIES: u32 = 32_767;

/// Translates one pattern.
pub(super) fn translate(pattern: &str, syntax: Syntax) -> Result<String, ExpressionError> {
    if syntax == Syntax::Fixed {
        return Ok(pattern.chars().map(quoted).collect());
    }
    let chars: Vec<char> = pattern.chars().collect();
    let mut reader =
        Reader { chars: &chars, at: 0, extended: syntax == Syntax::Extended, out: String::new(), open: 0, atom: None };
    reader.read()?;
    if reader.open > 0 {
        return wrong("Unmatched ( or \\(");
    }
    Ok(reader.out)
}

struct Reader<'c> {
    chars: &'c [char],
    at: usize,
    extended: bool,
    out: String,
    open: usize,
    /// Where the last atom begins in the output; `None` where a repetition has nothing to repeat.
    atom: Option<usize>,
}

/// What a character or a pair of them means.
enum Token {
    Literal(char),
    Open,
    Close,
    Or,
    /// `*`, `+`, `?`.
    Repeat(char),
    Brace,
    Any,
    Bracket,
    Start,
    End,
    /// Syntax that is the same on both sides.
    Same(&'static str),
    BackReference(char),
}

impl Reader<'_> {
    fn read(&mut self) -> Result<(), ExpressionError> {
        while self.at < self.chars.len() {
            let token = self.token()?;
            self.emit(token)?;
        }
        Ok(())
    }

    fn token(&mut self) -> Result<Token, ExpressionError> {
        let c = self.chars[self.at];
        self.at += 1;
        if c == '\\' {
            let Some(next) = self.chars.get(self.at).copied() else { return wrong("Trailing backslash") };
            self.at += 1;
            return Ok(match (next, self.extended) {
                ('(', false) => Token::Open,
                (')', false) => Token::Close,
                ('|', false) => Token::Or,
                ('{', false) => Token::Brace,
                ('+', false) => Token::Repeat('+'),
                ('?', false) => Token::Repeat('?'),
                ('1'..='9', _) => Token::BackReference(next),
                ('w', _) => Token::Same(r"\w"),
                ('W', _) => Token::Same(r"\W"),
                ('s', _) => Token::Same(r"\s"),
                ('S', _) => Token::Same(r"\S"),
                ('b', _) => Token::Same(r"\b"),
                ('B', _) => Token::Same(r"\B"),
                ('<', _) => Token::Same(r"\b{start}"),
                ('>', _) => Token::Same(r"\b{end}"),
                ('`', _) => Token::Same(r"\A"),
                ('\'', _) => Token::Same(r"\z"),
                (next, _) => Token::Literal(next),
            });
        }
        Ok(match (c, self.extended) {
            ('.', _) => Token::Any,
            ('[', _) => Token::Bracket,
            ('*', _) => Token::Repeat('*'),
            ('(', true) => Token::Open,
            (')', true) => Token::Close,
            ('|', true) => Token::Or,
            ('+', true) => Token::Repeat('+'),
            ('?', true) => Token::Repeat('?'),
            ('{', true) => Token::Brace,
            ('^', _) if self.extended || self.starts_here() => Token::Start,
            ('$', _) if self.extended || self.ends_here() => Token::End,
            (c, _) => Token::Literal(c),
        })
    }

    /// Whether a `^` just read stands where an expression begins.
    fn starts_here(&self) -> bool {
        let before = &self.chars[..self.at - 1];
        before.is_empty() || (escapes(before) && matches!(before.last(), Some('(' | '|')))
    }

    /// Whether a `$` just read stands where an expression ends.
    fn ends_here(&self) -> bool {
        matches!(self.chars[self.at..], [] | ['\\', ')' | '|', ..])
    }

    fn emit(&mut self, token: Token) -> Result<(), ExpressionError> {
        match token {
            Token::Literal(c) => self.atom(&quoted(c)),
            Token::Any => self.atom("."),
            Token::Same(text) => self.atom(text),
            Token::Bracket => {
                let start = self.out.len();
                self.bracket()?;
                self.atom = Some(start);
            }
            Token::Open => {
                self.open += 1;
                self.out.push_str("(?:");
                self.groups_mark();
            }
            Token::Close if self.open == 0 && self.extended => self.atom(r"\)"),
            Token::Close if self.open == 0 => return wrong("Unmatched ) or \\)"),
            Token::Close => {
                self.open -= 1;
                self.out.push(')');
                self.atom = Some(matching_parenthesis(&self.out));
            }
            Token::Or => {
                self.out.push('|');
                self.atom = None;
            }
            Token::Start => {
                self.out.push('^');
                self.atom = None;
            }
            Token::End => {
                self.out.push('$');
                self.atom = if self.extended { Some(self.out.len() - 1) } else { None };
            }
            Token::Repeat(c) => match self.atom {
                Some(start) => self.repeat(start, &c.to_string()),
                // At the beginning a star is itself in a basic expression, and nothing in an extended one.
                None if self.extended => {}
                None => self.atom(&quoted(c)),
            },
            Token::Brace => self.braces()?,
            Token::BackReference(digit) => return unsupported(&format!("the back-reference \\{digit}")),
        }
        Ok(())
    }

    fn groups_mark(&mut self) {
        self.atom = None;
    }

    fn atom(&mut self, text: &str) {
        self.atom = Some(self.out.len());
        self.out.push_str(text);
    }

    /// Repeats the atom from `start` on; wrapped, so that a repetition can be repeated.
    fn repeat(&mut self, start: usize, operator: &str) {
        let atom = self.out.split_off(start);
        self.out.push_str(&format!("(?:{atom}){operator}"));
        self.atom = Some(start);
    }

    /// After `{` or `\{`.
    fn braces(&mut self) -> Result<(), ExpressionError> {
        let rest: String = self.chars[self.at..].iter().collect();
        let closing = if self.extended { "}" } else { "\\}" };
        let Some((inside, _)) = rest.split_once(closing) else {
            if self.extended {
                self.atom(r"\{");
                return Ok(());
            }
            return wrong("Unmatched \\{");
        };
        let (least, most) = inside.split_once(',').map_or((inside, None), |(least, most)| (least, Some(most)));
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let valid = number(least) && most.is_none_or(number) && !(least.is_empty() && most.is_none());
        if !valid {
            if self.extended {
                self.atom(r"\{");
                return Ok(());
            }
            return wrong("Invalid content of \\{\\}");
        }
        let Some(start) = self.atom else {
            if self.extended {
                self.at += inside.chars().count() + closing.len();
                return Ok(());
            }
            return wrong("Invalid preceding regular expression");
        };
        let parse = |text: &str| text.parse::<u32>().ok().filter(|count| *count <= MAX_COPIES);
        let least_count = if least.is_empty() { Some(0) } else { parse(least) };
        let most_count = match most {
            None | Some("") => Some(None),
            Some(most) => parse(most).map(Some),
        };
        let (Some(least_count), Some(most_count)) = (least_count, most_count) else {
            return wrong("Regular expression too big");
        };
        if most_count.is_some_and(|most| most < least_count) {
            return wrong("Invalid content of \\{\\}");
        }
        self.at += inside.chars().count() + closing.len();
        let operator = match (most, most_count) {
            (None, _) => format!("{{{least_count}}}"),
            (Some(_), Some(most)) => format!("{{{least_count},{most}}}"),
            (Some(_), None) => format!("{{{least_count},}}"),
        };
        self.repeat(start, &operator);
        Ok(())
    }

    /// A bracket expression after its `[`. A backslash in it is an ordinary character.
    fn bracket(&mut self) -> Result<(), ExpressionError> {
        let mut set = String::from("[");
        let negated = self.chars.get(self.at) == Some(&'^');
        if negated {
            self.at += 1;
            set.push('^');
        }
        let mut first = true;
        loop {
            let Some(c) = self.chars.get(self.at).copied() else { return wrong(BRACKET) };
            self.at += 1;
            match (c, self.chars.get(self.at)) {
                (']', _) if !first => break,
                ('[', Some(':')) => {
                    let rest: String = self.chars[self.at + 1..].iter().collect();
                    let Some((class, _)) = rest.split_once(":]") else { return wrong(BRACKET) };
                    if !CLASSES.contains(&class) {
                        return wrong("Invalid character class name");
                    }
                    self.at += class.chars().count() + 3;
                    set.push_str(class_of(class));
                }
                ('[', Some('.' | '=')) => return unsupported("a collating element in a bracket expression"),
                (low, Some('-')) if self.chars.get(self.at + 1).is_some_and(|end| *end != ']') => {
                    let high = self.chars[self.at + 1];
                    self.at += 2;
                    if high < low {
                        return wrong("Invalid range end");
                    }
                    set.push_str(&format!("{}-{}", quoted_in_set(low), quoted_in_set(high)));
                }
                (c, _) => set.push_str(&quoted_in_set(c)),
            }
            first = false;
        }
        if negated {
            // Never the end of a line.
            set.push_str(r"\n");
        }
        set.push(']');
        self.out.push_str(&set);
        Ok(())
    }
}

const CLASSES: &[&str] =
    &["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];

/// A class in the regex crates' syntax, which knows the POSIX names for ASCII only.
fn class_of(class: &str) -> &'static str {
    match class {
        "alnum" => r"[\w--_]",
        "alpha" => r"[\w--[_\d]]",
        "blank" => "[:blank:]",
        "cntrl" => "[:cntrl:]",
        "digit" => "[:digit:]",
        "graph" => r"[^\s[:cntrl:]]",
        "lower" => "[:lower:]",
        "print" => r"[^[:cntrl:]]",
        "punct" => "[:punct:]",
        "space" => r"\s",
        "upper" => "[:upper:]",
        _ => "[:xdigit:]",
    }
}

/// Whether the character before the last is a backslash that is not escaped itself.
fn escapes(chars: &[char]) -> bool {
    let before = &chars[..chars.len().saturating_sub(1)];
    before.iter().rev().take_while(|c| **c == '\\').count() % 2 == 1
}

/// Where the group that ends the text begins.
fn matching_parenthesis(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut depth, mut in_set) = (0_usize, 0_usize);
    let mut starts = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'[' => in_set += 1,
            b']' if in_set > 0 => in_set -= 1,
            b'(' if in_set == 0 => {
                depth += 1;
                starts.push(at);
            }
            b')' if in_set == 0 => {
                depth -= usize::from(depth > 0);
                let start = starts.pop().unwrap_or(0);
                if at + 1 == bytes.len() {
                    return start;
                }
            }
            _ => {}
        }
        at += 1;
    }
    0
}

fn quoted(c: char) -> String {
    if c.is_ascii_punctuation() { format!("\\{c}") } else { c.to_string() }
}

fn quoted_in_set(c: char) -> String {
    quoted(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_syntaxes_are_translated() {
        for (pattern, syntax, expected) in [
            ("a\\|b", Syntax::Basic, "a|b"),
            ("a|b", Syntax::Basic, r"a\|b"),
            ("a|b", Syntax::Extended, "a|b"),
            ("*a", Syntax::Basic, r"\*a"),
            ("*a", Syntax::Extended, "a"),
            ("a*", Syntax::Basic, "(?:a)*"),
            ("a**", Syntax::Basic, "(?:(?:a)*)*"),
            ("\\(ab\\)*", Syntax::Basic, "(?:(?:ab))*"),
            ("(a)(b)+", Syntax::Extended, "(?:a)(?:(?:b))+"),
            ("a\\{2,\\}", Syntax::Basic, "(?:a){2,}"),
            ("a{,3}", Syntax::Extended, "(?:a){0,3}"),
            ("a{x", Syntax::Extended, r"a\{x"),
            ("a{1", Syntax::Basic, r"a\{1"),
            ("^a$", Syntax::Basic, "^a$"),
            ("a^b$c", Syntax::Basic, r"a\^b\$c"),
            ("\\(^a\\)", Syntax::Basic, "(?:^a)"),
            ("[^]a]", Syntax::Basic, r"[^\]a\n]"),
            ("[\\d]", Syntax::Basic, r"[\\d]"),
            ("\\.js$", Syntax::Basic, r"\.js$"),
            (")", Syntax::Extended, r"\)"),
            ("a.b", Syntax::Fixed, r"a\.b"),
        ] {
            assert_eq!(translate(pattern, syntax).as_deref(), Ok(expected), "{pattern}");
        }
    }

    #[test]
    fn wrong_patterns_are_said_in_gnus_words() {
        for (pattern, syntax, expected) in [
            ("(", Syntax::Extended, "Unmatched ( or \\("),
            ("a\\)", Syntax::Basic, "Unmatched ) or \\)"),
            ("[a", Syntax::Basic, BRACKET),
            ("a\\", Syntax::Basic, "Trailing backslash"),
            ("[z-a]", Syntax::Basic, "Invalid range end"),
            ("a\\{2", Syntax::Basic, "Unmatched \\{"),
            ("[[:no:]]", Syntax::Basic, "Invalid character class name"),
        ] {
            assert_eq!(translate(pattern, syntax), wrong(expected), "{pattern}");
        }
        assert!(matches!(translate("\\(a\\)\\1", Syntax::Basic), Err(ExpressionError::Unsupported(_))));
    }
}
