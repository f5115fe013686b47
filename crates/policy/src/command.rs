use crate::carrier::carrier;
use crate::pattern::PatternError;
use crate::request::Known;
use skillgate_core::Span;

/// A `Bash(…)` pattern: it matches argument vectors, never text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum CommandPattern {
    /// `Bash`, `Bash(*)`: every command.
    Any,
    /// `Bash(git status)`: this vector.
    Exact(Vec<String>),
    /// `Bash(git status:*)`, `Bash(git status *)`: vectors that begin with these words.
    Prefix(Vec<String>),
    /// `Bash(npm run test*)`: vectors that begin with these words and a word that begins with this text.
    PrefixOfWord(Vec<String>, String),
}

/// Whether a pattern matches a vector of which some words may not be known yet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Match {
    /// Whatever the unknown words turn out to be.
    Yes,
    /// For some of them.
    Maybe,
    /// For none of them.
    No,
}

impl CommandPattern {
    /// Reads the part between the parentheses; `text` is the whole pattern, in which it begins at `start`.
    pub(crate) fn parse(text: &str, spec: &str, start: usize) -> Result<Self, PatternError> {
        let start = start + (spec.len() - spec.trim_start().len());
        let spec = spec.trim();
        if spec.is_empty() || spec == "*" || spec == ":*" {
            return Ok(CommandPattern::Any);
        }
        let (body, prefix) = match spec.strip_suffix(":*").or_else(|| spec.strip_suffix(" *")) {
            Some(body) => (body, true),
            None => (spec, false),
        };
        let words = split_words(body).map_err(|quote| PatternError::UnbalancedQuote {
            text: text.to_owned(),
            at: Span::new(start + quote, start + body.len()),
        })?;
        let Some(last) = words.last() else { return Ok(CommandPattern::Any) };
        let glued = !prefix && last.stars.last().is_some_and(|star| *star + 1 == body.len());
        let inner = words.iter().enumerate().find_map(|(at, word)| {
            let allowed = usize::from(glued && at + 1 == words.len());
            (word.stars.len() > allowed).then(|| (at, word.stars[0]))
        });
        if let Some((at, star)) = inner {
            let before: Vec<&str> = words[..at].iter().map(|word| word.text.as_str()).collect();
            let instead =
                if before.is_empty() { "Bash".to_owned() } else { format!("Bash({}:*)", crate::ruling::show(&before)) };
            return Err(PatternError::InnerWildcard {
                text: text.to_owned(),
                instead,
                at: Span::new(start + star, start + star + 1),
            });
        }
        let mut words: Vec<String> = words.into_iter().map(|word| word.text).collect();
        if glued {
            let mut start = words.pop().unwrap_or_default();
            start.pop();
            return Ok(CommandPattern::PrefixOfWord(words, start));
        }
        Ok(if prefix { CommandPattern::Prefix(words) } else { CommandPattern::Exact(words) })
    }

    /// Whether the pattern matches a vector. An unknown word stands for any number of words.
    ///
    /// This is the bare comparison, which denying rules use; see [`CommandPattern::permits`] for allowing ones.
    #[must_use]
    pub fn matches(&self, vector: &[Known<'_>]) -> Match {
        match self {
            CommandPattern::Any => Match::Yes,
            CommandPattern::Exact(words) => match_words(words, None, true, vector),
            CommandPattern::Prefix(words) => match_words(words, None, false, vector),
            CommandPattern::PrefixOfWord(words, start) => match_words(words, Some(start), false, vector),
        }
    }

    /// Whether the pattern permits a vector: as [`CommandPattern::matches`], but a command that runs other programs (see
    /// [`carrier`]) is permitted only by `Bash` alone or by its exact vector.
    #[must_use]
    pub fn permits(&self, vector: &[Known<'_>]) -> Match {
        self.permits_unless(vector, &|| carrier(vector).is_some())
    }

    /// As [`CommandPattern::permits`], when the vector is looked at for many patterns and whether it `carries` only once.
    pub(crate) fn permits_unless(&self, vector: &[Known<'_>], carries: &dyn Fn() -> bool) -> Match {
        let matched = self.matches(vector);
        match self {
            CommandPattern::Any | CommandPattern::Exact(_) => matched,
            _ if matched == Match::No => Match::No,
            _ if carries() => Match::No,
            _ => matched,
        }
    }
}

impl CommandPattern {
    /// The command's name, when the pattern says it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            CommandPattern::Any => None,
            CommandPattern::Exact(words) | CommandPattern::Prefix(words) | CommandPattern::PrefixOfWord(words, _) => {
                words.first().map(String::as_str)
            }
        }
    }

    /// The vectors that both patterns match, as a pattern; `None` when there are none.
    #[must_use]
    pub fn meet(&self, other: &CommandPattern) -> Option<CommandPattern> {
        use CommandPattern::{Any, Exact, Prefix, PrefixOfWord};
        match (self, other) {
            (Any, pattern) | (pattern, Any) => Some(pattern.clone()),
            (Exact(words), pattern) | (pattern, Exact(words)) => {
                let vector: Vec<Known<'_>> = words.iter().map(|word| Known::Text(word)).collect();
                (pattern.matches(&vector) == Match::Yes).then(|| Exact(words.clone()))
            }
            (Prefix(a), Prefix(b)) if a.starts_with(b) => Some(Prefix(a.clone())),
            (Prefix(a), Prefix(b)) => b.starts_with(a).then(|| Prefix(b.clone())),
            (Prefix(words), PrefixOfWord(before, start)) | (PrefixOfWord(before, start), Prefix(words)) => {
                match words.get(before.len()) {
                    Some(word) => {
                        (words.starts_with(before) && word.starts_with(start.as_str())).then(|| Prefix(words.clone()))
                    }
                    None => before.starts_with(words).then(|| PrefixOfWord(before.clone(), start.clone())),
                }
            }
            (PrefixOfWord(a, a_start), PrefixOfWord(b, b_start)) => {
                let (short, short_start, long, long_start) =
                    if a.len() <= b.len() { (a, a_start, b, b_start) } else { (b, b_start, a, a_start) };
                if !long.starts_with(short) {
                    return None;
                }
                match long.get(short.len()) {
                    Some(word) => {
                        word.starts_with(short_start.as_str()).then(|| PrefixOfWord(long.clone(), long_start.clone()))
                    }
                    None if long_start.starts_with(short_start.as_str()) => {
                        Some(PrefixOfWord(long.clone(), long_start.clone()))
                    }
                    None => {
                        let within = short_start.starts_with(long_start.as_str());
                        within.then(|| PrefixOfWord(long.clone(), short_start.clone()))
                    }
                }
            }
        }
    }
}

fn match_words(words: &[String], start: Option<&str>, exact: bool, vector: &[Known<'_>]) -> Match {
    let mut given = vector.iter();
    for word in words {
        match given.next() {
            Some(Known::Text(text)) if text == word => {}
            Some(Known::Text(_)) | None => return Match::No,
            Some(Known::Unknown) => return Match::Maybe,
        }
    }
    if let Some(start) = start {
        match given.next() {
            Some(Known::Text(text)) if text.starts_with(start) => {}
            Some(Known::Text(_)) | None => return Match::No,
            Some(Known::Unknown) => return Match::Maybe,
        }
    }
    if !exact {
        return Match::Yes;
    }
    match (given.len(), given.all(|word| *word == Known::Unknown)) {
        (0, _) => Match::Yes,
        (_, true) => Match::Maybe,
        (_, false) => Match::No,
    }
}

struct PatternWord {
    text: String,
    /// Places of `*` that no quote makes a plain character.
    stars: Vec<usize>,
}

/// Splits a pattern's words at white space; quotes group and a backslash takes the next character as it is. The error is the
/// place of a quote that does not close.
fn split_words(text: &str) -> Result<Vec<PatternWord>, usize> {
    let mut words = Vec::new();
    let mut word: Option<PatternWord> = None;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        if c.is_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert(PatternWord { text: String::new(), stars: Vec::new() });
        let mut next = || chars.next().map(|(_, c)| c).ok_or(at);
        match c {
            '\'' => loop {
                match next()? {
                    '\'' => break,
                    c => word.text.push(c),
                }
            },
            '"' => loop {
                match next()? {
                    '"' => break,
                    '\\' => match next()? {
                        c @ ('"' | '\\' | '$' | '`') => word.text.push(c),
                        c => word.text.extend(['\\', c]),
                    },
                    c => word.text.push(c),
                }
            },
            '\\' => word.text.push(next()?),
            c => {
                if c == '*' {
                    word.stars.push(at);
                }
                word.text.push(c);
            }
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ToolPattern;

    fn vector<'a>(words: &'a [&'a str]) -> Vec<Known<'a>> {
        words.iter().map(|word| if *word == "?" { Known::Unknown } else { Known::Text(word) }).collect()
    }

    fn permits(pattern: &str, words: &[&str]) -> Match {
        let pattern = ToolPattern::parse(pattern).expect(pattern);
        pattern.command().expect("a Bash pattern").permits(&vector(words))
    }

    #[test]
    fn patterns_match_vectors_token_by_token() {
        use Match::{Maybe, No, Yes};
        for (pattern, words, expected) in [
            ("Bash", &["anything", "at all"][..], Yes),
            ("Bash(*)", &["x"], Yes),
            ("Bash(:*)", &["x"], Yes),
            ("Bash(git status:*)", &["git", "status"], Yes),
            ("Bash(git status:*)", &["git", "status", "-s"], Yes),
            ("Bash(git status *)", &["git", "status", "-s"], Yes),
            ("Bash(git status *)", &["git", "status"], Yes),
            ("Bash(git status:*)", &["git", "statusx"], No),
            ("Bash(git status:*)", &["git-status"], No),
            ("Bash(git status:*)", &["gitstatus"], No),
            ("Bash(git status:*)", &["/tmp/git", "status"], No),
            ("Bash(git status:*)", &["git status"], No),
            ("Bash(git status:*)", &["git"], No),
            ("Bash(git status)", &["git", "status"], Yes),
            ("Bash(git status)", &["git", "status", "-s"], No),
            ("Bash(npm run test*)", &["npm", "run", "test:unit"], Yes),
            ("Bash(npm run test*)", &["npm", "run", "test", "-x"], Yes),
            ("Bash(npm run test*)", &["npm", "run", "tes"], No),
            ("Bash(npm run test*)", &["npm", "run"], No),
            ("Bash(git log -m 'a b')", &["git", "log", "-m", "a b"], Yes),
            ("Bash(git log -m 'a b')", &["git", "log", "-m", "a", "b"], No),
            ("Bash(echo '*')", &["echo", "*"], Yes),
            ("Bash(echo '*')", &["echo", "x"], No),
            ("Bash(git log:*)", &["git", "?"], Maybe),
            ("Bash(git log:*)", &["git", "log", "?"], Yes),
            ("Bash(git log:*)", &["?", "log"], Maybe),
            ("Bash(git log:*)", &["hg", "?"], No),
            ("Bash(git log)", &["git", "log", "?"], Maybe),
            ("Bash(git log)", &["git", "log", "?", "x"], No),
            ("Bash(find:*)", &["find", ".", "-name", "x"], Yes),
            ("Bash(find:*)", &["find", ".", "-exec", "rm", "{}", ";"], No),
            ("Bash(find . -delete)", &["find", ".", "-delete"], Yes),
            ("Bash(env:*)", &["env", "x"], No),
            ("Bash(sh -c 'ls')", &["sh", "-c", "ls"], Yes),
            ("Bash(git:*)", &["git", "-c", "alias.x=!id", "x"], No),
            ("Bash(git:*)", &["git", "status"], Yes),
        ] {
            assert_eq!(permits(pattern, words), expected, "{pattern} on {words:?}");
        }
    }

    #[test]
    fn the_meet_of_two_patterns_is_what_both_match() {
        let pattern = |text: &str| ToolPattern::parse(text).expect(text).command().expect("a Bash pattern").clone();
        for (a, b, both) in [
            ("Bash", "Bash(ls:*)", Some("Bash(ls:*)")),
            ("Bash(ls:*)", "Bash(wc:*)", None),
            ("Bash(git:*)", "Bash(git log:*)", Some("Bash(git log:*)")),
            ("Bash(git log)", "Bash(git:*)", Some("Bash(git log)")),
            ("Bash(git log)", "Bash(git status)", None),
            ("Bash(npm run t*)", "Bash(npm run:*)", Some("Bash(npm run t*)")),
            ("Bash(npm run t*)", "Bash(npm run test:*)", Some("Bash(npm run test:*)")),
            ("Bash(npm run t*)", "Bash(npm run build:*)", None),
            ("Bash(npm run t*)", "Bash(npm run te*)", Some("Bash(npm run te*)")),
            ("Bash(g*)", "Bash(git lo*)", Some("Bash(git lo*)")),
        ] {
            assert_eq!(pattern(a).meet(&pattern(b)), both.map(pattern), "{a} and {b}");
            assert_eq!(pattern(b).meet(&pattern(a)), both.map(pattern), "{b} and {a}");
        }
    }

    #[test]
    fn a_denying_rule_matches_carriers_too() {
        let pattern = ToolPattern::parse("Bash(env:*)").expect("a pattern");
        assert_eq!(pattern.command().expect("a Bash pattern").matches(&vector(&["env", "x"])), Match::Yes);
    }
}
