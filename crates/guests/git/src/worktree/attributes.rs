//! `.gitattributes`: what is said of a path.

use crate::files;
use crate::repository::Repository;
use bstr::{BStr, BString, ByteSlice as _};
use gix_attributes::StateRef;
use gix_attributes::parse::Kind;
use gix_glob::Pattern;
use gix_glob::pattern::Case;
use gix_glob::wildmatch::Mode;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// What an attribute is set to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) enum Value {
    #[default]
    Unspecified,
    Set,
    Unset,
    Text(BString),
}

impl Value {
    pub(crate) fn text(&self) -> Option<&BStr> {
        match self {
            Value::Text(text) => Some(text.as_bstr()),
            _ => None,
        }
    }
}

/// The attributes that this git looks at.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Attributes {
    values: HashMap<String, Value>,
}

impl Attributes {
    pub(crate) fn get(&self, name: &str) -> Value {
        self.values.get(name).cloned().unwrap_or_default()
    }

    fn set(&mut self, name: &str, value: &Value, macros: &HashMap<String, Vec<(String, Value)>>) {
        self.values.insert(name.to_owned(), value.clone());
        if *value == Value::Set {
            for (name, value) in macros.get(name).into_iter().flatten() {
                self.values.insert(name.clone(), value.clone());
            }
        }
    }
}

#[derive(Debug, Default)]
struct List {
    lines: Vec<(Pattern, Vec<(String, Value)>)>,
    macros: Vec<(String, Vec<(String, Value)>)>,
}

/// All attribute files of a repository, read when a path needs them.
#[derive(Debug)]
pub(crate) struct Stack<'r> {
    repo: &'r Repository,
    lists: RefCell<HashMap<BString, Rc<List>>>,
    case: Case,
}

fn parse(content: &[u8]) -> List {
    let mut list = List::default();
    for (kind, assignments, _) in gix_attributes::parse(content).flatten() {
        let assignments = assignments.flatten().map(|assignment| {
            let value = match assignment.state {
                StateRef::Set => Value::Set,
                StateRef::Unset => Value::Unset,
                StateRef::Value(value) => Value::Text(value.as_bstr().into()),
                StateRef::Unspecified => Value::Unspecified,
            };
            (assignment.name.as_str().to_owned(), value)
        });
        match kind {
            Kind::Pattern(pattern) => list.lines.push((pattern, assignments.collect())),
            Kind::Macro(name) => list.macros.push((name.as_str().to_owned(), assignments.collect())),
        }
    }
    list
}

impl<'r> Stack<'r> {
    pub(crate) fn new(repo: &'r Repository) -> Self {
        let case = if repo.config.boolean("core.ignorecase") == Some(true) { Case::Fold } else { Case::Sensitive };
        Self { repo, lists: RefCell::default(), case }
    }

    fn list(&self, key: &[u8], path: &Path) -> Rc<List> {
        if let Some(list) = self.lists.borrow().get(key.as_bstr()) {
            return Rc::clone(list);
        }
        let content = files::read_optional(path).ok().flatten().unwrap_or_default();
        let list = Rc::new(parse(&content));
        self.lists.borrow_mut().insert(key.into(), Rc::clone(&list));
        list
    }

    /// What is said of a file.
    pub(crate) fn of(&self, path: &[u8]) -> Attributes {
        // From the weakest to the strongest: the user's, the root's, those on the way, the repository's own.
        let mut lists: Vec<(usize, Rc<List>)> = Vec::new();
        if let Some(user) = self.repo.config.string("core.attributesfile") {
            lists.push((0, self.list(b"//user", &files::path(user))));
        }
        if let Some(root) = &self.repo.work_tree {
            let mut ends: Vec<usize> = std::iter::once(0)
                .chain(path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(at, _)| at + 1))
                .collect();
            ends.sort_unstable();
            for end in ends {
                let directory = &path[..end];
                lists.push((end, self.list(directory, &root.join(files::path(directory)).join(".gitattributes"))));
            }
        }
        lists.push((0, self.list(b"//info", &self.repo.common_dir.join("info/attributes"))));
        let mut macros: HashMap<String, Vec<(String, Value)>> = HashMap::new();
        let unset = |name: &str| (name.to_owned(), Value::Unset);
        macros.insert("binary".into(), vec![unset("diff"), unset("merge"), unset("text")]);
        for (_, list) in &lists {
            macros.extend(list.macros.iter().cloned());
        }
        let mut found = Attributes::default();
        for (start, list) in &lists {
            let below = path[*start..].as_bstr();
            let name = below.rfind_byte(b'/').map(|at| at + 1);
            for (pattern, assignments) in &list.lines {
                if pattern.matches_repo_relative_path(below, name, Some(false), self.case, Mode::NO_MATCH_SLASH_LITERAL)
                {
                    for (name, value) in assignments {
                        found.set(name, value, &macros);
                    }
                }
            }
        }
        found
    }
}
