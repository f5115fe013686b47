//! What a skill requires, and whether it is there.

use crate::CatalogueOptions;
use crate::catalogue::named;
use crate::entry::{Entry, State};
use crate::lookup::leads_to;
use skillgate_core::{Skill, Source, Version};
use std::collections::BTreeMap;
use std::fmt;

/// The first thing a skill requires and does not have.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unmet {
    /// A newer Skillgate.
    Version {
        /// The version that is needed.
        needed: Version,
    },
    /// A program that no backend has.
    Program(String),
    /// A tool that the host does not have.
    Tool(String),
    /// A skill that is not there, or that cannot be used either.
    Skill {
        /// The name that is required.
        name: String,
        /// The state of the skill it leads to, when there is one.
        state: Option<&'static str>,
    },
    /// The skill requires itself, through these.
    Cycle(Vec<String>),
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmet::Version { needed } => write!(f, "it needs Skillgate {needed} or newer"),
            Unmet::Program(name) => write!(f, "it needs the program `{name}`, which is not there"),
            Unmet::Tool(name) => write!(f, "it needs the tool `{name}`, which the host does not have"),
            Unmet::Skill { name, state: None } => write!(f, "it needs the skill `{name}`, which is not there"),
            Unmet::Skill { name, state: Some(state) } => write!(f, "it needs the skill `{name}`, which is {state}"),
            Unmet::Cycle(names) => write!(f, "it needs itself: {}", names.join(" needs ")),
        }
    }
}

/// What is missing whatever the other skills are.
pub(crate) fn unmet_by_itself(skill: &Skill, options: &CatalogueOptions) -> Option<Unmet> {
    let requires = skill.frontmatter.requires().as_ref()?;
    let too_old = requires.version.as_ref().map(|field| field.value).filter(|needed| *needed > options.version);
    if let Some(needed) = too_old {
        return Some(Unmet::Version { needed });
    }
    let missing = |names: &[skillgate_core::Field<String>], missing: &std::collections::BTreeSet<String>| {
        names.iter().map(|field| field.value.clone()).find(|name| missing.contains(name))
    };
    let program = missing(&requires.programs, &options.missing_programs).map(Unmet::Program);
    program.or_else(|| missing(&requires.tools, &options.missing_tools).map(Unmet::Tool))
}

/// Makes those unavailable that require a skill that is not there, or themselves.
pub(crate) fn resolve(entries: &mut [Entry], trusted_project: bool) {
    // What a project holds that is not trusted changes nothing for anybody, not even a reason.
    let counts = |index: &usize| trusted_project || entries[*index].skill.id.source != Source::Project;
    let target = |name: &str| leads_to(entries, name).filter(counts).or_else(|| named(entries, name).find(counts));
    let required = |entry: &Entry| -> Vec<(String, Option<usize>)> {
        let Some(requires) = entry.skill.frontmatter.requires() else { return Vec::new() };
        requires.skills.iter().map(|field| (field.value.clone(), target(&field.value))).collect()
    };
    let edges: BTreeMap<usize, Vec<(String, Option<usize>)>> = (0..entries.len())
        .map(|index| (index, required(&entries[index])))
        .filter(|(_, edges)| !edges.is_empty())
        .collect();
    if edges.is_empty() {
        return;
    }
    for (index, names) in cycles(&edges, entries) {
        make_unavailable(&mut entries[index], Unmet::Cycle(names));
    }
    // In rounds, each on the states of the one before, so that the order of the entries decides nothing.
    loop {
        let unmet: Vec<(usize, Unmet)> = edges
            .iter()
            .filter(|(index, _)| is_usable(&entries[**index]))
            .filter_map(|(index, names)| Some((*index, names.iter().find_map(|name| unmet(entries, name))?)))
            .collect();
        if unmet.is_empty() {
            return;
        }
        for (index, unmet) in unmet {
            make_unavailable(&mut entries[index], unmet);
        }
    }
}

fn unmet(entries: &[Entry], (name, target): &(String, Option<usize>)) -> Option<Unmet> {
    let state = match target.map(|target| &entries[target]) {
        Some(target) if is_usable(target) => return None,
        None => None,
        Some(Entry { unmet: Some(_), .. }) => Some("unavailable"),
        Some(target) => Some(target.state.as_str()),
    };
    Some(Unmet::Skill { name: name.clone(), state })
}

/// Whether somebody may invoke the skill, by its bare or by its qualified name.
fn is_usable(entry: &Entry) -> bool {
    let has_state = matches!(entry.state, State::Active | State::Conditional | State::Hidden | State::Shadowed { .. });
    has_state && entry.unmet.is_none()
}

/// A skill that another one hides stays hidden.
fn make_unavailable(entry: &mut Entry, unmet: Unmet) {
    if !is_usable(entry) {
        return;
    }
    entry.unmet = Some(unmet.clone());
    if !matches!(entry.state, State::Shadowed { .. }) {
        entry.state = State::Unavailable { unmet };
    }
}

/// Skills that require themselves, each with the names on the way from it back to it.
fn cycles(edges: &BTreeMap<usize, Vec<(String, Option<usize>)>>, entries: &[Entry]) -> Vec<(usize, Vec<String>)> {
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Mark {
        OnPath,
        Done,
    }
    let mut marks: BTreeMap<usize, Mark> = BTreeMap::new();
    let mut found: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for start in edges.keys() {
        if marks.contains_key(start) {
            continue;
        }
        // Each with the number of its edges that were followed.
        let mut path: Vec<(usize, usize)> = vec![(*start, 0)];
        marks.insert(*start, Mark::OnPath);
        while let Some((node, followed)) = path.last_mut() {
            let next = edges.get(node).and_then(|edges| edges.get(*followed));
            *followed += 1;
            let Some((_, target)) = next else {
                marks.insert(*node, Mark::Done);
                path.pop();
                continue;
            };
            let Some(target) = *target else { continue };
            match marks.get(&target) {
                Some(Mark::Done) => {}
                Some(Mark::OnPath) => {
                    let from = path.iter().position(|(node, _)| *node == target).unwrap_or_default();
                    let members: Vec<usize> = path[from..].iter().map(|(node, _)| *node).collect();
                    for (at, member) in members.iter().enumerate() {
                        let around = members[at..].iter().chain(&members[..=at]);
                        let names = around.map(|index| entries[*index].skill.id.command.to_string()).collect();
                        found.entry(*member).or_insert(names);
                    }
                }
                None => {
                    marks.insert(target, Mark::OnPath);
                    path.push((target, 0));
                }
            }
        }
    }
    found.into_iter().collect()
}
