use crate::CatalogueOptions;
use crate::entry::{Entry, ShadowReason, State, is_conditional};
use crate::precedence::rank;
use crate::requires;
use skillgate_core::{Code, Diagnostic, Digest, LoadFailure, LoadedFrom, Skill, Source};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use unicode_normalization::UnicodeNormalization as _;

/// Every skill that was found, with what its name means.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Catalogue {
    /// By name, then by precedence.
    entries: Vec<Entry>,
    broken: Vec<LoadFailure>,
    pub(crate) by_qualified_name: BTreeMap<String, usize>,
    /// Where the entries of a name begin and end.
    pub(crate) by_name: BTreeMap<String, std::ops::Range<usize>>,
    diagnostics: Vec<Diagnostic>,
}

impl Catalogue {
    /// Decides what each name means. The order of the input does not matter.
    ///
    /// A name goes to the first by: source ([`precedence`](crate::precedence)); in one source a skill before a command; the
    /// nearer root; the path. Disabled, untrusted and broken skills do not compete, and hide nothing.
    #[must_use]
    pub fn build(skills: Vec<Skill>, mut broken: Vec<LoadFailure>, options: &CatalogueOptions) -> Self {
        let mut entries: Vec<Entry> = skills.into_iter().map(|skill| entry(skill, options)).collect();
        sort(&mut entries, options);
        broken.sort_by(|a, b| {
            let key = |failure: &LoadFailure| rank(options.profile, failure.source);
            (&a.name, key(a), &a.path).cmp(&(&b.name, key(b), &b.path))
        });
        let by_qualified_name = qualify(&mut entries);
        let by_name = shadow(&mut entries, options);
        requires::resolve(&mut entries, &by_qualified_name, &by_name, options.trusted_project);
        let diagnostics = collisions(&entries);
        Self { entries, broken, by_qualified_name, by_name, diagnostics }
    }

    /// Every skill, by name and then in the order in which they take the name.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What was meant as a skill and could not be read, by name.
    #[must_use]
    pub fn broken(&self) -> &[LoadFailure] {
        &self.broken
    }

    /// Findings about the names as a whole.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Makes a skill that waits for a file active, for as long as this catalogue lives, and says whether it waited.
    pub fn activate(&mut self, qualified_name: &str) -> bool {
        let Some(&index) = self.by_qualified_name.get(qualified_name) else { return false };
        let entry = &mut self.entries[index];
        if entry.state != State::Conditional {
            return false;
        }
        entry.state = if entry.skill.user_invocable() { State::Active } else { State::Hidden };
        true
    }

    /// The one set of skills that a model is told of, by name.
    pub fn offered_to_model(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.is_offered_to_model())
    }

    /// The skill that this qualified name leads to.
    #[must_use]
    pub fn qualified(&self, name: &str) -> Option<&Entry> {
        self.by_qualified_name.get(name).map(|index| &self.entries[*index])
    }

    /// Every skill of one bare name: the winner, when there is one, then the losers, then those that do not compete.
    #[must_use]
    pub fn named(&self, name: &str) -> &[Entry] {
        self.by_name.get(name).map_or(&[], |range| &self.entries[range.clone()])
    }
}

/// A skill with the state it has by itself.
fn entry(skill: Skill, options: &CatalogueOptions) -> Entry {
    let name = skill.id.command.as_str();
    // A plugin's name says where the skill comes from.
    let qualified = if skill.plugin.is_some() { name.to_owned() } else { skill.id.to_string() };
    let disabled = options.disabled.iter().find(|pattern| pattern.matches(name) || pattern.matches(&qualified));
    let unmet = requires::unmet_by_itself(&skill, options);
    let state = if skill.header.is_lost() {
        State::Broken
    } else if let Some(pattern) = disabled {
        State::Disabled { pattern: pattern.to_string() }
    } else if skill.id.source == Source::Project && !options.trusted_project {
        State::Untrusted
    } else if skill.plugin.as_ref().is_some_and(|plugin| !options.trusted_plugins.contains(&plugin.root)) {
        State::UntrustedPlugin
    } else if let Some(unmet) = unmet.clone() {
        State::Unavailable { unmet }
    } else if is_conditional(&skill) {
        State::Conditional
    } else if !skill.user_invocable() {
        State::Hidden
    } else {
        State::Active
    };
    Entry { skill, qualified_name: qualified, state, unmet }
}

/// What decides between skills of one name; the digest only so that any two different skills have an order.
type Key<'a> = (bool, usize, bool, usize, &'a Path, Digest);

fn key<'a>(entry: &'a Entry, options: &CatalogueOptions) -> Key<'a> {
    let skill = &entry.skill;
    (
        !entry.state.competes(),
        rank(options.profile, skill.id.source),
        skill.loaded_from == LoadedFrom::Commands,
        root_rank(skill, options),
        &skill.path,
        skill.head_digest,
    )
}

fn root_rank(skill: &Skill, options: &CatalogueOptions) -> usize {
    // Roots lie inside each other when one is below a project that is itself below another: the longest is the skill's own.
    let roots = options.root_order.iter().enumerate();
    let own = roots.filter(|(_, root)| skill.path.starts_with(root)).max_by_key(|(_, root)| root.as_os_str().len());
    own.map_or(options.root_order.len(), |(index, _)| index)
}

fn sort(entries: &mut Vec<Entry>, options: &CatalogueOptions) {
    // The key of the roots costs a look at each root, and few names stand twice, so the names come first.
    entries.sort_by(|a, b| {
        a.skill.id.command.cmp(&b.skill.id.command).then_with(|| key(a, options).cmp(&key(b, options)))
    });
    entries.dedup();
}

/// Gives each skill a name of its own.
fn qualify(entries: &mut [Entry]) -> BTreeMap<String, usize> {
    let mut taken: HashSet<String> = entries.iter().map(|entry| entry.qualified_name.clone()).collect();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    for (index, entry) in entries.iter_mut().enumerate() {
        if names.contains_key(&entry.qualified_name) {
            let first = entry.qualified_name.clone();
            let mut number = 2;
            while !taken.insert(format!("{first}#{number}")) {
                number += 1;
            }
            entry.qualified_name = format!("{first}#{number}");
        }
        names.insert(entry.qualified_name.clone(), index);
    }
    names
}

/// Marks those whose name another took.
fn shadow(entries: &mut [Entry], options: &CatalogueOptions) -> BTreeMap<String, std::ops::Range<usize>> {
    let mut by_name = BTreeMap::new();
    let mut start = 0;
    for same in entries.chunk_by_mut(|a, b| a.skill.id.command == b.skill.id.command) {
        let range = start..start + same.len();
        start = range.end;
        let Some((winner, losers)) = same.split_first_mut() else { continue };
        by_name.insert(winner.skill.id.command.to_string(), range);
        for loser in losers.iter_mut().filter(|loser| loser.state.competes()) {
            let reason = reason(winner, loser, options);
            loser.state = State::Shadowed { by: winner.qualified_name.clone(), reason };
        }
    }
    by_name
}

fn reason(winner: &Entry, loser: &Entry, options: &CatalogueOptions) -> ShadowReason {
    let (winner, loser) = (&winner.skill, &loser.skill);
    if winner.id.source != loser.id.source {
        ShadowReason::Source { winner: winner.id.source, loser: loser.id.source }
    } else if winner.loaded_from != loser.loaded_from {
        ShadowReason::SkillBeforeCommand
    } else if root_rank(winner, options) != root_rank(loser, options) {
        ShadowReason::NearerRoot
    } else {
        ShadowReason::Path
    }
}

/// Names that a person, or a file system that ignores case or how letters are put together, takes for one. All sources count.
fn collisions(entries: &[Entry]) -> Vec<Diagnostic> {
    let mut by_folded: BTreeMap<String, Vec<&Entry>> = BTreeMap::new();
    let has_name = |state: &State| state.competes() && !matches!(state, State::Shadowed { .. });
    for entry in entries.iter().filter(|entry| has_name(&entry.state)) {
        by_folded.entry(folded(entry.skill.id.command.as_str())).or_default().push(entry);
    }
    let clashing = by_folded.into_values().filter(|same| same.len() > 1);
    clashing
        .map(|same| {
            let names: Vec<_> = same.iter().map(|entry| format!("`{}`", entry.qualified_name)).collect();
            let mut lower = same.iter().map(|entry| entry.skill.id.command.as_str().to_lowercase());
            let first = lower.next();
            let how =
                if lower.all(|name| Some(name) == first) { "in case only" } else { "only in how they are written" };
            Diagnostic::new(Code::NameCollision, format!("names that differ {how}: {}", names.join(", ")))
                .help("rename all but one of them")
        })
        .collect()
}

/// The name without case, and with one way to write each letter, full-width forms and dashes among them.
fn folded(name: &str) -> String {
    if name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return name.to_ascii_lowercase();
    }
    let dash = |c: char| if matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}') { '-' } else { c };
    name.nfkc().map(dash).flat_map(char::to_lowercase).filter(|c| !c.is_whitespace()).nfkc().collect()
}
