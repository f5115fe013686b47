//! What names stand for while a program runs: a list that shares its end with others.

use crate::ir::{Function, Ir};
use crate::value::Value;
use std::rc::Rc;

/// The bindings, the innermost first.
#[derive(Clone, Default)]
pub(crate) struct Environment<'p>(Option<Rc<Node<'p>>>);

struct Node<'p> {
    binding: Binding<'p>,
    outer: Environment<'p>,
}

/// One entry.
#[derive(Clone)]
pub(crate) enum Binding<'p> {
    /// Variables that are bound together.
    Variables(Rc<[Value]>),
    /// An argument: a program with the environment it came from.
    Closure(&'p Ir, Environment<'p>),
    Function(&'p Function),
    Label(usize),
}

/// What stands where nothing can be found; the compiler makes no such places.
const NOTHING: &Ir = &Ir::Empty;
const NO_FUNCTION: &Function = &Function { body: Ir::Empty };

impl<'p> Environment<'p> {
    pub(crate) fn with(&self, binding: Binding<'p>) -> Self {
        Self(Some(Rc::new(Node { binding, outer: self.clone() })))
    }

    /// The environment from a binding on. The compiler counts the same entries, so it is there.
    fn from(&self, depth: usize) -> &Self {
        let mut here = self;
        for _ in 0..depth {
            match &here.0 {
                Some(node) => here = &node.outer,
                None => break,
            }
        }
        here
    }

    fn binding(&self, depth: usize) -> Option<&Binding<'p>> {
        self.from(depth).0.as_ref().map(|node| &node.binding)
    }

    pub(crate) fn variable(&self, depth: usize, slot: usize) -> Value {
        match self.binding(depth) {
            Some(Binding::Variables(values)) => values.get(slot).cloned().unwrap_or_default(),
            _ => Value::Null,
        }
    }

    pub(crate) fn label(&self, depth: usize) -> usize {
        match self.binding(depth) {
            Some(Binding::Label(label)) => *label,
            _ => 0,
        }
    }

    /// A function with the environment in which it was defined, itself included.
    pub(crate) fn function(&self, depth: usize) -> (&'p Function, Self) {
        match self.binding(depth) {
            Some(Binding::Function(function)) => (function, self.from(depth).clone()),
            _ => (NO_FUNCTION, Self::default()),
        }
    }

    pub(crate) fn closure(&self, depth: usize) -> (&'p Ir, Self) {
        match self.binding(depth) {
            Some(Binding::Closure(body, home)) => (body, home.clone()),
            _ => (NOTHING, Self::default()),
        }
    }

    /// An argument that is evaluated here. One that only hands on another is that other.
    pub(crate) fn argument(&self, ir: &'p Ir) -> Binding<'p> {
        if let Ir::CallArgument(depth) = ir {
            let (body, home) = self.closure(*depth);
            return Binding::Closure(body, home);
        }
        Binding::Closure(ir, self.clone())
    }
}

impl Drop for Environment<'_> {
    /// Frees a long list without recursion.
    fn drop(&mut self) {
        let mut next = self.0.take();
        while let Some(node) = next {
            next = Rc::try_unwrap(node).ok().and_then(|mut node| node.outer.0.take());
        }
    }
}
