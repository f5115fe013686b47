//! `skillgate listing`

use crate::args::{Format, Global, ListingVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{CutOutput, ListedOutput, ListingOutput};
use crate::text;
use skillgate_registry::{Cut, DEFAULT_LISTING_CHARS, Listing, ListingForm, ListingOptions, SKILL_TOOL_GUIDANCE};

pub(crate) fn run(global: &Global, verb: &ListingVerb) -> Result<Status, Failure> {
    let session = context::session(global)?;
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    let budget_chars = match (verb.budget_chars, verb.context_tokens) {
        (Some(chars), _) => chars,
        (None, Some(tokens)) => ListingOptions::budget_of_context(tokens),
        (None, None) => DEFAULT_LISTING_CHARS,
    };
    let options = ListingOptions {
        form: if verb.xml { ListingForm::Xml } else { ListingForm::Text },
        only: verb.set.as_deref().map(|name| context::set(session.policy(), name)).transpose()?,
        ..session.listing_options(budget_chars)
    };
    let listing = session.listing(&options);
    if global.format == Format::Json {
        text::json(&output(listing, budget_chars))?;
        return Ok(Status::Done);
    }
    if verb.guidance {
        text::human(&format!("{SKILL_TOOL_GUIDANCE}\n"));
    }
    text::human(&listing.text);
    let used = listing.text.chars().count();
    text::complain(&format!("{}; {used} of {budget_chars} characters{}", words(&listing.cut), left_out(&listing.cut)));
    Ok(Status::Done)
}

/// A listing as it is printed.
pub(crate) fn output(listing: Listing, budget_chars: usize) -> ListingOutput {
    let entries = listing.entries.into_iter().map(|listed| ListedOutput {
        name: listed.entry.called().to_owned(),
        qualified_name: listed.entry.qualified_name().to_owned(),
        level: listed.level.as_str().to_owned(),
    });
    ListingOutput {
        text: listing.text,
        guidance: SKILL_TOOL_GUIDANCE.to_owned(),
        budget_chars,
        entries: entries.collect(),
        cut: cut(listing.cut),
    }
}

fn cut(cut: Cut) -> CutOutput {
    let Cut { whole, short, name_only, kept_back, deferred, pinned, chars, .. } = cut;
    CutOutput { whole, short, name_only, kept_back, deferred, pinned, chars }
}

/// How many skills stand there, and how.
fn words(cut: &Cut) -> String {
    let total = cut.whole + cut.short + cut.name_only + cut.kept_back + cut.deferred;
    let parts = [
        (cut.short, "with a short description"),
        (cut.name_only, "by name only"),
        (cut.kept_back, "deferred by their authors"),
        (cut.deferred, "not named"),
        (cut.pinned, "of them pinned"),
    ];
    let parts: Vec<String> =
        parts.iter().filter(|(count, _)| *count > 0).map(|(count, how)| format!("{count} {how}")).collect();
    let how = if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) };
    format!("{}{how}", text::counted(total, "skill"))
}

fn left_out(cut: &Cut) -> String {
    if cut.chars == 0 { String::new() } else { format!(", {} of descriptions left out", cut.chars) }
}
