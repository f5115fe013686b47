//! What is to be done with a result, and where to go back to for more.

use crate::ast::Operator;
use crate::builtins::Native;
use crate::environment::Environment;
use crate::error::Stop;
use crate::ir::{Fold, Ir, Pattern, Patterns};
use crate::value::Value;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// A value and where it lies in the value whose paths are asked for.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) value: Value,
    pub(crate) path: Path,
}

#[derive(Clone, Debug)]
pub(crate) enum Path {
    /// No paths are asked for.
    Off,
    /// The keys that lead there, the last first.
    At(Option<Rc<Key>>),
    /// It is a new value, which lies nowhere.
    Lost,
}

#[derive(Debug)]
pub(crate) struct Key {
    key: Value,
    before: Option<Rc<Key>>,
}

impl Path {
    pub(crate) fn root() -> Self {
        Self::At(None)
    }

    /// The path one key further.
    pub(crate) fn then(&self, key: Value) -> Self {
        match self {
            Self::At(before) => Self::At(Some(Rc::new(Key { key, before: before.clone() }))),
            other => other.clone(),
        }
    }

    /// The path of a new value.
    pub(crate) fn lost(&self) -> Self {
        match self {
            Self::Off => Self::Off,
            _ => Self::Lost,
        }
    }

    fn keys(&self) -> Option<Vec<Value>> {
        let Self::At(last) = self else { return None };
        let mut keys = Vec::new();
        let mut here = last.as_ref();
        while let Some(key) = here {
            keys.push(key.key.clone());
            here = key.before.as_ref();
        }
        keys.reverse();
        Some(keys)
    }
}

impl Item {
    /// A value of its own in the place of this one.
    pub(crate) fn new_value(&self, value: Value) -> Self {
        Self { value, path: self.path.lost() }
    }

    /// The value where no paths are asked for.
    pub(crate) fn off(&self) -> Self {
        Self { value: self.value.clone(), path: Path::Off }
    }

    /// The keys that lead to it.
    pub(crate) fn keys(&self) -> Result<Vec<Value>, Stop> {
        self.path
            .keys()
            .ok_or_else(|| format!("Invalid path expression with result {}", self.value.shown_in_path()).into())
    }

    /// Whether one can go on from it.
    pub(crate) fn accessible(&self, key: &Value) -> Result<(), Stop> {
        if matches!(self.path, Path::Lost) {
            let (key, value) = (key.shown_in_path(), self.value.shown_in_path());
            return Err(format!("Invalid path expression near attempt to access element {key} of {value}").into());
        }
        Ok(())
    }
}

/// A value that is being modified, and the paths that are to be deleted from it.
#[derive(Debug, Default)]
pub(crate) struct Modified {
    pub(crate) value: Value,
    pub(crate) deleted: Vec<Value>,
}

/// What follows: nothing, where the result is the program's.
#[derive(Clone, Default)]
pub(crate) struct Next<'p>(Option<Rc<Kont<'p>>>);

impl<'p> Next<'p> {
    pub(crate) fn new(kont: Kont<'p>) -> Self {
        Self(Some(Rc::new(kont)))
    }

    pub(crate) fn get(&self) -> Option<&Kont<'p>> {
        self.0.as_deref()
    }
}

impl Drop for Next<'_> {
    /// Frees a long list without recursion.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(kont) = next {
            next = Rc::try_unwrap(kont).ok().and_then(|mut kont| kont.rest().and_then(|rest| rest.0.take()));
        }
    }
}

/// What a result is used for.
pub(crate) enum Kont<'p> {
    Pipe(&'p Ir, Environment<'p>, Next<'p>),
    Index(Value, Next<'p>),
    Key(&'p Ir, Environment<'p>, Item, Next<'p>),
    SliceFrom {
        target: &'p Ir,
        to: &'p Ir,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    SliceTo {
        target: &'p Ir,
        from: Value,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    Iterate(Next<'p>),
    Collect(Rc<RefCell<Vec<Value>>>),
    MemberKey {
        entries: &'p [(Ir, Ir)],
        object: Value,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    MemberValue {
        entries: &'p [(Ir, Ir)],
        object: Value,
        key: Rc<str>,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    /// The right operand of a binary operator, and then the left one.
    Right(Operator, &'p Ir, Environment<'p>, Item, Next<'p>),
    Left(Operator, Value, Path, Next<'p>),
    Logic {
        is_and: bool,
        right: &'p Ir,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    Truth(Path, Next<'p>),
    Alternative(Rc<Cell<bool>>, Next<'p>),
    Modify(&'p Ir, Environment<'p>, Rc<RefCell<Modified>>),
    /// The new value under a path, and how many forks there were before it was computed.
    Set(Vec<Value>, usize, Rc<RefCell<Modified>>),
    Fold {
        fold: &'p Fold,
        extract: Option<&'p Ir>,
        is_reduce: bool,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    Bind(Rc<After<'p>>),
    /// The key of a pattern.
    PatternKey {
        name: Option<usize>,
        pattern: Option<&'p Pattern>,
        value: Value,
        work: Vec<(&'p Pattern, Value)>,
        /// The members of the same object that are still to be taken.
        members: &'p [(Ir, Option<usize>, Option<Pattern>)],
        variables: Vec<Value>,
        after: Rc<After<'p>>,
    },
    Reduce(Rc<RefCell<Item>>),
    Foreach(Rc<RefCell<Item>>, Option<&'p Ir>, Environment<'p>, Next<'p>),
    If(&'p Ir, &'p Ir, Environment<'p>, Item, Next<'p>),
    Tried(Next<'p>),
    Arguments {
        native: &'static Native,
        arguments: &'p [Ir],
        /// How many arguments are still to be evaluated after this one.
        left: usize,
        values: Option<Rc<Values>>,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    Format(&'p str, Path, Next<'p>),
    PathOf(Path, Next<'p>),
    GetPath(Item, Next<'p>),
    LimitTo(&'p Ir, Environment<'p>, Item, Next<'p>),
    Limit {
        seen: Cell<f64>,
        most: f64,
        label: usize,
        kont: Next<'p>,
    },
    RangeFrom(&'p Ir, Environment<'p>, Item, Next<'p>),
    RangeTo(f64, Path, Next<'p>),
}

impl<'p> Kont<'p> {
    /// What follows it.
    fn rest(&mut self) -> Option<&mut Next<'p>> {
        match self {
            Self::Pipe(.., kont)
            | Self::Index(_, kont)
            | Self::Key(.., kont)
            | Self::SliceFrom { kont, .. }
            | Self::SliceTo { kont, .. }
            | Self::Iterate(kont)
            | Self::MemberKey { kont, .. }
            | Self::MemberValue { kont, .. }
            | Self::Right(.., kont)
            | Self::Left(.., kont)
            | Self::Logic { kont, .. }
            | Self::Truth(_, kont)
            | Self::Alternative(_, kont)
            | Self::Fold { kont, .. }
            | Self::Foreach(.., kont)
            | Self::If(.., kont)
            | Self::Tried(kont)
            | Self::Arguments { kont, .. }
            | Self::Format(.., kont)
            | Self::PathOf(_, kont)
            | Self::GetPath(_, kont)
            | Self::LimitTo(.., kont)
            | Self::Limit { kont, .. }
            | Self::RangeFrom(.., kont)
            | Self::RangeTo(.., kont) => Some(kont),
            Self::Collect(_)
            | Self::Modify(..)
            | Self::Set(..)
            | Self::Bind(_)
            | Self::PatternKey { .. }
            | Self::Reduce(_) => None,
        }
    }
}

/// Arguments that were evaluated, the first of them first.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) value: Value,
    pub(crate) rest: Option<Rc<Values>>,
}

/// What follows when patterns are bound.
pub(crate) enum After<'p> {
    Body {
        patterns: &'p Patterns,
        body: &'p Ir,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    Fold {
        fold: &'p Fold,
        extract: Option<&'p Ir>,
        is_reduce: bool,
        state: Rc<RefCell<Item>>,
        environment: Environment<'p>,
        path: Path,
        kont: Next<'p>,
    },
}

impl<'p> After<'p> {
    pub(crate) fn patterns(&self) -> &'p Patterns {
        match self {
            Self::Body { patterns, .. } => patterns,
            Self::Fold { fold, .. } => &fold.patterns,
        }
    }

    pub(crate) fn environment(&self) -> &Environment<'p> {
        match self {
            Self::Body { environment, .. } | Self::Fold { environment, .. } => environment,
        }
    }
}

/// Where to go back to.
pub(crate) enum Fork<'p> {
    Eval(&'p Ir, Environment<'p>, Item, Next<'p>),
    Each {
        item: Item,
        at: usize,
        kont: Next<'p>,
    },
    Range {
        at: f64,
        to: f64,
        path: Path,
        kont: Next<'p>,
    },
    Collected(Rc<RefCell<Vec<Value>>>, Path, Next<'p>),
    Reduced(Rc<RefCell<Item>>, Next<'p>),
    Alternative {
        found: Rc<Cell<bool>>,
        right: &'p Ir,
        environment: Environment<'p>,
        item: Item,
        kont: Next<'p>,
    },
    Modified(Rc<RefCell<Modified>>, Path, Next<'p>),
    /// An update without a result: what lies under the path is deleted.
    NotModified(Rc<RefCell<Modified>>, Value),
    Inputs(Path, Next<'p>),
    Try {
        catch: Option<&'p Ir>,
        environment: Environment<'p>,
        path: Path,
        kont: Next<'p>,
    },
    /// A `try` was left: an error from here on is not its own.
    TryEnd,
    Label(usize),
    /// The next pattern, for when an error says that the one before does not fit.
    Pattern {
        value: Value,
        number: usize,
        after: Rc<After<'p>>,
    },
}
