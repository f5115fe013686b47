//! `[[ TEXT =~ EXPRESSION ]]`: extended regular expressions of POSIX, matched in linear time.

use super::expand::{Field, Piece};
use super::{Eval, Io, Shell};

/// Bytes that one compiled expression may take.
const MAX_COMPILED: usize = 1 << 20;

impl Shell<'_> {
    /// Whether a text holds what an expression describes; quoted characters of the expression stand for themselves.
    /// `None` when the expression is none, which has been said.
    pub(super) fn matches_regex(&mut self, expression: &Field, text: &str, io: &Io) -> Eval<Option<bool>> {
        self.affordable(expression, text)?;
        let compiled = translate(&expression.pieces).and_then(|translated| {
            let built =
                regex::RegexBuilder::new(&translated).size_limit(MAX_COMPILED).dot_matches_new_line(true).build();
            built.map_err(|error| error.to_string())
        });
        match compiled {
            Ok(compiled) => Ok(Some(compiled.is_match(text))),
            Err(reason) => {
                let reason = reason.lines().last().unwrap_or_default().to_owned();
                self.complain(io, &format!("[[: {}: not a regular expression: {reason}", expression.text()))?;
                Ok(None)
            }
        }
    }
}

/// The characters of an expression, each with whether it was quoted.
struct Characters<'p> {
    list: Vec<(char, bool)>,
    at: usize,
    translated: &'p mut String,
}

/// The expression in the syntax of the `regex` crate.
fn translate(pieces: &[Piece]) -> Result<String, String> {
    let mut translated = String::new();
    let list = pieces.iter().flat_map(|piece| piece.text.chars().map(|c| (c, piece.quoted))).collect();
    Characters { list, at: 0, translated: &mut translated }.translate()?;
    Ok(translated)
}

impl Characters<'_> {
    fn next(&mut self) -> Option<(char, bool)> {
        let next = self.list.get(self.at).copied();
        self.at += 1;
        next
    }

    fn translate(&mut self) -> Result<(), String> {
        while let Some((c, quoted)) = self.next() {
            match c {
                c if quoted => self.literal(c),
                '[' => self.bracket()?,
                '\\' => {
                    let (next, _) = self.next().ok_or("it ends with a backslash")?;
                    match next {
                        // What the C library adds to POSIX.
                        'w' | 'W' | 's' | 'S' | 'b' | 'B' => self.translated.extend(['\\', next]),
                        '<' => self.translated.push_str(r"\b{start}"),
                        '>' => self.translated.push_str(r"\b{end}"),
                        '1'..='9' => return Err(format!("the back-reference `\\{next}` is not supported")),
                        next => self.literal(next),
                    }
                }
                '.' | '^' | '$' | '|' | ')' => self.translated.push(c),
                // These would be extensions of Perl.
                '(' if self.repeats_here() => return Err("there is nothing before the repetition".to_owned()),
                '*' | '+' | '?' if self.repeats_here() => return Err(TWICE.to_owned()),
                '(' | '*' | '+' | '?' => self.translated.push(c),
                '{' => self.braces()?,
                c => self.literal(c),
            }
        }
        Ok(())
    }

    fn repeats_here(&self) -> bool {
        matches!(self.list.get(self.at), Some(('*' | '+' | '?', false)))
    }

    fn literal(&mut self, c: char) {
        self.translated.push_str(&regex::escape(c.encode_utf8(&mut [0; 4])));
    }

    /// After a `{`: `2}`, `2,}` or `2,3}` repeats; anything else is text.
    fn braces(&mut self) -> Result<(), String> {
        let inside: String = self.list[self.at..].iter().map(|(c, _)| *c).take_while(|c| *c != '}').collect();
        let (least, most) = inside.split_once(',').unwrap_or((&inside, ""));
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let end = self.at + inside.chars().count();
        if least.is_empty() || !number(least) || !number(most) || end >= self.list.len() {
            self.literal('{');
            return Ok(());
        }
        self.at = end + 1;
        self.translated.push_str(&format!("{{{inside}}}"));
        if self.repeats_here() { Err(TWICE.to_owned()) } else { Ok(()) }
    }

    /// A bracket expression after its `[`. A backslash in it is an ordinary character.
    fn bracket(&mut self) -> Result<(), String> {
        self.translated.push('[');
        if self.list.get(self.at) == Some(&('^', false)) {
            self.at += 1;
            self.translated.push('^');
        }
        let mut first = true;
        loop {
            let (c, quoted) = self.next().ok_or("a `[` has no `]`")?;
            match (c, self.list.get(self.at).map(|(next, _)| *next)) {
                (']', _) if !first && !quoted => {
                    self.translated.push(']');
                    return Ok(());
                }
                ('[', Some(':')) if !quoted => {
                    let class: String =
                        self.list[self.at + 1..].iter().map(|(c, _)| *c).take_while(|c| *c != ':').collect();
                    self.at += class.chars().count() + 2;
                    if self.next() != Some((']', false)) {
                        return Err("a `[:` has no `:]`".to_owned());
                    }
                    if !CLASSES.contains(&class.as_str()) {
                        return Err(format!("`[:{class}:]` is not a character class"));
                    }
                    self.translated.push_str(&format!("[:{class}:]"));
                }
                ('[', Some('.' | '=')) if !quoted => return Err("a collating element is not supported".to_owned()),
                ('-', _) if !quoted => self.translated.push('-'),
                _ => self.literal(c),
            }
            first = false;
        }
    }
}

const CLASSES: &[&str] =
    &["alnum", "alpha", "blank", "cntrl", "digit", "graph", "lower", "print", "punct", "space", "upper", "xdigit"];

const TWICE: &str = "a repetition of a repetition is not supported";

#[cfg(test)]
mod tests {
    use crate::testing::run;

    #[test]
    fn expressions_are_those_of_posix() {
        for (expression, text, matches) in [
            ("^v[0-9]+\\.[0-9]+$", "v1.20", true),
            ("^v[0-9]+$", "v1.20", false),
            ("b", "abc", true),
            ("^(feat|fix)(\\(.*\\))?:", "feat(x): y", true),
            ("\"a.c\"", "abc", false),
            ("a\".\"c", "a.c", true),
            ("a{2,3}b", "aab", true),
            ("a{b", "a{b", true),
            ("[]x]", "]", true),
            ("[^]x]", "]", false),
            ("[\\d]", "5", false),
            ("[[:digit:]_-]+$", "4-_", true),
            ("x$", "y x", true),
        ] {
            let ran = run(&format!("[[ '{text}' =~ {expression} ]]"));
            let status = ran.result.expect("it runs").status;
            assert_eq!(status, u8::from(!matches), "{expression} on {text}: {}", ran.stderr);
        }
        let ran = run("x='^a.c$'; [[ abc =~ $x ]] && args active; [[ abc =~ \"$x\" ]] || args quoted; \
                       w='\\<b\\>'; [[ 'a b' =~ $w ]] && args word");
        assert_eq!(ran.stdout, "[active]\n[quoted]\n[word]\n");
    }

    #[test]
    fn what_is_no_expression_is_said_and_is_status_2() {
        for (expression, reason) in [
            ("(", "unclosed"),
            ("[a", "no `]`"),
            ("a**", "repetition"),
            ("(a)\\1", "back-reference"),
            ("[[:no:]]", "class"),
        ] {
            let ran = run(&format!("x='{expression}'; [[ a =~ $x ]]"));
            assert_eq!(ran.result.expect("it ends").status, 2, "{expression}");
            assert!(ran.stderr.contains(reason), "{expression}: {}", ran.stderr);
        }
    }

    #[test]
    fn numbers_of_a_condition_are_arithmetic() {
        let ran = run(
            "x=3; [[ x+1 -eq 4 && '' -lt 1 && 2*2 -ge $x ]] && args y; [ 3 -lt 10 ] && args z; [ x -eq 3 ] || args n",
        );
        assert_eq!(ran.stdout, "[y]\n[z]\n[n]\n", "{}", ran.stderr);
    }
}
