//! What stands in a text that gives a rule any chance, found in two fast passes. Most texts hold next to none of it, and the
//! rules then have nothing to read.

use super::secret;
use aho_corasick::packed::Searcher;
use memchr::memmem;
use skillgate_core::Span;
use std::sync::LazyLock;

/// Three bytes of every word without which no command is found, in small letters: `curl`, `wget`, `iwr`, `irm`, `invoke-…`,
/// `base64` and `base32`, `xxd`, `openssl`, `uudecode`, `.downloadstring`, `powershell`, `pwsh`.
const WORDS: [&str; 13] = ["url", "wge", "iwr", "irm", "nvo", "e64", "e32", "xxd", "ssl", "uud", ".do", "rsh", "pws"];

/// With `-c` behind it a command too; only in small letters.
const PYTHON: &str = "python";

/// What HTML comments and reference comments hold.
const COMMENTS: [&str; 2] = ["<!-", "]: "];

/// The places of the signs in one text.
#[derive(Debug, Default)]
pub(super) struct Signs {
    /// Where words stand that bring in or hide a program, in order.
    commands: Vec<Place>,
    /// Whether there may be a comment.
    pub(super) comments: bool,
    /// Which credentials may be there.
    pub(super) secrets: secret::Present,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    at: usize,
    python: bool,
}

/// Makes small letters of capital ones; other characters become one another too, so that what is found is looked at again.
fn folded(byte: u8) -> u8 {
    byte | 0x20
}

/// What stands in any case, searched for in folded text. `None`, here and below, on processors without the instructions for
/// it; then every place is looked at.
static ANY_CASE: LazyLock<Option<Searcher>> = LazyLock::new(|| {
    let words = WORDS.into_iter().chain([PYTHON]).chain(COMMENTS);
    Searcher::new(words.map(|word| word.bytes().map(folded).collect::<Vec<_>>()))
});

/// What stands in one case.
static ONE_CASE: LazyLock<Option<Searcher>> = LazyLock::new(|| Searcher::new(secret::beginnings()));

/// Every place at which the searcher finds something; one may begin inside another.
fn places<'t>(searcher: Option<&'t Searcher>, text: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    let mut at = 0;
    std::iter::from_fn(move || {
        let place = match searcher {
            Some(searcher) => searcher.find_in(text, (at..text.len()).into())?.start(),
            None => Some(at).filter(|at| *at < text.len())?,
        };
        at = place + 1;
        Some(place)
    })
}

impl Signs {
    /// Finds the signs of `text`.
    pub(super) fn find(text: &str) -> Self {
        let mut found = Self::default();
        let bytes = text.as_bytes();
        let folded: Vec<u8> = bytes.iter().copied().map(folded).collect();
        places(ANY_CASE.as_ref(), &folded).for_each(|at| found.add(bytes, at));
        places(ONE_CASE.as_ref(), bytes).for_each(|at| found.secrets.add(bytes, at));
        found
    }

    /// Takes what stands at `at`, if it is a sign.
    fn add(&mut self, bytes: &[u8], at: usize) {
        let rest = &bytes[at..];
        let is_word = |three: &[u8; 3]| {
            let three = three.map(folded);
            WORDS.iter().any(|word| word.as_bytes() == three)
        };
        let python = rest.starts_with(PYTHON.as_bytes());
        if python || rest.first_chunk().is_some_and(is_word) {
            self.commands.push(Place { at, python });
        }
        self.comments |= COMMENTS.iter().any(|sign| rest.starts_with(sign.as_bytes()));
    }

    /// The signs of the part of the text that begins at `start`.
    pub(super) fn from(mut self, start: usize) -> Self {
        let before = self.commands.partition_point(|place| place.at < start);
        self.commands.drain(..before);
        self.commands.iter_mut().for_each(|place| place.at -= start);
        self
    }

    /// The places in `span` of words that bring in or hide a program.
    pub(super) fn commands(&self, span: Span) -> impl Iterator<Item = usize> + '_ {
        let from = self.commands.partition_point(|place| place.at < span.start);
        self.commands[from..].iter().map(|place| place.at).take_while(move |at| *at < span.end)
    }

    /// Whether `text[span]` holds a word that brings in or hides a program, in any case; `text` is what the signs were found
    /// in. Most texts do not, and are not read.
    pub(super) fn may_run(&self, text: &str, span: Span) -> bool {
        let from = self.commands.partition_point(|place| place.at < span.start);
        let mut places = self.commands[from..].iter().take_while(|place| place.at < span.end);
        let mut seen_python = false;
        places.any(|place| {
            if !place.python {
                return place.at + 3 <= span.end;
            }
            // What is not behind the first is behind no other.
            !std::mem::replace(&mut seen_python, true)
                && memmem::find(&text.as_bytes()[place.at..span.end], b"-c").is_some()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn may_run(text: &str) -> bool {
        Signs::find(text).may_run(text, Span::new(0, text.len()))
    }

    #[test]
    fn a_text_is_passed_over_only_if_it_holds_none_of_the_words() {
        let words = [
            "curl",
            "wget",
            "iwr",
            "irm",
            "invoke-webrequest",
            "invoke-restmethod",
            "base64",
            "gbase64",
            "base32",
            "xxd",
            "openssl",
            "uudecode",
            "x.downloadstring",
            "x::frombase64string",
            "powershell",
            "pwsh",
            "python3 -c",
        ];
        for word in words {
            for length in 0..70 {
                assert!(may_run(&format!("{}{word}", ".".repeat(length))), "{word} behind {length}");
                let word = if word.starts_with("python") { word.to_owned() } else { word.to_uppercase() };
                assert!(may_run(&format!("{}{word}{}", " ".repeat(length), ".".repeat(40))), "{word} behind {length}");
            }
        }
        for text in ["", "a", "git log | head -n 3", "python3 run.py", "-c python", &"many words ".repeat(20)] {
            assert!(!may_run(text), "{text}");
        }
    }

    #[test]
    fn signs_are_found_inside_one_another_and_belong_to_their_part() {
        let text = "xoxxd curl [//]: # (x) python python -c";
        let signs = Signs::find(text);
        assert_eq!(signs.commands(Span::new(0, text.len())).collect::<Vec<_>>(), [2, 7, 23, 30]);
        assert!(signs.comments && !signs.may_run(text, Span::new(0, 4)) && !signs.may_run(text, Span::new(10, 37)));
        assert!(signs.may_run(text, Span::new(0, 5)) && signs.may_run(text, Span::new(10, 39)));
        assert_eq!(signs.from(6).commands(Span::new(0, 10)).collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn every_place_or_only_the_likely_ones_come_to_the_same() {
        let text = "Invoke-WebRequest <!-- a --> base64 \u{e4} ghp_ sk-live -----BEGIN ]: cURL".repeat(3);
        let found = Signs::find(&text);
        let mut every = Signs::default();
        places(None, text.as_bytes()).for_each(|at| {
            every.add(text.as_bytes(), at);
            every.secrets.add(text.as_bytes(), at);
        });
        assert_eq!(format!("{found:?}"), format!("{every:?}"));
    }
}
