//! Who has a name, who has not, and why.

use crate::lookup::{Lookup, of_plugins};
use crate::{Catalogue, Entry, ShadowReason, State};
use skillgate_core::LoadFailure;

/// What a name leads to, with everything else that has it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Explained<'a> {
    /// The skill that the name leads to, when one may take it.
    pub winner: Option<&'a Entry>,
    /// Why it goes before the others; none when there are no others that compete.
    pub because: Option<ShadowReason>,
    /// The others, in the order in which they would take the name, then what cannot be read.
    pub losers: Vec<Loser<'a>>,
}

/// Something of a name that the name does not lead to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Loser<'a> {
    /// A skill; its [state](Entry::state) says why.
    Skill(&'a Entry),
    /// A plugin's skill, whose last part is the name; that is its name only while no other skill has it.
    OfPlugin(&'a Entry),
    /// Something that was meant as a skill and cannot be read.
    Unreadable(&'a LoadFailure),
}

impl Catalogue {
    /// Explains a name as [`Catalogue::lookup`] takes it.
    ///
    /// # Errors
    /// When nothing has the name: names like it, the nearest first.
    pub fn explain(&self, name: &str) -> Result<Explained<'_>, Vec<&str>> {
        let bare = name.trim();
        let bare = bare.strip_prefix('/').unwrap_or(bare);
        let unreadable = self.broken().iter().filter(|failure| failure.name == bare).map(Loser::Unreadable);
        let entry = match self.lookup(bare) {
            Lookup::Found(entry) => entry,
            Lookup::Broken(failure) => {
                return Ok(Explained { winner: None, because: None, losers: vec![Loser::Unreadable(failure)] });
            }
            Lookup::Unknown { nearest } => return Err(nearest),
        };
        // A qualified name is one skill's alone, and so is the short name of a plugin's while it leads there.
        if entry.skill.id.command.as_str() != bare {
            let winner = Some(entry).filter(|entry| entry.state.competes());
            let losers = if winner.is_some() { Vec::new() } else { vec![Loser::Skill(entry)] };
            return Ok(Explained { winner, because: None, losers });
        }
        let named = self.named(bare);
        let winner = named.first().map(AsRef::as_ref).filter(|entry: &&Entry| entry.state.competes());
        let others = &named[usize::from(winner.is_some())..];
        let because = others.iter().find_map(|entry| match &entry.state {
            State::Shadowed { reason, .. } => Some(*reason),
            _ => None,
        });
        let of_plugins = of_plugins(self.entries(), bare).map(|index| Loser::OfPlugin(&self.entries()[index]));
        let losers = others.iter().map(|entry| Loser::Skill(entry)).chain(of_plugins).chain(unreadable).collect();
        Ok(Explained { winner, because, losers })
    }
}
