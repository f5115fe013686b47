//! Every node of a tree, without recursion.

use skillgate_core::Span;

use crate::arithmetic::ArithmeticExpr;
use crate::ast::{
    AndOr, Command, CompoundKind, Conditional, ConditionalKind, List, Pipeline, Program, Redirect, RedirectTarget,
    SimpleCommand,
};
use crate::word::{ParameterOperation, Word, WordPart};

/// A node that [`walk`] gives.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Node<'a> {
    /// A list of commands.
    List(&'a List),
    /// A command of a pipeline.
    Command(&'a Command),
    /// A redirection.
    Redirect(&'a Redirect),
    /// A test of `[[ … ]]`.
    Conditional(&'a Conditional),
    /// An arithmetic expression.
    Arithmetic(&'a ArithmeticExpr),
    /// A word.
    Word(&'a Word),
    /// A part of a word, of a here-document or of an arithmetic expression.
    Part(&'a WordPart),
}

/// An iterator over all nodes; see [`walk`].
#[derive(Clone, Debug)]
pub struct Walk<'a> {
    stack: Vec<Node<'a>>,
}

/// All nodes of a program, each before what is in it and in the order of the source, including what is inside words,
/// conditions, arithmetic, redirections and here-documents.
#[must_use]
pub fn walk(program: &Program) -> Walk<'_> {
    Walk { stack: vec![Node::List(program)] }
}

/// Every simple command of a program, wherever it stands: also in functions, in substitutions inside words, conditions,
/// arithmetic and redirections, and in here-documents. What this gives is all that the program can run by itself.
pub fn simple_commands(program: &Program) -> impl Iterator<Item = &SimpleCommand> {
    walk(program).filter_map(|node| match node {
        Node::Command(Command::Simple(command)) => Some(command),
        _ => None,
    })
}

/// The first hole in a word, wherever it stands in it.
pub(crate) fn first_hole(word: &Word) -> Option<(usize, Span)> {
    Walk { stack: vec![Node::Word(word)] }.find_map(|node| match node {
        Node::Part(WordPart::Hole { index, span, .. }) => Some((*index, *span)),
        _ => None,
    })
}

impl<'a> Iterator for Walk<'a> {
    type Item = Node<'a>;

    fn next(&mut self) -> Option<Node<'a>> {
        let node = self.stack.pop()?;
        let mark = self.stack.len();
        match node {
            Node::List(list) => self.list(list),
            Node::Command(command) => self.command(command),
            Node::Redirect(redirect) => self.redirect(redirect),
            Node::Conditional(conditional) => self.conditional(conditional),
            Node::Arithmetic(expr) => self.parts(&expr.expansions),
            Node::Word(word) => self.parts(&word.parts),
            Node::Part(part) => self.part(part),
        }
        // What was pushed in order must be popped in order.
        self.stack[mark..].reverse();
        Some(node)
    }
}

// No `_` arms below: a new node does not compile until it is decided what is in it.
impl<'a> Walk<'a> {
    fn list(&mut self, list: &'a List) {
        for item in &list.items {
            let AndOr { first, rest, span: _ } = &item.and_or;
            for pipeline in std::iter::once(first).chain(rest.iter().map(|(_, pipeline)| pipeline)) {
                let Pipeline { negated: _, stages, stderr_too: _, span: _ } = pipeline;
                self.stack.extend(stages.iter().map(Node::Command));
            }
        }
    }

    fn command(&mut self, command: &'a Command) {
        match command {
            Command::Simple(SimpleCommand { assignments, words, redirects, span: _ }) => {
                self.stack.extend(assignments.iter().map(|assignment| Node::Word(&assignment.value)));
                self.words(words);
                self.stack.extend(redirects.iter().map(Node::Redirect));
            }
            Command::Compound(compound) => {
                self.compound(&compound.kind);
                self.stack.extend(compound.redirects.iter().map(Node::Redirect));
            }
            Command::Function(function) => {
                self.compound(&function.body.kind);
                self.stack.extend(function.body.redirects.iter().map(Node::Redirect));
            }
        }
    }

    fn compound(&mut self, kind: &'a CompoundKind) {
        match kind {
            CompoundKind::Group(list) | CompoundKind::Subshell(list) => self.stack.push(Node::List(list)),
            CompoundKind::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.stack.extend([Node::List(condition), Node::List(body)]);
                }
                self.stack.extend(otherwise.as_ref().map(Node::List));
            }
            CompoundKind::For { variable: _, words, body } => {
                self.words(words.as_deref().unwrap_or_default());
                self.stack.push(Node::List(body));
            }
            CompoundKind::While { until: _, condition, body } => {
                self.stack.extend([Node::List(condition), Node::List(body)]);
            }
            CompoundKind::Case { subject, arms } => {
                self.stack.push(Node::Word(subject));
                for arm in arms {
                    self.words(&arm.patterns);
                    self.stack.push(Node::List(&arm.body));
                }
            }
            CompoundKind::Conditional(conditional) => self.stack.push(Node::Conditional(conditional)),
            CompoundKind::Arithmetic(expr) => self.stack.push(Node::Arithmetic(expr)),
        }
    }

    fn redirect(&mut self, redirect: &'a Redirect) {
        match &redirect.target {
            RedirectTarget::File(word) | RedirectTarget::HereString(word) => self.stack.push(Node::Word(word)),
            RedirectTarget::HereDocument(document) => self.parts(&document.body().parts),
            RedirectTarget::Descriptor(_) | RedirectTarget::Close => {}
        }
    }

    fn conditional(&mut self, conditional: &'a Conditional) {
        match &conditional.kind {
            ConditionalKind::Unary { test: _, operand } => self.stack.push(Node::Word(operand)),
            ConditionalKind::Binary { test: _, left, right } => {
                self.stack.extend([Node::Word(left), Node::Word(right)]);
            }
            ConditionalKind::Not(inner) => self.stack.push(Node::Conditional(inner)),
            ConditionalKind::All(tests) | ConditionalKind::Any(tests) => {
                self.stack.extend(tests.iter().map(Node::Conditional));
            }
        }
    }

    fn part(&mut self, part: &'a WordPart) {
        match part {
            WordPart::DoubleQuoted { parts, span: _ } => self.parts(parts),
            WordPart::Substitution { list, span: _ } => self.stack.push(Node::List(list)),
            WordPart::Arithmetic { expr, span: _ } => self.stack.push(Node::Arithmetic(expr)),
            WordPart::Parameter(parameter) => match &parameter.operation {
                ParameterOperation::Value | ParameterOperation::Length => {}
                ParameterOperation::Case { upper: _, all: _ } => {}
                ParameterOperation::Unset { rule: _, or_empty: _, word } => self.stack.push(Node::Word(word)),
                ParameterOperation::Remove { side: _, longest: _, pattern } => self.stack.push(Node::Word(pattern)),
                ParameterOperation::Replace { scope: _, pattern, replacement } => {
                    self.stack.extend([Node::Word(pattern), Node::Word(replacement)]);
                }
                ParameterOperation::Substring { offset, length } => {
                    self.stack.push(Node::Arithmetic(offset));
                    self.stack.extend(length.as_ref().map(Node::Arithmetic));
                }
            },
            WordPart::Literal { .. } | WordPart::Quoted { .. } | WordPart::Tilde { .. } | WordPart::Hole { .. } => {}
        }
    }

    fn words(&mut self, words: &'a [Word]) {
        self.stack.extend(words.iter().map(Node::Word));
    }

    fn parts(&mut self, parts: &'a [WordPart]) {
        self.stack.extend(parts.iter().map(Node::Part));
    }
}
