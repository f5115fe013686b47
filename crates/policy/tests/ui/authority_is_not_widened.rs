use skillgate_policy::{Authority, Caveat, Gate, Host, Rule};

fn main() {}

fn another_host(authority: &mut Authority, host: Host) {
    authority.host = host;
}

fn one_more_rule(authority: &mut Authority, rule: Rule) {
    authority.host().rules().push(rule);
}

fn fewer_caveats(authority: &mut Authority) {
    authority.caveats.clear();
}

fn none_of_the_caveats(authority: &mut Authority) {
    authority.caveats().clear();
}

fn without(authority: Authority, caveat: &Caveat) -> Authority {
    authority.without(caveat)
}

fn under_another_authority(gate: &mut Gate, authority: Authority) {
    gate.authority = authority;
}
