//! The tree of a pattern as the regex crates take it.

use super::syntax::Node;
use regex_syntax::hir::{Capture, Class, Hir, Repetition};

/// The tree, with its groups when they are asked for. A pattern with back-references has no such form.
pub(super) fn hir(node: &Node, groups: bool) -> Option<Hir> {
    let all = |nodes: &[Node]| nodes.iter().map(|node| hir(node, groups)).collect::<Option<Vec<Hir>>>();
    Some(match node {
        Node::Char(c) => Hir::literal(c.encode_utf8(&mut [0; 4]).as_bytes()),
        Node::Set(set) => Hir::class(Class::Unicode(set.clone())),
        Node::Look(look) => Hir::look(*look),
        Node::Group(inner, _) if !groups => hir(inner, groups)?,
        Node::Group(inner, index) => {
            Hir::capture(Capture { index: u32::try_from(*index).ok()?, name: None, sub: Box::new(hir(inner, groups)?) })
        }
        Node::Cat(nodes) => Hir::concat(all(nodes)?),
        Node::Or(nodes) => Hir::alternation(all(nodes)?),
        Node::Repeat(inner, least, most) => {
            Hir::repetition(Repetition { min: *least, max: *most, greedy: true, sub: Box::new(hir(inner, groups)?) })
        }
        Node::Back(_) => return None,
    })
}
