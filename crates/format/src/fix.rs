//! Applying machine-applicable fixes.

use crate::document::Document;
use crate::options::ReadOptions;
use skillgate_core::{Diagnostic, Fix};

/// Rounds after which [`fix_all`] stops; each applies what did not overlap in the one before.
const MAX_ROUNDS: usize = 8;

/// Applies the fixes of `diagnostics` to `text`, which must be the text they were found in ([`Document::source`]). Where two
/// overlap the first in the text is applied; reading the result again finds the other.
#[must_use]
pub fn apply_fixes<'a>(text: &str, diagnostics: impl IntoIterator<Item = &'a Diagnostic>) -> String {
    let mut fixes: Vec<&Fix> = diagnostics.into_iter().filter_map(|found| found.fix.as_ref()).collect();
    fixes.sort_by_key(|fix| (fix.span.start, fix.span.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for fix in fixes {
        let fits = fix.span.start >= at && fix.span.slice(text).is_some();
        if fits {
            out.push_str(&text[at..fix.span.start]);
            out.push_str(&fix.replacement);
            at = fix.span.end;
        }
    }
    out.push_str(&text[at..]);
    out
}

/// Reads, fixes and reads again until no diagnostic has a fix, and gives the last document; its source is the fixed text.
/// Fixing a fixed text changes nothing.
#[must_use]
pub fn fix_all(bytes: &[u8], options: &ReadOptions) -> Document {
    let mut document = Document::read(bytes, options);
    for _ in 0..MAX_ROUNDS {
        if document.diagnostics().iter().all(|found| found.fix.is_none()) {
            break;
        }
        let fixed = apply_fixes(document.source(), document.diagnostics());
        if fixed == document.source() {
            break;
        }
        document = Document::read(fixed.as_bytes(), options);
    }
    document
}
