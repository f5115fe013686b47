//! The order of a listing.

use super::entry::Entry;
use super::request::{Request, Sort};
use crate::escape::width;
use crate::version_order;
use std::cmp::Ordering;

/// Sorts entries as asked for; the locale's order of names is that of their bytes.
pub(super) fn sort(entries: &mut [Entry], request: &Request) {
    if request.sort != Sort::None {
        entries.sort_by(|a, b| {
            let order = compare(a, b, request);
            if request.reverse { order.reverse() } else { order }
        });
    }
    if request.directories_first {
        entries.sort_by_key(|entry| !entry.leads_to_directory());
    }
}

fn compare(a: &Entry, b: &Entry, request: &Request) -> Ordering {
    let by_name = || a.name.cmp(&b.name);
    match request.sort {
        Sort::Name | Sort::None => by_name(),
        Sort::Time => {
            let time = |entry: &Entry| entry.status.map(|status| request.time.of(&status));
            time(b).cmp(&time(a)).then_with(by_name)
        }
        Sort::Size => {
            let size = |entry: &Entry| entry.status.map(|status| status.size);
            size(b).cmp(&size(a)).then_with(by_name)
        }
        Sort::Extension => extension(&a.name).cmp(extension(&b.name)).then_with(by_name),
        Sort::Version => version_order::compare(&a.name, &b.name).then_with(by_name),
        Sort::Width => width(&a.name).cmp(&width(&b.name)).then_with(by_name),
    }
}

/// The last dot and what follows it; empty without one.
fn extension(name: &[u8]) -> &[u8] {
    name.iter().rposition(|byte| *byte == b'.').map_or(&[], |at| &name[at..])
}
