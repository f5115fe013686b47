use skillgate_policy::{Approved, CommandRequest, Verdict};

fn main() {}

fn from_nothing() -> Approved {
    Approved::default()
}

fn from_a_request(request: CommandRequest) -> Approved {
    Approved::from(request)
}

fn from_a_vector(vector: Vec<String>) -> Approved {
    vector.into()
}

fn from_a_verdict(verdict: Verdict) -> Approved {
    Approved::new(verdict)
}

fn runs(_: Approved) {}

fn without_the_gate(request: CommandRequest) {
    runs(request);
}
