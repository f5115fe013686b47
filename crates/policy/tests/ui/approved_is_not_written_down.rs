use skillgate_policy::{Approved, Gate, Provider, Revocation, Sight};

fn main() {}

fn made_by_hand(gate: &Gate) -> Approved {
    Approved {
        vector: vec!["rm".to_owned()],
        provider: Provider::Shipped,
        sight: Sight::Granted,
        rule: "none".to_owned(),
        paths: gate.paths().clone(),
        revocation: Revocation::default(),
    }
}

fn changed_by_update(approved: Approved) -> Approved {
    Approved { vector: vec!["rm".to_owned()], ..approved }
}
