use crate::caveat::Caveat;
use crate::host::Host;
use crate::level::Level;
use crate::request::Known;
use crate::rule::Rule;
use std::collections::HashMap;

/// The command patterns of an authority by the name that a vector must begin with, so that a decision looks at few of many
/// rules.
#[derive(Debug)]
pub(crate) struct CommandIndex {
    by_name: HashMap<String, Vec<Entry>>,
    /// Patterns that do not name the command: `Bash`, and a glued `*` in the first word.
    nameless: Vec<Entry>,
    all: Vec<Entry>,
    /// Whether some command may run at all, which every decision asks first.
    pub(crate) permits_some_command: bool,
}

/// A command pattern of an authority. Ordered as the host's rules are, and then the caveats.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Entry {
    /// Of a rule, by its place in the host's whole list.
    Rule(usize),
    /// Of a caveat, and which of its patterns.
    Caveat(usize, usize),
}

/// The rules that an [`Entry`] is a number in.
#[derive(Debug)]
pub(crate) struct Members<'a> {
    pub(crate) host: &'a Host,
}

impl<'a> Members<'a> {
    /// The rule behind a number.
    pub(crate) fn rule(&self, at: usize) -> Option<(Level, &'a Rule)> {
        let own = self.host.rules();
        if let Some(rule) = own.get(at) {
            return Some((Level::Host, rule));
        }
        let mut at = at - own.len();
        let project = self.host.restrictions();
        if let Some(restriction) = project.get(at) {
            return Some((Level::Project, restriction.rule()));
        }
        at -= project.len();
        for (ceiling, managed) in self.host.ceilings().iter().enumerate() {
            match managed.rules().get(at) {
                Some(rule) => return Some((Level::Managed { ceiling }, rule)),
                None => at -= managed.rules().len(),
            }
        }
        None
    }
}

impl CommandIndex {
    pub(crate) fn of(host: &Host, caveats: &[Caveat], permits_some_command: bool) -> Self {
        let rules = host.leveled().enumerate().map(|(at, (_, rule))| (Entry::Rule(at), rule.pattern()));
        let listed = caveats.iter().enumerate().flat_map(|(at, caveat)| {
            caveat.patterns().iter().enumerate().map(move |(which, pattern)| (Entry::Caveat(at, which), pattern))
        });
        let mut index = Self { by_name: HashMap::new(), nameless: Vec::new(), all: Vec::new(), permits_some_command };
        for (entry, pattern) in rules.chain(listed) {
            let Some(command) = pattern.command() else { continue };
            index.all.push(entry);
            match command.name() {
                Some(name) => index.by_name.entry(name.to_owned()).or_default().push(entry),
                None => index.nameless.push(entry),
            }
        }
        index
    }

    /// Every pattern that may match the vector, and others, in the order of [`Entry`].
    pub(crate) fn candidates(&self, vector: &[Known<'_>]) -> Vec<Entry> {
        let Some(Known::Text(name)) = vector.first() else { return self.all.clone() };
        let named = self.by_name.get(*name).map(Vec::as_slice).unwrap_or_default();
        let mut candidates = [named, &self.nameless].concat();
        candidates.sort_unstable();
        candidates
    }

    /// Every pattern, for the comparison with a search that leaves nothing out.
    #[cfg(test)]
    pub(crate) fn all(&self) -> Vec<Entry> {
        self.all.clone()
    }
}
