//! Sets of characters.

/// What a set is made of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Class {
    Range(char, char),
    Named(Name),
    Not(Box<Class>),
    Any(Vec<Class>),
    /// `&&`.
    All(Vec<Class>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    Alnum,
    Alpha,
    Ascii,
    Blank,
    Control,
    Digit,
    Graph,
    Lower,
    Print,
    Punct,
    Space,
    Upper,
    Word,
    Hex,
}

impl Name {
    /// A name between `[:` and `:]`, or of a property.
    pub(super) fn of(text: &str) -> Option<Self> {
        Some(match text.to_ascii_lowercase().as_str() {
            "alnum" => Self::Alnum,
            "alpha" | "l" | "letter" => Self::Alpha,
            "ascii" => Self::Ascii,
            "blank" => Self::Blank,
            "cntrl" | "cc" => Self::Control,
            "digit" | "nd" => Self::Digit,
            "graph" => Self::Graph,
            "lower" | "ll" => Self::Lower,
            "print" => Self::Print,
            "punct" => Self::Punct,
            "space" => Self::Space,
            "upper" | "lu" => Self::Upper,
            "word" => Self::Word,
            "xdigit" => Self::Hex,
            _ => return None,
        })
    }

    fn contains(self, c: char) -> bool {
        match self {
            Self::Alnum => c.is_alphanumeric(),
            Self::Alpha => c.is_alphabetic(),
            Self::Ascii => c.is_ascii(),
            Self::Blank => c == ' ' || c == '\t',
            Self::Control => c.is_control(),
            // Digits of other scripts are not known here.
            Self::Digit => c.is_ascii_digit(),
            Self::Graph => !c.is_whitespace() && !c.is_control(),
            Self::Lower => c.is_lowercase(),
            Self::Print => !c.is_control(),
            Self::Punct => c.is_ascii_punctuation(),
            Self::Space => c.is_whitespace(),
            Self::Upper => c.is_uppercase(),
            Self::Word => c.is_alphanumeric() || c == '_',
            Self::Hex => c.is_ascii_hexdigit(),
        }
    }
}

impl Class {
    pub(super) fn contains(&self, c: char) -> bool {
        match self {
            Self::Range(low, high) => (*low..=*high).contains(&c),
            Self::Named(name) => name.contains(c),
            Self::Not(class) => !class.contains(c),
            Self::Any(classes) => classes.iter().any(|class| class.contains(c)),
            Self::All(classes) => classes.iter().all(|class| class.contains(c)),
        }
    }

    /// Whether it contains a character in either case.
    pub(super) fn contains_folded(&self, c: char) -> bool {
        self.contains(c) || c.to_lowercase().any(|c| self.contains(c)) || c.to_uppercase().any(|c| self.contains(c))
    }
}

/// Whether two characters are the same but for their case.
pub(super) fn same_folded(one: char, other: char) -> bool {
    one == other || one.to_lowercase().eq(other.to_lowercase())
}

pub(super) fn is_word(c: Option<&char>) -> bool {
    c.is_some_and(|c| Name::Word.contains(*c))
}
