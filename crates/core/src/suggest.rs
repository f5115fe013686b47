/// The names nearest to `wanted`, best first, at most three: those within a third of its length in edits (at least two), and
/// those that begin with it.
pub fn nearest<'a>(wanted: &str, names: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let bound = (wanted.chars().count() / 3).max(2);
    let mut found: Vec<(usize, &str)> = names
        .into_iter()
        .filter_map(|name| {
            if !wanted.is_empty() && name.starts_with(wanted) {
                return Some((1, name));
            }
            let edits = edit_distance(wanted, name, bound)?;
            Some((edits, name))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().take(3).map(|(_, name)| name).collect()
}

/// Edit distance with transpositions, ignoring ASCII case; `None` above `bound`.
fn edit_distance(a: &str, b: &str, bound: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().map(|c| c.to_ascii_lowercase()).collect();
    let b: Vec<char> = b.chars().map(|c| c.to_ascii_lowercase()).collect();
    if a.len().abs_diff(b.len()) > bound {
        return None;
    }
    let mut before = vec![0; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let substitution = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = substitution.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut last, row);
    }
    (last[b.len()] <= bound).then_some(last[b.len()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_first_and_far_ones_not_at_all() {
        let names = ["review", "review-pr", "deploy", "preview"];
        assert_eq!(nearest("reveiw", names), ["review", "preview"]);
        assert_eq!(nearest("rev", names), ["review", "review-pr"]);
        assert_eq!(nearest("zzzz", names), Vec::<&str>::new());
    }
}
