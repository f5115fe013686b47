/// Why a character shows nothing, or changes how its neighbours are shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum InvisibleKind {
    /// Takes no room: zero-width space and joiners, word joiner, soft hyphen, fillers.
    ZeroWidth,
    /// Changes the direction in which text is shown.
    BidiControl,
    /// A tag character (U+E0000 to U+E007F): text that no font shows.
    Tag,
    /// A variation selector.
    VariationSelector,
}

impl InvisibleKind {
    /// The kind in words.
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            InvisibleKind::ZeroWidth => "zero-width character",
            InvisibleKind::BidiControl => "bidirectional control",
            InvisibleKind::Tag => "tag character",
            InvisibleKind::VariationSelector => "variation selector",
        }
    }
}

/// Says whether a character is invisible, and in which way. White space and ordinary controls are not.
#[must_use]
pub fn classify_invisible(c: char) -> Option<InvisibleKind> {
    match c {
        '\u{00ad}'
        | '\u{034f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2064}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}' => Some(InvisibleKind::ZeroWidth),
        '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some(InvisibleKind::BidiControl)
        }
        '\u{e0000}'..='\u{e007f}' => Some(InvisibleKind::Tag),
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Some(InvisibleKind::VariationSelector)
        }
        _ => None,
    }
}

/// `text` as a person may be shown it: without invisible characters.
#[must_use]
pub fn without_invisible(text: &str) -> String {
    text.chars().filter(|c| classify_invisible(*c).is_none()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_is_found_and_taken_out() {
        for (c, kind) in [
            ('\u{200b}', InvisibleKind::ZeroWidth),
            ('\u{202e}', InvisibleKind::BidiControl),
            ('\u{e0041}', InvisibleKind::Tag),
            ('\u{fe0f}', InvisibleKind::VariationSelector),
        ] {
            assert_eq!(classify_invisible(c), Some(kind));
            assert_eq!(without_invisible(&format!("a{c}b")), "ab");
        }
        for c in ['a', ' ', '\n', '\t', 'é', '字', '\u{a0}'] {
            assert_eq!(classify_invisible(c), None, "{c:?}");
        }
    }
}
