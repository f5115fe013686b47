use crate::stem::stem;

/// Words that say nothing about a skill: the description's own list, and the words of which questions are made.
fn is_stop_word(word: &str) -> bool {
    let listed = matches!(
        word,
        "a" | "an"
            | "the"
            | "is"
            | "are"
            | "to"
            | "of"
            | "in"
            | "for"
            | "on"
            | "with"
            | "and"
            | "or"
            | "if"
            | "this"
            | "that"
            | "use"
            | "using"
            | "used"
            | "you"
            | "your"
    );
    listed
        || matches!(
            word,
            "about"
                | "all"
                | "am"
                | "any"
                | "as"
                | "at"
                | "be"
                | "been"
                | "before"
                | "but"
                | "by"
                | "can"
                | "could"
                | "did"
                | "do"
                | "does"
                | "from"
                | "get"
                | "has"
                | "have"
                | "help"
                | "how"
                | "i"
                | "into"
                | "it"
                | "its"
                | "let"
                | "like"
                | "make"
                | "me"
                | "my"
                | "need"
                | "not"
                | "our"
                | "out"
                | "please"
                | "should"
                | "skill"
                | "so"
                | "some"
                | "than"
                | "them"
                | "then"
                | "there"
                | "they"
                | "us"
                | "want"
                | "was"
                | "we"
                | "what"
                | "when"
                | "where"
                | "which"
                | "who"
                | "will"
                | "would"
        )
}

/// A text becomes this many tokens at most: a query is a sentence, a description has its own cap long before this.
pub(crate) const MAX_TOKENS: usize = 2_048;

/// Calls `each` with every token of `text`, in order: stemmed words of letters and digits, the parts of words joined by `-` or
/// `_` beside the whole, and the characters of scripts without spaces, alone and in pairs.
pub(crate) fn tokenize(text: &str, mut each: impl FnMut(&str)) {
    let mut left = MAX_TOKENS;
    let mut emit = |token: &str| {
        if left > 0 && !token.is_empty() {
            left -= 1;
            each(token);
        }
    };
    let mut word = String::new();
    let mut previous: Option<char> = None;
    let mut pair = String::new();
    for c in text.chars().map(narrow).flat_map(char::to_lowercase) {
        if is_unspaced(c) {
            end_word(&mut word, &mut emit);
            if let Some(first) = previous {
                pair.clear();
                pair.extend([first, c]);
                emit(&pair);
            }
            emit(c.encode_utf8(&mut [0; 4]));
            previous = Some(c);
            continue;
        }
        previous = None;
        if c.is_alphanumeric() || (matches!(c, '-' | '_') && !word.is_empty()) {
            word.push(c);
        } else {
            end_word(&mut word, &mut emit);
        }
    }
    end_word(&mut word, &mut emit);
}

fn end_word(word: &mut String, emit: &mut impl FnMut(&str)) {
    let whole = word.trim_matches(['-', '_']);
    if whole.contains(['-', '_']) {
        emit(whole);
        for part in whole.split(['-', '_']) {
            if part.len() >= 2 {
                emit_word(part, emit);
            }
        }
    } else {
        emit_word(whole, emit);
    }
    word.clear();
}

fn emit_word(word: &str, emit: &mut impl FnMut(&str)) {
    if !is_stop_word(word) {
        emit(&stem(word));
    }
}

/// The ASCII form of a full-width letter, digit or sign, which Chinese and Japanese texts contain.
pub(crate) fn narrow(c: char) -> char {
    match u32::from(c) {
        code @ 0xff01..=0xff5e => char::from_u32(code - 0xfee0).unwrap_or(c),
        0x3000 => ' ',
        _ => c,
    }
}

/// Whether the script writes no spaces between words: Chinese, and Japanese and Korean, which share its characters or its
/// problem.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(
        u32::from(c),
        0x3400..=0x4dbf | 0x4e00..=0x9fff | 0xf900..=0xfaff | 0x2_0000..=0x3_ffff | 0x3040..=0x30ff | 0xac00..=0xd7af
    )
}

#[cfg(test)]
mod tests {
    use super::{MAX_TOKENS, tokenize};

    fn tokens(text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        tokenize(text, |token| tokens.push(token.to_owned()));
        tokens
    }

    #[test]
    fn words_are_lowered_stemmed_and_stopped() {
        assert_eq!(tokens("Deploying the Sites, and you?"), ["deploy", "sit"]);
        assert_eq!(tokens(""), Vec::<String>::new());
        assert_eq!(tokens("--- __ -"), Vec::<String>::new());
    }

    #[test]
    fn a_joined_word_is_found_by_its_parts_and_whole() {
        assert_eq!(tokens("pull-request"), ["pull-request", "pull", "request"]);
        assert_eq!(tokens("--dry_run-"), ["dry_run", "dry", "run"]);
    }

    #[test]
    fn chinese_gives_pairs_and_characters() {
        assert_eq!(tokens("部署的站"), ["部", "部署", "署", "署的", "的", "的站", "站"]);
        assert_eq!(tokens("用API部署"), ["用", "api", "部", "部署", "署"]);
        assert_eq!(tokens("ＡＰＩ　文档"), ["api", "文", "文档", "档"]);
    }

    #[test]
    fn one_chinese_character_is_a_token() {
        assert_eq!(tokens("画"), ["画"]);
    }

    #[test]
    fn a_text_of_any_length_gives_a_bounded_number() {
        assert_eq!(tokens(&"word ".repeat(MAX_TOKENS)).len(), MAX_TOKENS);
        assert_eq!(tokens(&"word ".repeat(MAX_TOKENS + 1)).len(), MAX_TOKENS);
    }
}
