//! Brace expansion: `{a,b}`, `{1..5}`, `{a..e..2}`, on words, so that quoting is respected and holes are never read.

use std::ops::Range;

use skillgate_core::Span;
use thiserror::Error;

use crate::word::{ParameterName, Word, WordPart};

/// The most braces that may be open at once in a word.
pub const MAX_OPEN_BRACES: usize = 64;

/// The bounds of [`expand`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BraceLimits {
    /// The most words that one word may become.
    pub max_words: usize,
    /// The most bytes of source that all these words together may hold.
    pub max_bytes: usize,
}

/// Why a word is not expanded.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum BraceError {
    /// More than [`BraceLimits`] allow. Found before anything is built.
    #[error("brace expansion gives {words} words and the limit is {limit}")]
    TooMany {
        /// How many words it would give; the largest number when it is larger than that.
        words: usize,
        /// The limit that was exceeded, in words or bytes.
        limit: usize,
    },
    /// More than [`MAX_OPEN_BRACES`] braces are open at once.
    #[error("more than {MAX_OPEN_BRACES} braces are open at once")]
    TooDeep,
    /// A range between an upper and a lower case letter, which would pass through punctuation.
    #[error("a range from an upper to a lower case letter is not supported; write two ranges")]
    MixedCase(Span),
    /// An unquoted `$` that begins no expansion in a word with braces. A shell pastes texts together first, so that one
    /// may begin then.
    #[error("a `$` that stands for itself beside braces must be quoted")]
    LooseDollar(Span),
    /// `{a},b}`: braces that hold nothing to choose from, and a comma and a brace behind them. bash takes the later brace.
    #[error("these braces hold no comma, but `,` and `}}` follow; quote what is text")]
    LateComma(Span),
    /// An expansion that would go on with the text behind the braces, as in `{a,$x}y` and `{a,~}:`. A shell pastes texts
    /// together first and then reads `$xy`.
    #[error(
        "this expansion would go on with the text behind the braces; write a variable as `${{name}}`, or quote the text"
    )]
    Pasted(Span),
}

/// Expands the braces of a word, before anything else is expanded in it. A word without brace expansion gives itself.
///
/// A result may be a word without parts (`{a,}`): it gives no field.
///
/// # Errors
///
/// A [`BraceError`].
pub fn expand(word: &Word, limits: &BraceLimits) -> Result<Vec<Word>, BraceError> {
    if !may_have_braces(word) {
        return Ok(vec![word.clone()]);
    }
    let items = Items::new(word)?;
    let sequence = items.sequence(0..items.items.len())?;
    if !sequence.expands() {
        return Ok(vec![word.clone()]);
    }
    for part in &word.parts {
        if let WordPart::Literal { text, span } = part
            && text.contains('$')
        {
            return Err(BraceError::LooseDollar(*span));
        }
    }
    let size = items.measure(&sequence);
    if size.words > limits.max_words {
        return Err(BraceError::TooMany { words: size.words, limit: limits.max_words });
    }
    if size.bytes > limits.max_bytes {
        return Err(BraceError::TooMany { words: size.words, limit: limits.max_bytes });
    }
    let mut words = Vec::with_capacity(size.words);
    for pieces in generate(&sequence) {
        let word = items.word(&pieces);
        let counted = |span: Span| pieces.iter().any(|piece| matches!(piece, Piece::Text(_, of) if *of == span));
        if let Some(span) = pasted(&word, counted) {
            return Err(BraceError::Pasted(span));
        }
        words.push(word);
    }
    Ok(words)
}

/// A `$name` without braces that is followed by what could be more of the name, or a tilde before a colon. `counted` says of a
/// text whether a range gave it.
fn pasted(word: &Word, counted: impl Fn(Span) -> bool) -> Option<Span> {
    // A prefix that ends with a colon is one for bash, in whatever pieces it came.
    let literals = word.parts.iter().map_while(|part| match part {
        WordPart::Literal { text, .. } => Some(text.as_str()),
        _ => None,
    });
    let leading: String = literals.collect();
    let counts = matches!(word.parts.get(1), Some(WordPart::Quoted { span, .. }) if counted(*span));
    if leading == "~" && counts {
        // `~0` is a directory of bash's stack.
        return word.parts.first().map(WordPart::span);
    }
    let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
    if leading.strip_prefix('~').is_some_and(|rest| rest.trim_start_matches(in_name).starts_with(':')) {
        return word.parts.first().map(WordPart::span);
    }
    word.parts.windows(2).find_map(|pair| {
        let text = match &pair[1] {
            WordPart::Literal { text, .. } => text,
            WordPart::Quoted { text, span } if counted(*span) => text,
            _ => return None,
        };
        match &pair[0] {
            WordPart::Tilde { span, .. } => text.starts_with(':').then_some(*span),
            WordPart::Parameter(parameter) => {
                let ParameterName::Variable(name) = &parameter.name else { return None };
                let bare = parameter.span.len() == name.len() + 1;
                let goes_on = text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
                (bare && goes_on).then_some(parameter.span)
            }
            _ => None,
        }
    })
}

/// Whether [`expand`] would do anything; true also where it would fail.
#[must_use]
pub fn has_braces(word: &Word) -> bool {
    may_have_braces(word)
        && match Items::new(word) {
            Ok(items) => items.sequence(0..items.items.len()).map_or(true, |sequence| sequence.expands()),
            Err(_) => true,
        }
}

fn may_have_braces(word: &Word) -> bool {
    word.parts.iter().any(|part| matches!(part, WordPart::Literal { text, .. } if text.contains('{')))
}

/// A character of unquoted text, or a part that is taken as a whole.
#[derive(Clone, Copy, Debug)]
struct Item {
    part: usize,
    /// The character and its offset in the part's text.
    character: Option<(usize, char)>,
}

struct Items<'w> {
    word: &'w Word,
    items: Vec<Item>,
    /// For every `{` that has one, its `}`.
    closing: Vec<Option<usize>>,
}

/// What stands between two braces or commas.
struct Sequence {
    nodes: Vec<BraceNode>,
}

enum BraceNode {
    Run(Range<usize>),
    Alternatives(Vec<Sequence>),
    Generated(Counter),
}

/// The texts of a range.
struct Counter {
    from: i128,
    step: i128,
    count: usize,
    /// Letters instead of numbers.
    letters: bool,
    /// Zeros are put in front up to this width.
    width: usize,
    /// No text is longer than this.
    longest: usize,
    span: Span,
}

#[derive(Clone, Copy)]
struct Size {
    words: usize,
    bytes: usize,
}

#[derive(Clone)]
enum Piece {
    Run(Range<usize>),
    Text(String, Span),
}

impl Sequence {
    fn expands(&self) -> bool {
        self.nodes.iter().any(|node| !matches!(node, BraceNode::Run(_)))
    }
}

impl<'w> Items<'w> {
    fn new(word: &'w Word) -> Result<Self, BraceError> {
        let mut items = Vec::new();
        for (part, content) in word.parts.iter().enumerate() {
            match content {
                WordPart::Literal { text, .. } => {
                    items.extend(text.char_indices().map(|at| Item { part, character: Some(at) }));
                }
                _ => items.push(Item { part, character: None }),
            }
        }
        let mut closing = vec![None; items.len()];
        let mut open = Vec::new();
        for (at, item) in items.iter().enumerate() {
            match item.character {
                Some((_, '{')) => {
                    if open.len() >= MAX_OPEN_BRACES {
                        return Err(BraceError::TooDeep);
                    }
                    open.push(at);
                }
                Some((_, '}')) => {
                    if let Some(brace) = open.pop() {
                        closing[brace] = Some(at);
                    }
                }
                _ => {}
            }
        }
        Ok(Self { word, items, closing })
    }

    fn character(&self, at: usize) -> Option<char> {
        self.items[at].character.map(|(_, character)| character)
    }

    /// Reads the items of a range. The recursion is as deep as braces are open.
    fn sequence(&self, range: Range<usize>) -> Result<Sequence, BraceError> {
        let mut nodes = Vec::new();
        let mut run = range.start;
        let mut at = range.start;
        while at < range.end {
            let Some(close) = self.closing[at].filter(|close| *close < range.end) else {
                at += 1;
                continue;
            };
            let node = match self.alternatives(at + 1..close)? {
                Some(node) => node,
                None => match self.counter(at, close)? {
                    Some(counter) => BraceNode::Generated(counter),
                    None => {
                        // Braces without comma and range are text; what is between them may still expand.
                        let empty_word_start = close == at + 1 && at == 0;
                        if !empty_word_start && self.goes_on(close + 1..range.end) {
                            return Err(BraceError::LateComma(self.item_span(at).to(self.item_span(close))));
                        }
                        at += 1;
                        continue;
                    }
                },
            };
            nodes.push(BraceNode::Run(run..at));
            nodes.push(node);
            at = close + 1;
            run = at;
        }
        nodes.push(BraceNode::Run(run..range.end));
        nodes.retain(|node| !matches!(node, BraceNode::Run(run) if run.is_empty()));
        Ok(Sequence { nodes })
    }

    /// Whether a comma and, behind it, a closing brace without an opening one follow.
    fn goes_on(&self, range: Range<usize>) -> bool {
        let (mut comma, mut at) = (false, range.start);
        while at < range.end {
            match self.character(at) {
                Some(',') => comma = true,
                Some('}') if comma => return true,
                _ => {}
            }
            at = self.closing[at].filter(|close| *close < range.end).unwrap_or(at) + 1;
        }
        false
    }

    fn alternatives(&self, range: Range<usize>) -> Result<Option<BraceNode>, BraceError> {
        let mut commas = Vec::new();
        let mut at = range.start;
        while at < range.end {
            if self.character(at) == Some(',') {
                commas.push(at);
            }
            at = self.closing[at].filter(|close| *close < range.end).unwrap_or(at) + 1;
        }
        if commas.is_empty() {
            return Ok(None);
        }
        commas.push(range.end);
        let mut start = range.start;
        let mut sequences = Vec::with_capacity(commas.len());
        for comma in commas {
            sequences.push(self.sequence(start..comma)?);
            start = comma + 1;
        }
        Ok(Some(BraceNode::Alternatives(sequences)))
    }

    /// `{x..y}` or `{x..y..step}`; `None` if it is neither.
    fn counter(&self, open: usize, close: usize) -> Result<Option<Counter>, BraceError> {
        // Longer texts hold no number of 64 bits.
        if close - open > 80 {
            return Ok(None);
        }
        let text: Option<String> = (open + 1..close).map(|at| self.character(at)).collect();
        let Some(text) = text else { return Ok(None) };
        let ends: Vec<&str> = text.split("..").collect();
        let (from, to, step) = match ends.as_slice() {
            [from, to] => (*from, *to, 1),
            [from, to, step] => match step.parse::<i64>() {
                Ok(step) => (*from, *to, step),
                Err(_) => return Ok(None),
            },
            _ => return Ok(None),
        };
        let span = self.item_span(open).to(self.item_span(close));
        let letter = |text: &str| match text.as_bytes() {
            [letter] if letter.is_ascii_alphabetic() => Some(*letter),
            _ => None,
        };
        let (first, last, letters) = match (letter(from), letter(to), from.parse::<i64>(), to.parse::<i64>()) {
            (Some(from), Some(to), _, _) => {
                if from.is_ascii_uppercase() != to.is_ascii_uppercase() {
                    return Err(BraceError::MixedCase(span));
                }
                (i128::from(from), i128::from(to), true)
            }
            (_, _, Ok(from), Ok(to)) => (i128::from(from), i128::from(to), false),
            _ => return Ok(None),
        };
        let padded = |text: &str| {
            let digits = text.trim_start_matches(['-', '+']);
            digits.len() > 1 && digits.starts_with('0')
        };
        let width = if !letters && (padded(from) || padded(to)) { from.len().max(to.len()) } else { 0 };
        let longest = from.len().max(to.len());
        let distance = i128::from(step).abs().max(1);
        let count = usize::try_from((last - first).abs() / distance + 1).unwrap_or(usize::MAX);
        let step = if last < first { -distance } else { distance };
        Ok(Some(Counter { from: first, step, count, letters, width, longest, span }))
    }

    /// How much a sequence gives. Everything saturates.
    fn measure(&self, sequence: &Sequence) -> Size {
        let mut total = Size { words: 1, bytes: 0 };
        for node in &sequence.nodes {
            let size = match node {
                BraceNode::Run(run) => Size { words: 1, bytes: self.bytes(run.clone()) },
                BraceNode::Generated(counter) => {
                    Size { words: counter.count, bytes: counter.count.saturating_mul(counter.longest) }
                }
                BraceNode::Alternatives(sequences) => {
                    sequences.iter().map(|sequence| self.measure(sequence)).fold(Size { words: 0, bytes: 0 }, |a, b| {
                        Size { words: a.words.saturating_add(b.words), bytes: a.bytes.saturating_add(b.bytes) }
                    })
                }
            };
            let own = total.bytes.saturating_mul(size.words);
            let other = size.bytes.saturating_mul(total.words);
            total = Size { words: total.words.saturating_mul(size.words), bytes: own.saturating_add(other) };
        }
        total
    }

    fn bytes(&self, run: Range<usize>) -> usize {
        let of_item = |item: &Item| match item.character {
            Some((_, character)) => character.len_utf8(),
            None => self.word.parts[item.part].span().len().max(1),
        };
        self.items[run].iter().map(of_item).sum()
    }

    fn item_span(&self, at: usize) -> Span {
        let Item { part, character } = self.items[at];
        let WordPart::Literal { text, span } = &self.word.parts[part] else { return self.word.parts[part].span() };
        match character {
            Some((offset, character)) if span.len() == text.len() => {
                Span::new(span.start + offset, span.start + offset + character.len_utf8())
            }
            _ => *span,
        }
    }

    /// Puts pieces together; characters that stand side by side in one part become one part again.
    fn word(&self, pieces: &[Piece]) -> Word {
        let mut parts: Vec<WordPart> = Vec::new();
        for piece in pieces {
            match piece {
                Piece::Text(text, span) => parts.push(WordPart::Quoted { text: text.clone(), span: *span }),
                Piece::Run(run) => self.append(run.clone(), &mut parts),
            }
        }
        take_tilde(&mut parts);
        Word { parts, span: self.word.span }
    }

    fn append(&self, run: Range<usize>, parts: &mut Vec<WordPart>) {
        let mut at = run.start;
        while at < run.end {
            let Item { part, character } = self.items[at];
            let Some((from, _)) = character else {
                parts.push(match &self.word.parts[part] {
                    // bash expands the tilde of `x=~` only in a word that it need not take apart.
                    WordPart::Tilde { user, span } if !parts.is_empty() => {
                        WordPart::Literal { text: format!("~{}", user.as_deref().unwrap_or_default()), span: *span }
                    }
                    other => other.clone(),
                });
                at += 1;
                continue;
            };
            let start = at;
            while at < run.end && self.items[at].part == part {
                at += 1;
            }
            let WordPart::Literal { text, .. } = &self.word.parts[part] else { continue };
            let to = self.items[at - 1].character.map_or(text.len(), |(offset, last)| offset + last.len_utf8());
            let span = self.item_span(start).to(self.item_span(at - 1));
            parts.push(WordPart::Literal { text: text[from..to].to_owned(), span });
        }
    }
}

/// Braces are expanded before tildes: `{~,x}/y`. A prefix may be put together from several pieces: `~{a,b}/c`.
fn take_tilde(parts: &mut Vec<WordPart>) {
    if !matches!(parts.first(), Some(WordPart::Literal { text, .. }) if text.starts_with('~')) {
        return;
    }
    let mut leading = String::new();
    let mut literals = 0;
    while let Some(WordPart::Literal { text, .. }) = parts.get(literals) {
        leading.push_str(text);
        literals += 1;
    }
    let Some((user, mut length)) = tilde_prefix(&leading, literals == parts.len()) else { return };
    let start = parts[0].span().start;
    let mut end = start;
    let mut used = 0;
    while let Some(WordPart::Literal { text, span: own }) = parts.get_mut(used) {
        if length < text.len() {
            if own.len() == text.len() {
                own.start += length;
                end = own.start;
            } else {
                end = own.end;
            }
            text.drain(..length);
            break;
        }
        length -= text.len();
        end = own.end;
        used += 1;
    }
    let span = Span::new(start, end);
    parts.splice(..used, [WordPart::Tilde { user, span }]);
}

/// A tilde prefix at the beginning of a text, and its length. `whole`: nothing follows the text.
fn tilde_prefix(text: &str, whole: bool) -> Option<(Option<String>, usize)> {
    let rest = text.strip_prefix('~')?;
    let length = rest.find('/').or(if whole { Some(rest.len()) } else { None })?;
    let user = &rest[..length];
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte);
    if !user.bytes().all(allowed) || user.starts_with(|first: char| first.is_ascii_digit() || first == '-') {
        return None;
    }
    Some((if user.is_empty() { None } else { Some(user.to_owned()) }, 1 + length))
}

/// All combinations, the leftmost changing slowest. Only called after [`Items::measure`].
fn generate(sequence: &Sequence) -> Vec<Vec<Piece>> {
    let mut results: Vec<Vec<Piece>> = vec![Vec::new()];
    for node in &sequence.nodes {
        let choices: Vec<Vec<Piece>> = match node {
            BraceNode::Run(run) => vec![vec![Piece::Run(run.clone())]],
            BraceNode::Alternatives(sequences) => sequences.iter().flat_map(generate).collect(),
            BraceNode::Generated(counter) => {
                counter.texts().map(|text| vec![Piece::Text(text, counter.span)]).collect()
            }
        };
        if let [only] = choices.as_slice() {
            for result in &mut results {
                result.extend(only.iter().cloned());
            }
            continue;
        }
        results = results
            .iter()
            .flat_map(|result| choices.iter().map(move |choice| [result.as_slice(), choice.as_slice()].concat()))
            .collect();
    }
    results
}

impl Counter {
    fn texts(&self) -> impl Iterator<Item = String> {
        (0..self.count).scan(self.from, |value, _| {
            let now = *value;
            *value += self.step;
            Some(match u8::try_from(now) {
                Ok(byte) if self.letters => char::from(byte).to_string(),
                _ => format!("{now:0width$}", width = self.width),
            })
        })
    }
}
