//! Bracket expressions and named classes.

use super::syntax::{Dialect, ExpressionError, unsupported, wrong};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};

const UNMATCHED: &str = "Unmatched [, [^, [:, [., or [=";
/// Beyond the last letter that has a case.
const LAST_CASED: char = '\u{1E950}';

/// Reads a bracket expression after its `[`, and gives it with the index after its `]`. A backslash in it is an ordinary
/// character.
pub(super) fn bracket(
    chars: &[char],
    mut at: usize,
    dialect: Dialect,
) -> Result<(ClassUnicode, usize), ExpressionError> {
    let mut set = ClassUnicode::empty();
    let negated = chars.get(at) == Some(&'^');
    at += usize::from(negated);
    let mut first = true;
    loop {
        let Some(c) = chars.get(at).copied() else { return wrong(UNMATCHED) };
        at += 1;
        match (c, chars.get(at)) {
            (']', _) if !first => break,
            ('[', Some(':')) => {
                let rest = &chars[at + 1..];
                let Some(end) = rest.windows(2).position(|pair| pair == [':', ']']) else { return wrong(UNMATCHED) };
                let name: String = rest[..end].iter().collect();
                let Some(class) = named(&name, dialect) else { return wrong("Invalid character class name") };
                set.union(&class);
                at += end + 3;
            }
            ('[', Some('.' | '=')) => return unsupported("a collating element in a bracket expression"),
            (low, Some('-')) if chars.get(at + 1).is_some_and(|end| *end != ']') => {
                let high = chars[at + 1];
                if high == '[' && matches!(chars.get(at + 2), Some('.' | '=' | ':')) {
                    return unsupported("a collating element in a bracket expression");
                }
                at += 2;
                if high < low {
                    return wrong("Invalid range end");
                }
                set.push(ClassUnicodeRange::new(low, high));
            }
            (c, _) => set.push(ClassUnicodeRange::new(c, c)),
        }
        first = false;
    }
    if dialect.fold_case {
        set.case_fold_simple();
    }
    if negated {
        if !dialect.newline_is_ordinary {
            set.push(ClassUnicodeRange::new('\n', '\n'));
        }
        set.negate();
    }
    Ok((set, at))
}

/// Every character, or every one but the newline.
pub(super) fn any(dialect: Dialect) -> ClassUnicode {
    let mut set = ClassUnicode::empty();
    if !dialect.newline_is_ordinary {
        set.push(ClassUnicodeRange::new('\n', '\n'));
    }
    set.negate();
    set
}

/// One character, with its other case where case is ignored.
pub(super) fn character(c: char, dialect: Dialect) -> ClassUnicode {
    let mut set = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
    if dialect.fold_case {
        set.case_fold_simple();
    }
    set
}

/// A class by the name it has between `[:` and `:]`. The regex crates know those names for ASCII only.
fn named(name: &str, dialect: Dialect) -> Option<ClassUnicode> {
    let text = match name {
        // With case ignored these two stand for letters of either case.
        "lower" | "upper" if dialect.fold_case => r"[\w--[_\d]]",
        "lower" => return Some(cased(char::is_lowercase)),
        "upper" => return Some(cased(char::is_uppercase)),
        "alnum" => r"[\w--_]",
        "alpha" => r"[\w--[_\d]]",
        "blank" => "[[:blank:]]",
        "cntrl" => r"[[:cntrl:]\x{80}-\x{9f}]",
        "digit" => "[[:digit:]]",
        "graph" => r"[^\s[:cntrl:]\x{80}-\x{9f}]",
        "print" => r"[^[:cntrl:]\x{80}-\x{9f}]",
        "punct" => r"[[:punct:][^\w\s[:ascii:]\x{80}-\x{9f}]]",
        "space" => r"\s",
        "xdigit" => "[[:xdigit:]]",
        _ => return None,
    };
    parsed(text)
}

fn cased(is: fn(char) -> bool) -> ClassUnicode {
    ClassUnicode::new(('\0'..LAST_CASED).filter(|c| is(*c)).map(|c| ClassUnicodeRange::new(c, c)))
}

/// `\w`, `\s` and their opposites.
pub(super) fn escape(letter: char) -> Option<ClassUnicode> {
    parsed(match letter {
        'w' => r"\w",
        'W' => r"\W",
        's' => r"\s",
        _ => r"\S",
    })
}

fn parsed(text: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(text).map(Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(set))) => Some(set),
        _ => None,
    }
}
