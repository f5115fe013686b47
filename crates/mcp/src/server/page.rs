//! Lists in pages. A cursor names the last entry that was given, so that a list that changes between two pages loses none of the
//! others.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::ErrorData;
use rmcp::model::PaginatedRequestParams;

/// Entries of one page.
pub(super) const PAGE: usize = 100;

/// One page of `items`, which are in the order of their keys, and the cursor of the next.
pub(super) fn page<T>(
    items: Vec<T>,
    key: impl Fn(&T) -> String,
    request: Option<&PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let after = match request.and_then(|request| request.cursor.as_deref()) {
        Some(cursor) => Some(decoded(cursor)?),
        None => None,
    };
    let mut rest = items.into_iter().filter(|item| after.as_ref().is_none_or(|after| key(item) > *after)).peekable();
    let page: Vec<T> = rest.by_ref().take(PAGE).collect();
    let next = match (rest.peek(), page.last()) {
        (Some(_), Some(last)) => Some(URL_SAFE_NO_PAD.encode(key(last))),
        _ => None,
    };
    Ok((page, next))
}

fn decoded(cursor: &str) -> Result<String, ErrorData> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok();
    bytes
        .and_then(|bytes| String::from_utf8(bytes).ok())
        .ok_or_else(|| ErrorData::invalid_params("the cursor is none that was given", None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: u32) -> Vec<String> {
        (0..count).map(|number| format!("{number:05}")).collect()
    }

    fn next(items: Vec<String>, cursor: Option<String>) -> (Vec<String>, Option<String>) {
        let request = PaginatedRequestParams::default().with_cursor(cursor);
        page(items, Clone::clone, Some(&request)).expect("a cursor of ours")
    }

    #[test]
    fn pages_together_are_the_list_also_when_it_changes_between_them() {
        let mut items = numbers(250);
        let (first, cursor) = next(items.clone(), None);
        // What was given already is gone, with the entry that the cursor names.
        items.drain(..150);
        items.push("99999".to_owned());
        let (second, end) = next(items, cursor);
        assert_eq!((first.len(), second.len(), end.is_some()), (PAGE, PAGE, true));
        assert_eq!(second[0], "00150");
    }

    #[test]
    fn the_last_page_has_no_cursor_and_foreign_cursors_are_refused() {
        let (all, cursor) = next(numbers(100), None);
        assert_eq!((all.len(), cursor), (100, None));
        let request = PaginatedRequestParams::default().with_cursor(Some("*".to_owned()));
        assert!(page(numbers(3), Clone::clone, Some(&request)).is_err());
    }
}
