use skillgate_policy::{Authority, Caveat, Gate, Host, Rule};

fn main() {}

fn as_a_rule(caveat: Caveat) -> Host {
    Host::granting([caveat])
}

fn as_a_host(caveat: Caveat) -> Authority {
    Authority::of(caveat)
}

fn as_an_authority(caveat: Caveat) -> Gate {
    Gate::new(caveat)
}

fn converted(caveat: Caveat) -> Rule {
    caveat.into()
}
