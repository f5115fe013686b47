use crate::carrier::{awk_is_plain, carrier, sed_is_plain};
use crate::request::Known;

/// Commands that only transform their standard input, when no option says otherwise.
const FILTERS: &[&str] = &[
    "awk",
    "base64",
    "cat",
    "column",
    "comm",
    "cut",
    "egrep",
    "expand",
    "fgrep",
    "fmt",
    "fold",
    "grep",
    "head",
    "join",
    "jq",
    "md5sum",
    "nl",
    "od",
    "paste",
    "rev",
    "sed",
    "sha256sum",
    "sort",
    "tac",
    "tail",
    "tr",
    "unexpand",
    "uniq",
    "wc",
    "xxd",
];

/// Whether a vector is one of the stream filters that need no grant of their own: they run with nothing mounted, so all they
/// can do is transform what they were given.
#[must_use]
pub fn is_pure_filter(vector: &[Known<'_>]) -> bool {
    let Some((Known::Text(name), rest)) = vector.split_first() else { return false };
    if FILTERS.binary_search(name).is_err() || carrier(vector).is_some() {
        return false;
    }
    let mut texts = rest.iter().filter_map(|word| match word {
        Known::Text(text) => Some(*text),
        Known::Unknown => None,
    });
    match *name {
        // What a script does is seen when the whole vector exists.
        "awk" | "sed" if rest.contains(&Known::Unknown) => true,
        "awk" => awk_is_plain(texts),
        "sed" => sed_is_plain(texts),
        "grep" | "egrep" | "fgrep" => !texts.any(|word| {
            word.starts_with("--file") || (word.starts_with('-') && !word.starts_with("--") && word.contains('f'))
        }),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_filters_need_no_grant() {
        assert!(FILTERS.is_sorted());
        for (line, filter) in [
            ("head -5", true),
            ("grep -c x", true),
            ("grep -f x", false),
            ("grep -rf x", false),
            ("grep --file=x", false),
            ("sed -n 1p", true),
            ("sed -n w", false),
            ("sed p -i", false),
            ("sed -ni.bak p", false),
            ("sed --in-pl=.bak p", false),
            ("sed -nf x", false),
            ("sed --fil=x", false),
            ("sed -e p -f x", false),
            ("sed r", false),
            ("sed s/a/b/we", false),
            ("sed 1{s/a/b/e}", false),
            ("awk {print}", true),
            ("awk BEGIN{getline}", false),
            ("jq .a", true),
            ("jq --rawfile a b .", false),
            ("jq --slurpf a b .", false),
            ("jq --from-f x", false),
            ("jq -nrf x", false),
            ("jq -Ldir .", false),
            ("jq -rc .a", true),
            ("git log", false),
            ("ls", false),
            ("/bin/cat", false),
        ] {
            let words: Vec<Known<'_>> = line.split(' ').map(Known::Text).collect();
            assert_eq!(is_pure_filter(&words), filter, "{line}");
        }
    }
}
