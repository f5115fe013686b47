//! The long format.

use super::entry::{Entry, Prefixes};
use super::indicator;
use super::request::{Request, TimeStyle};
use crate::escape::shown;
use guest_files::{Moment, Status, civil, group_name, user_name};

/// A column: its texts with whether they are numbers, which stand at the right.
struct Column {
    cells: Vec<(String, bool)>,
    width: usize,
}

impl Column {
    /// `unknown_right`: where the mark of what cannot be told stands.
    fn of(entries: &[Entry], others: &[Entry], unknown_right: bool, cell: impl Fn(&Status) -> (String, bool)) -> Self {
        let shown = |entry: &Entry| entry.status.as_ref().map_or_else(|| ("?".to_owned(), unknown_right), &cell);
        let cells: Vec<_> = entries.iter().map(shown).collect();
        let wider = others.iter().map(|entry| shown(entry).0.len());
        let width = cells.iter().map(|(text, _)| text.len()).chain(wider).max().unwrap_or(0);
        Self { cells, width }
    }

    fn put(&self, at: usize, line: &mut Vec<u8>) {
        let Some((text, right)) = self.cells.get(at) else { return };
        let width = self.width;
        let padded = if *right { format!("{text:>width$} ") } else { format!("{text:<width$} ") };
        line.extend_from_slice(padded.as_bytes());
    }
}

/// The lines of a listing in the long format, without their ends; columns are as wide as those of `others` need them too.
pub(super) fn lines(entries: &[Entry], others: &[Entry], request: &Request) -> Vec<Vec<u8>> {
    let named = |id: u32, name: Option<&str>| match name.filter(|_| !request.numeric) {
        Some(name) => (name.to_owned(), false),
        None => (id.to_string(), true),
    };
    let links = Column::of(entries, others, true, |status| (status.links.to_string(), true));
    let owners = Column::of(entries, others, false, |status| named(status.owner, user_name(status.owner)));
    let groups = Column::of(entries, others, false, |status| named(status.group, group_name(status.group)));
    let sizes = Column::of(entries, others, true, |status| (request.size_unit.shown(status.size), true));
    let now = civil::now();
    let dates =
        Column::of(entries, others, true, |status| (date(request.time.of(status), now, &request.time_style), true));
    let before = Prefixes::of(entries.iter().chain(others), request);
    let line = |(at, entry): (usize, &Entry)| {
        let mut line = before.before(entry);
        let mode = entry.status.map_or_else(|| format!("{}?????????", entry.unknown), |status| status.mode_text());
        line.extend_from_slice(mode.as_bytes());
        line.push(b' ');
        links.put(at, &mut line);
        if request.owner {
            owners.put(at, &mut line);
        }
        if request.group {
            groups.put(at, &mut line);
        }
        sizes.put(at, &mut line);
        dates.put(at, &mut line);
        line.extend_from_slice(&shown(&entry.name, request.style));
        if let Some(target) = &entry.target {
            line.extend_from_slice(b" -> ");
            line.extend_from_slice(&shown(target, request.style));
            let (kind, mode) = (entry.target_status.map(|status| status.kind()), entry.target_status);
            line.extend_from_slice(indicator(kind, mode.map_or(0, |status| status.mode), request));
        } else {
            let kind = entry.status.map(|status| status.kind());
            line.extend_from_slice(indicator(kind, entry.status.map_or(0, |status| status.mode), request));
        }
        line
    };
    entries.iter().enumerate().map(line).collect()
}

fn date(moment: Moment, now: Moment, style: &TimeStyle) -> String {
    let recent = civil::is_recent(moment, now);
    // The formats were looked at when the command line was read.
    let formatted = |format: &str| civil::formatted(format, moment).unwrap_or_default();
    match style {
        TimeStyle::Locale => civil::listed(moment, now),
        TimeStyle::FullIso => formatted("%F %T.%N %z"),
        TimeStyle::LongIso => formatted("%F %R"),
        TimeStyle::Iso if recent => formatted("%m-%d %R"),
        TimeStyle::Iso => formatted("%F "),
        TimeStyle::Custom { recent: format, .. } if recent => formatted(format),
        TimeStyle::Custom { old, .. } => formatted(old),
    }
}
