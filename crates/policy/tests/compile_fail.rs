//! What the types of this crate rule out: an approval that no gate made, an approval used for something else, and a skill's
//! word that grants.

use skillgate_policy::{
    Approved, Authority, Caveat, CaveatKind, CommandRequest, Effect, Gate, Host, Place, Provider, Rule, Sight,
    ToolPattern,
};

#[test]
fn an_approval_is_made_by_the_gate_alone_and_a_caveat_only_takes_away() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// The control: the same values, made and used the way they are meant.
#[test]
fn the_way_through_the_gate_compiles_and_works() {
    let rule = Rule::parse(Effect::Allow, "Bash", Place::Host).expect("a rule");
    let caveat = Caveat {
        skill: skillgate_core::SkillId::new(
            skillgate_core::Source::User,
            skillgate_core::CommandName::new("s").expect("a name"),
        ),
        digest: skillgate_core::Digest::of(b""),
        kind: CaveatKind::Only {
            patterns: vec![ToolPattern::parse("Bash(ls:*)").expect("a pattern")],
            unreadable: Vec::new(),
        },
    };
    let gate = Gate::new(Authority::of(Host::granting([rule])).with(caveat));
    let approved: Approved =
        gate.approve(CommandRequest::from_author(&["ls", "-l"], Provider::Shipped)).expect("it is granted");
    assert_eq!(approved.vector(), ["ls", "-l"]);
    assert_eq!(approved.sight(), Sight::Granted);
    assert_eq!(approved.redeem().expect("nothing was revoked"), ["ls", "-l"]);
}
