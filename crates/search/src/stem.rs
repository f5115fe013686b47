use std::borrow::Cow;

/// A suffix and how long a word must be to lose it, in bytes. The first that fits is used.
const SUFFIXES: [(&str, usize); 7] =
    [("ing", 6), ("tion", 6), ("ness", 6), ("ment", 6), ("er", 5), ("ed", 5), ("ly", 5)];

/// The word without a plural and one common English suffix: enough to bring `deploys`, `deployed` and `deploying` together.
pub(crate) fn stem(word: &str) -> Cow<'_, str> {
    if !word.is_ascii() {
        return Cow::Borrowed(word);
    }
    let singular = match word.strip_suffix('s') {
        Some(singular) if word.len() > 3 && !singular.ends_with(['s', 'u', 'i']) => singular,
        _ => word,
    };
    for (suffix, minimum) in SUFFIXES {
        if let Some(short) = singular.strip_suffix(suffix)
            && singular.len() >= minimum
        {
            return ending(if matches!(suffix, "ing" | "ed" | "er") { without_doubled_end(short) } else { short });
        }
    }
    ending(singular)
}

/// `running` and `run`: English doubles a final consonant before `ing`, `ed` and `er`.
fn without_doubled_end(stem: &str) -> &str {
    match stem.as_bytes() {
        [_, _, .., before, last] if before == last && !b"aeiouls".contains(last) => &stem[..stem.len() - 1],
        _ => stem,
    }
}

/// `release` and `releasing`, `query` and `queries`: the last letter that a suffix changes is made the same everywhere.
fn ending(stem: &str) -> Cow<'_, str> {
    match stem.as_bytes() {
        [_, _, _, .., b'e'] => Cow::Borrowed(&stem[..stem.len() - 1]),
        [_, .., before, b'y'] if stem.len() > 3 && !b"aeiou".contains(before) => {
            Cow::Owned(format!("{}i", &stem[..stem.len() - 1]))
        }
        _ => Cow::Borrowed(stem),
    }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_one_word_meet() {
        for forms in [
            &["deploy", "deploys", "deployed", "deploying"][..],
            &["release", "releases", "released", "releasing"],
            &["run", "runs", "running", "runner"],
            &["test", "tests", "tested", "testing", "tester", "testers"],
            &["merge", "merges", "merged", "merging"],
            &["query", "queries", "querying"],
            &["migration", "migrations"],
            &["process", "processes", "processing"],
            &["box", "boxes"],
        ] {
            let stems: Vec<_> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms:?} became {stems:?}");
        }
    }

    #[test]
    fn short_words_and_other_scripts_stay() {
        for word in ["es", "ed", "css", "bus", "status", "analysis", "api", "red", "部署", "équipes", ""] {
            assert_eq!(stem(word), word);
        }
    }
}
