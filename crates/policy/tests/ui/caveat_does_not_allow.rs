use skillgate_policy::{CaveatKind, ToolPattern};

fn main() {}

fn allows(patterns: Vec<ToolPattern>) -> CaveatKind {
    CaveatKind::Allow(patterns)
}

fn adds(patterns: Vec<ToolPattern>) -> CaveatKind {
    CaveatKind::Also { patterns, unreadable: Vec::new() }
}
