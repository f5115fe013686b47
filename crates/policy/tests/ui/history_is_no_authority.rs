use skillgate_policy::{Authority, Gate, History, Host, SavedCaveat};

fn main() {}

fn as_an_authority(history: History) -> Authority {
    history.into()
}

fn a_gate_of_it(history: History) -> Gate {
    Gate::new(history)
}

fn without_a_host(history: History) -> Host {
    Host::from(history)
}

fn written_by_hand(caveats: Vec<SavedCaveat>) -> History {
    History { version: 1, caveats }
}
