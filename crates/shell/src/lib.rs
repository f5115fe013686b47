//! Shell programs as data: a syntax tree with byte spans, arithmetic, brace expansion and patterns.
//!
//! The language is POSIX `sh` and the parts of bash that published skills use. This crate **runs nothing**: it does no IO,
//! knows no async runtime, starts no process, reads no environment, and compiles for `wasm32-unknown-unknown`. It must
//! not grow any of these, and it must not guess: a construct that two shells read differently, or that the tree cannot
//! express, is a [`SyntaxError`] with the span of the construct. Time is linear in the input for a given nesting limit,
//! and nesting is counted, so that no input can exhaust the stack.
//!
//! Start at [`parse`]; it gives a [`Program`]. [`simple_commands`] lists every command in it, including those in
//! substitutions, so that all of them can be decided before the first runs. Placeholders of a skill's arguments are
//! [`Hole`]s: places where data goes into the program. Their bytes are never read as syntax, and a hole in a place where
//! its value could be read as syntax is refused.
//!
//! ```
//! use skillgate_shell::{Hole, HoleKind, ParseOptions, SingleQuoteRule, parse, simple_commands};
//! use skillgate_core::Span;
//!
//! let source = "git log -n $1 | head -5 || echo $(date)";
//! let hole = Hole { span: Span::new(11, 13), kind: HoleKind::Word, in_single_quotes: SingleQuoteRule::Literal };
//! let program = parse(source, &[hole], &ParseOptions::new(256 * 1024, 64))?;
//! let names: Vec<_> = simple_commands(&program).filter_map(|command| command.words.first()?.as_literal()).collect();
//! assert_eq!(names, ["git", "head", "echo", "date"]);
//! # Ok::<(), skillgate_shell::SyntaxError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ast;
mod error;
mod hole;
mod parse;
mod test_operators;
mod walk;
mod word;

pub mod arithmetic;
pub mod braces;
pub mod pattern;

pub use arithmetic::{Arithmetic, ArithmeticError, ArithmeticExpr, Variables};
pub use ast::{
    AndOr, Assignment, BinaryTest, CaseArm, CaseTerminator, Command, CompoundCommand, CompoundKind, Conditional,
    ConditionalKind, Connector, FunctionDefinition, HereDocument, HereDocumentBody, List, ListItem, Pipeline, Program,
    Redirect, RedirectOperator, RedirectTarget, SimpleCommand, UnaryTest,
};
pub use error::{HolePlace, SyntaxError, SyntaxErrorKind};
pub use hole::{Hole, HoleKind, SingleQuoteRule};
pub use parse::{MAX_NESTING, ParseOptions, parse};
pub use walk::{Node, Walk, simple_commands, walk};
pub use word::{
    Parameter, ParameterName, ParameterOperation, RemoveSide, ReplaceScope, Special, UnsetRule, Word, WordPart,
};
