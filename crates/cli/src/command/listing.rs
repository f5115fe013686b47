//! `skillgate listing`

use crate::args::{Format, Global, ListingVerb};
use crate::context;
use crate::exit::{Failure, Status};
use crate::output::{CutOutput, ListedOutput, ListingOutput};
use crate::text;
use skillgate_registry::{Cut, DEFAULT_LISTING_CHARS, ListingForm, ListingOptions, NamePattern, SKILL_TOOL_GUIDANCE};

pub(crate) fn run(global: &Global, verb: &ListingVerb) -> Result<Status, Failure> {
    let session = context::session(global)?.open()?;
    if let Some(off) = session.skills_off() {
        return Err(off.into());
    }
    let budget_chars = match (verb.budget_chars, verb.context_tokens) {
        (Some(chars), _) => chars,
        (None, Some(tokens)) => ListingOptions::budget_of_context(tokens),
        (None, None) => DEFAULT_LISTING_CHARS,
    };
    let pinned = session.policy().pin.iter().map(|pin| NamePattern::new(&pin.value)).collect();
    let options = ListingOptions {
        budget_chars,
        form: if verb.xml { ListingForm::Xml } else { ListingForm::Text },
        pinned,
        only: verb.set.as_deref().map(|name| context::set(session.policy(), name)).transpose()?,
        ..ListingOptions::default()
    };
    let listing = session.catalogue().listing(&options);
    if global.format == Format::Json {
        let entries = listing.entries.into_iter().map(|listed| ListedOutput {
            name: listed.name,
            qualified_name: listed.qualified_name,
            level: listed.level.as_str().to_owned(),
        });
        text::json(&ListingOutput {
            text: listing.text,
            guidance: SKILL_TOOL_GUIDANCE.to_owned(),
            budget_chars,
            entries: entries.collect(),
            cut: cut(listing.cut),
        })?;
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

fn cut(cut: Cut) -> CutOutput {
    let Cut { whole, short, name_only, deferred, pinned, chars, .. } = cut;
    CutOutput { whole, short, name_only, deferred, pinned, chars }
}

/// How many skills stand there, and how.
fn words(cut: &Cut) -> String {
    let total = cut.whole + cut.short + cut.name_only + cut.deferred;
    let parts = [
        (cut.short, "with a short description"),
        (cut.name_only, "by name only"),
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
