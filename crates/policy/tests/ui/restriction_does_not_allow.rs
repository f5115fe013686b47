use skillgate_policy::{Ceiling, Host, PreApproval, Restriction, Rule, ToolPattern};

fn main() {}

fn an_allowing_rule(host: Host, rule: Rule) -> Host {
    host.restricted([rule])
}

fn made_by_hand(rule: Rule) -> Restriction {
    Restriction(rule)
}

fn allows(pattern: ToolPattern) -> Restriction {
    Restriction::allow(pattern)
}

fn wider_later(host: &mut Host, rule: Rule) {
    host.rules.push(rule);
}

fn without_its_ceiling(host: &mut Host) {
    host.ceilings.clear();
}

fn an_opened_ceiling(ceiling: &mut Ceiling) {
    ceiling.closed = false;
}

fn a_grant(approval: PreApproval) -> Rule {
    approval.into()
}
