//! The listing: what a model is told of the skills it may invoke, within a budget of characters.

mod budget;
pub(crate) mod entry;
mod guidance;

pub use guidance::SKILL_TOOL_GUIDANCE;

use crate::{Catalogue, Entry, NamePattern};
use budget::{Fit, fit};
use entry::Item;
use skillgate_core::Source;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Characters of a listing where neither a budget nor a context window is known.
pub const DEFAULT_LISTING_CHARS: usize = 8_000;

/// Characters of one description with its `when_to_use`, however large the budget is.
pub const MAX_DESCRIPTION_CHARS: usize = 1_536;

/// The shortest a description is cut to; below that it goes.
pub const MIN_DESCRIPTION_CHARS: usize = 32;

/// How a listing is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum ListingForm {
    /// One line for each skill: `- name: description`.
    #[default]
    Text,
    /// One `<skill>` element for each skill, with what is special in XML escaped.
    Xml,
}

/// What a listing is made by.
#[derive(Clone, Debug)]
pub struct ListingOptions {
    /// The most characters that the text has.
    pub budget_chars: usize,
    /// How it is written.
    pub form: ListingForm,
    /// Skills whose description is kept as long as possible.
    pub pinned: Vec<NamePattern>,
    /// Only these skills, when it is given.
    pub only: Option<Vec<NamePattern>>,
    /// How often a skill was used, by its qualified name; the least used lose their description first.
    pub used: BTreeMap<String, u64>,
}

impl Default for ListingOptions {
    fn default() -> Self {
        Self {
            budget_chars: DEFAULT_LISTING_CHARS,
            form: ListingForm::default(),
            pinned: Vec::new(),
            only: None,
            used: BTreeMap::new(),
        }
    }
}

impl ListingOptions {
    /// The budget of a context window: a hundredth of it, at four characters a token.
    #[must_use]
    pub fn budget_of_context(tokens: usize) -> usize {
        tokens.saturating_mul(4) / 100
    }
}

/// How much of a skill a listing holds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[non_exhaustive]
pub enum Level {
    /// All of it, and it was kept while others were cut.
    Pinned,
    /// All of it.
    Full,
    /// The beginning of its description.
    Short,
    /// Its name.
    Name,
    /// Nothing; it is counted, and a search finds it.
    Deferred,
}

impl Level {
    /// The level in one word, as it is written in output.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Level::Pinned => "pinned",
            Level::Full => "full",
            Level::Short => "short",
            Level::Name => "name",
            Level::Deferred => "deferred",
        }
    }
}

/// One skill of a listing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Listed {
    /// The skill.
    pub entry: Arc<Entry>,
    /// How much of it stands in the text.
    pub level: Level,
}

/// How many skills stand at each level, and what was left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cut {
    /// Skills of which all stands in the text.
    pub whole: usize,
    /// Skills whose description is cut.
    pub short: usize,
    /// Skills of which only the name stands there for want of room.
    pub name_only: usize,
    /// Skills of which only the name stands there because their authors say `deferred: true`.
    pub kept_back: usize,
    /// Skills that are not named.
    pub deferred: usize,
    /// Of all these the pinned and bundled ones that are not whole, because they alone exceed the budget.
    pub pinned: usize,
    /// Characters of descriptions that were left out; what exceeds [`MAX_DESCRIPTION_CHARS`] is among them.
    pub chars: usize,
}

impl Cut {
    /// Whether the text holds all that is to stand there.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.short + self.name_only + self.deferred == 0
    }
}

/// What a model is told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Listing {
    /// The text, of at most as many characters as the budget has; empty when no skill is offered.
    pub text: String,
    /// Every skill that is offered, in the order of the text, then those that are not named.
    pub entries: Vec<Listed>,
    /// What the budget cost.
    pub cut: Cut,
}

impl Catalogue {
    /// The listing of all that is [offered to a model](Catalogue::offered_to_model).
    ///
    /// All descriptions stand there if they fit, each up to [`MAX_DESCRIPTION_CHARS`]. Else those of pinned and bundled skills stay
    /// whole and the others share what is left, the short ones first, down to [`MIN_DESCRIPTION_CHARS`]. Else descriptions go,
    /// those of the least used skills first. Names always stay; when even they do not fit, the most used are named and the rest is
    /// counted. When the pinned and bundled skills alone exceed the budget they are cut like the others.
    ///
    /// Of a skill that is `deferred` the name stands there, whatever the budget, unless the host pins it.
    #[must_use]
    pub fn listing(&self, options: &ListingOptions) -> Listing {
        let wanted = |entry: &&Arc<Entry>| match &options.only {
            Some(only) => only.iter().any(|pattern| matches(pattern, entry)),
            None => true,
        };
        let offered = self.entries.iter().filter(|entry| entry.is_offered_to_model());
        let entries: Vec<&Arc<Entry>> = offered.filter(wanted).collect();
        let items: Vec<Item<'_>> = entries.iter().map(|entry| item(entry, options)).collect();
        let fit = fit(&items, options.budget_chars, options.form);
        write(&entries, &items, &fit, options.form)
    }
}

fn matches(pattern: &NamePattern, entry: &Entry) -> bool {
    pattern.matches(entry.skill().id.command.as_str()) || pattern.matches(entry.qualified_name())
}

fn item<'e>(entry: &'e Entry, options: &ListingOptions) -> Item<'e> {
    let mut item = Item::new(entry);
    let pinned = options.pinned.iter().any(|pattern| matches(pattern, entry));
    item.pinned = pinned || entry.skill().id.source == Source::Bundled;
    if !pinned && entry.skill().frontmatter.deferred().as_ref().is_some_and(|deferred| deferred.value) {
        item.keep_back();
    }
    if !options.used.is_empty() {
        item.used = options.used.get(entry.qualified_name()).copied().unwrap_or_default();
    }
    item
}

fn write(skills: &[&Arc<Entry>], items: &[Item<'_>], fit: &Fit, form: ListingForm) -> Listing {
    let mut text = String::new();
    let mut cut = Cut::default();
    let (mut entries, mut deferred) = (Vec::new(), Vec::new());
    for ((skill, item), room) in skills.iter().zip(items).zip(&fit.rooms) {
        let shown = room.map(|room| item.shown(room));
        let level = match (room, &shown) {
            (None, _) | (_, None) => Level::Deferred,
            (Some(_), Some(_)) if item.is_kept_back() => Level::Name,
            (Some(_), Some(shown)) if shown.is_whole(item) => {
                if item.pinned && fit.is_cut {
                    Level::Pinned
                } else {
                    Level::Full
                }
            }
            (Some(0), _) => Level::Name,
            (Some(_), Some(_)) => Level::Short,
        };
        match level {
            Level::Pinned | Level::Full => cut.whole += 1,
            Level::Short => cut.short += 1,
            Level::Name if item.is_kept_back() => cut.kept_back += 1,
            Level::Name => cut.name_only += 1,
            Level::Deferred => cut.deferred += 1,
        }
        let left = item.chars() - shown.as_ref().map_or(0, |shown| shown.kept);
        cut.chars += left;
        cut.pinned += usize::from(item.pinned && level > Level::Full && !item.is_kept_back());
        let listed = Listed { entry: Arc::clone(skill), level };
        match shown {
            Some(shown) => {
                entry::append(&mut text, form, item.name, &shown.text);
                entries.push(listed);
            }
            None => deferred.push(listed),
        }
    }
    if !deferred.is_empty() && fit.names_the_rest {
        text.push_str(&entry::rest(form, deferred.len()));
    }
    entries.append(&mut deferred);
    Listing { text, entries, cut }
}
