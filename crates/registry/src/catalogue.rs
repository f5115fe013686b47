use crate::CatalogueOptions;
use crate::NamePattern;
use crate::entry::{Entry, ShadowReason, State, is_conditional};
use crate::listing::entry::LineLength;
use crate::precedence::rank;
use crate::requires;
use skillgate_core::{Code, Diagnostic, Digest, LoadFailure, LoadedFrom, Skill, Source, ascii_lookalike};
use std::borrow::Borrow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization as _;

/// Every skill that was found, with what its name means.
///
/// A clone shares all entries with its original: it costs a pointer for each of them, and what one conversation activates costs the
/// others nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Catalogue {
    /// By name, then by precedence.
    pub(crate) entries: Vec<Arc<Entry>>,
    broken: Arc<Vec<LoadFailure>>,
    diagnostics: Arc<Vec<Diagnostic>>,
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
        qualify(&mut entries);
        shadow(&mut entries, options);
        requires::resolve(&mut entries, options.trusted_project);
        let diagnostics = collisions(&entries).into_iter().chain(reserved(&entries, options)).collect();
        let entries = entries.into_iter().map(Arc::new).collect();
        Self { entries, broken: Arc::new(broken), diagnostics: Arc::new(diagnostics) }
    }

    /// Every skill, by name and then in the order in which they take the name.
    #[must_use]
    pub fn entries(&self) -> &[Arc<Entry>] {
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
        let Some(index) = qualified(&self.entries, qualified_name) else { return false };
        let entry = &mut self.entries[index];
        if entry.state != State::Conditional {
            return false;
        }
        let state = if entry.skill.user_invocable() { State::Active } else { State::Hidden };
        *entry = Arc::new(Entry { state, ..Entry::clone(entry) });
        true
    }

    /// Adds skills that were found in a directory inside the project, `dir` from its root, and gives their qualified names:
    /// `DIR:NAME`.
    ///
    /// The bare name leads to one only while no other skill has it; of several that were found so it leads to the one deepest inside.
    /// Whoever the bare name does not lead to is called by its qualified name, and all can be used.
    pub fn add_nested(
        &mut self,
        skills: Vec<Skill>,
        broken: Vec<LoadFailure>,
        dir: &str,
        options: &CatalogueOptions,
    ) -> Vec<String> {
        let depth = dir.split('/').count();
        let mut added = Vec::new();
        let mut needy = false;
        for skill in skills {
            let known = named(&self.entries, skill.id.command.as_str());
            if self.entries[known.clone()].iter().any(|entry| entry.skill.path == skill.path) {
                continue;
            }
            needy |= skill.frontmatter.requires().as_ref().is_some_and(|requires| !requires.skills.is_empty());
            let mut entry = entry(skill, options);
            entry.nested = Some(depth);
            entry.set_apart(self.free_name(&format!("{dir}:{}", entry.skill.id.command)));
            let holder = known.clone().find(|index| self.entries[*index].holds_name());
            let place = match holder {
                Some(holder) if self.entries[holder].nested.is_none_or(|other| other >= depth) => {
                    entry.in_full = true;
                    known.end
                }
                Some(holder) if entry.state.competes() => {
                    Arc::make_mut(&mut self.entries[holder]).in_full = true;
                    known.start
                }
                Some(_) => known.end,
                // One that takes the name stands before those that cannot.
                None => known.start,
            };
            added.push(entry.qualified_name.clone());
            self.entries.insert(place, Arc::new(entry));
        }
        if needy {
            let mut entries: Vec<Entry> = self.entries.iter().map(|entry| Entry::clone(entry)).collect();
            requires::resolve(&mut entries, options.trusted_project);
            self.entries = entries.into_iter().map(Arc::new).collect();
        }
        if !broken.is_empty() {
            Arc::make_mut(&mut self.broken).extend(broken);
        }
        added
    }

    /// The name, or the first with a number that nobody has.
    fn free_name(&self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}#{number}"));
        let mut names = std::iter::once(name.to_owned()).chain(numbered);
        names.find(|name| qualified(&self.entries, name).is_none()).unwrap_or_default()
    }

    /// The one set of skills that a model is told of, by name.
    pub fn offered_to_model(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().map(AsRef::as_ref).filter(|entry: &&Entry| entry.is_offered_to_model())
    }

    /// The skill that this qualified name leads to.
    #[must_use]
    pub fn qualified(&self, name: &str) -> Option<&Entry> {
        qualified(&self.entries, name).map(|index| self.entries[index].as_ref())
    }

    /// Every skill of one bare name: the winner, when there is one, then the losers, then those that do not compete.
    #[must_use]
    pub fn named(&self, name: &str) -> &[Arc<Entry>] {
        &self.entries[named(&self.entries, name)]
    }
}

/// Where the entries of a name are; an empty range where they would be, when there is none.
pub(crate) fn named<E: Borrow<Entry>>(entries: &[E], name: &str) -> Range<usize> {
    let command = |entry: &E| entry.borrow().skill.id.command.as_str().cmp(name);
    let start = entries.partition_point(|entry| command(entry).is_lt());
    let length = entries[start..].partition_point(|entry| command(entry).is_eq());
    start..start + length
}

/// The entry with this qualified name. The name ends with the command's, behind which there may be a number: no table of all names
/// is kept for it.
pub(crate) fn qualified<E: Borrow<Entry>>(entries: &[E], name: &str) -> Option<usize> {
    let numbered = name.rsplit_once('#').filter(|(_, number)| number.bytes().all(|byte| byte.is_ascii_digit()));
    for whole in [Some(name), numbered.map(|(before, _)| before)].into_iter().flatten() {
        let behind = whole.match_indices(':').map(|(at, _)| &whole[at + 1..]);
        for command in std::iter::once(whole).chain(behind) {
            let mut range = named(entries, command);
            if let Some(index) = range.find(|index| entries[*index].borrow().qualified_name == name) {
                return Some(index);
            }
        }
    }
    None
}

/// A skill with the state it has by itself.
fn entry(skill: Skill, options: &CatalogueOptions) -> Entry {
    let name = skill.id.command.as_str();
    // A plugin's name says where the skill comes from.
    let qualified = if skill.plugin.is_some() { name.to_owned() } else { skill.id.to_string() };
    let named = |pattern: &&NamePattern| pattern.matches(name) || pattern.matches(&qualified);
    let disabled = options.disabled.iter().find(named);
    let left_out = options.only.iter().position(|only| !only.iter().any(|pattern| named(&pattern)));
    let unmet = requires::unmet_by_itself(&skill, options);
    let state = if skill.header.is_lost() {
        State::Broken
    } else if let Some(pattern) = disabled {
        State::Disabled { pattern: pattern.to_string() }
    } else if let Some(list) = left_out {
        State::LeftOut { list }
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
    let length = LineLength::of_skill(&skill);
    let in_full = options.reserved.contains(skill.id.command.as_str());
    Entry { skill: Arc::new(skill), qualified_name: qualified, state, unmet, nested: None, in_full, length }
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
fn qualify(entries: &mut [Entry]) {
    let mut taken: HashSet<String> = entries.iter().map(|entry| entry.qualified_name.clone()).collect();
    let mut given: HashSet<String> = HashSet::with_capacity(entries.len());
    for entry in entries {
        if given.contains(&entry.qualified_name) {
            let first = entry.qualified_name.clone();
            let mut number = 2;
            while !taken.insert(format!("{first}#{number}")) {
                number += 1;
            }
            entry.set_apart(format!("{first}#{number}"));
        }
        given.insert(entry.qualified_name.clone());
    }
}

/// Marks those whose name another took.
fn shadow(entries: &mut [Entry], options: &CatalogueOptions) {
    for same in entries.chunk_by_mut(|a, b| a.skill.id.command == b.skill.id.command) {
        let Some((winner, losers)) = same.split_first_mut() else { continue };
        for loser in losers.iter_mut().filter(|loser| loser.state.competes()) {
            let reason = reason(winner, loser, options);
            loser.state = State::Shadowed { by: winner.qualified_name.clone(), reason };
        }
    }
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
    let alike = lookalikes(&by_folded);
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
        .chain(alike)
        .collect()
}

/// Skills that the bare name does not lead to because a command of the host's own has it.
fn reserved(entries: &[Entry], options: &CatalogueOptions) -> Vec<Diagnostic> {
    let can_be_called = |entry: &&Entry| entry.state.competes() && !matches!(entry.state, State::Shadowed { .. });
    let is_reserved = |entry: &&Entry| options.reserved.contains(entry.skill.id.command.as_str());
    let told = entries.iter().filter(can_be_called).filter(is_reserved).map(|entry| {
        let (name, whole) = (&entry.skill.id.command, &entry.qualified_name);
        let message = format!("`{name}` is a command of the host's own, so the skill of this name is called `{whole}`");
        Diagnostic::new(Code::NameCollision, message).help("rename the skill")
    });
    told.collect()
}

/// Names of which one has letters that look like those of another.
fn lookalikes(by_folded: &BTreeMap<String, Vec<&Entry>>) -> Vec<Diagnostic> {
    // One that has only ASCII letters looks like another only when that one has others.
    let foreign = by_folded.iter().filter(|(folded, _)| !folded.is_ascii());
    let mut by_look: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for entry in foreign.flat_map(|(_, same)| same) {
        let name = entry.skill.id.command.as_str();
        by_look.entry(looked_at(name)).or_default().push(name);
    }
    for (look, same) in &mut by_look {
        let plain = by_folded.get(look).into_iter().flatten().map(|entry| entry.skill.id.command.as_str());
        same.extend(plain);
        same.sort_unstable();
        same.dedup();
    }
    // Those that differ in case and form alone have been told of.
    by_look.retain(|_, same| same.iter().any(|name| folded(name) != folded(same[0])));
    by_look
        .into_values()
        .map(|same| {
            let named = |name: &&str| {
                let strange = name.chars().find_map(|c| ascii_lookalike(c).map(|like| (c, like)));
                let strange = strange.map(|(c, like)| format!(" (U+{:04X} for `{like}`)", u32::from(c)));
                format!("`{name}`{}", strange.unwrap_or_default())
            };
            let names: Vec<String> = same.iter().map(named).collect();
            Diagnostic::new(Code::NameLookalike, format!("names that look alike: {}", names.join(", ")))
                .help("rename all but one of them, or remove the skill that is taken for another")
        })
        .collect()
}

/// What a name looks like: each letter as the one of ASCII that it is taken for.
fn looked_at(name: &str) -> String {
    folded(&name.nfkc().map(|c| ascii_lookalike(c).unwrap_or(c)).collect::<String>())
}

/// The name without case, and with one way to write each letter, full-width forms and dashes among them.
fn folded(name: &str) -> String {
    if name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return name.to_ascii_lowercase();
    }
    let dash = |c: char| if matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}') { '-' } else { c };
    name.nfkc().map(dash).flat_map(char::to_lowercase).filter(|c| !c.is_whitespace()).nfkc().collect()
}
