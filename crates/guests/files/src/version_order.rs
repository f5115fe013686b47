//! The order of versions: `ls -v`, GNU's `filevercmp`.

use std::cmp::Ordering;

/// Compares two names as versions: runs of digits by their numbers, what stands between them by a byte order in which `~` is
/// less than the end, and letters less than other signs.
pub(crate) fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let special = |name: &[u8]| match name {
        b"" => 0,
        b"." => 1,
        b".." => 2,
        [b'.', ..] => 3,
        _ => 4,
    };
    let by_kind = special(a).cmp(&special(b));
    if by_kind != Ordering::Equal || special(a) < 3 {
        return by_kind;
    }
    let (stem_a, stem_b) = (stem(a), stem(b));
    let by_stem = runs(stem_a, stem_b);
    if by_stem != Ordering::Equal || (stem_a.len() == a.len() && stem_b.len() == b.len()) {
        by_stem
    } else {
        runs(a, b)
    }
}

/// The name without its suffixes `(\.[A-Za-z~][A-Za-z0-9~]*)*`.
fn stem(name: &[u8]) -> &[u8] {
    let mut end = name.len();
    loop {
        let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'~';
        let Some(dot) = name[..end].iter().rposition(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'~')) else {
            return &name[..end];
        };
        let suffix = &name[dot + 1..end];
        if dot == 0 || name[dot] != b'.' || !suffix.first().is_some_and(|byte| begins(*byte)) {
            return &name[..end];
        }
        end = dot;
    }
}

fn weight(byte: Option<&u8>) -> i32 {
    match byte {
        None => -1,
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_alphabetic() => i32::from(*byte),
        Some(b'~') => -2,
        Some(byte) => i32::from(*byte) + 256,
    }
}

fn runs(a: &[u8], b: &[u8]) -> Ordering {
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let digit = |text: &[u8], at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
        while (i < a.len() && !digit(a, i)) || (j < b.len() && !digit(b, j)) {
            let order = weight(a.get(i)).cmp(&weight(b.get(j)));
            if order != Ordering::Equal {
                return order;
            }
            (i, j) = (i + 1, j + 1);
        }
        while a.get(i) == Some(&b'0') {
            i += 1;
        }
        while b.get(j) == Some(&b'0') {
            j += 1;
        }
        let mut first = Ordering::Equal;
        while digit(a, i) && digit(b, j) {
            first = first.then(a[i].cmp(&b[j]));
            (i, j) = (i + 1, j + 1);
        }
        match (digit(a, i), digit(b, j)) {
            (true, _) => return Ordering::Greater,
            (_, true) => return Ordering::Less,
            _ if first != Ordering::Equal => return first,
            _ => {}
        }
    }
    Ordering::Equal
}

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn versions_are_in_their_order() {
        let ordered = [".", "..", ".a", "a~", "a", "a1", "a1.tar.gz", "a2", "a10", "a10.1", "b"];
        let mut names = ordered;
        names.reverse();
        names.sort_by(|a, b| compare(a.as_bytes(), b.as_bytes()));
        assert_eq!(names, ordered);
    }
}
