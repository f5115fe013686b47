use skillgate_sandbox::{StageReport, Unavailable};

/// What the host sandbox can enforce here.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DoctorReport {
    /// What each stage enforced in a self-test; as far as it came, when it did not come to its end.
    pub stages: Vec<StageReport>,
    /// The stage that failed, and why; the sandbox is available without one.
    pub unavailable: Option<Unavailable>,
    /// The programs that the host names.
    pub programs: Vec<ProgramReport>,
    /// Whether this build can be told to fail a stage, as no distributed build can.
    pub fault_injection: bool,
}

/// A program of the machine that the host names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProgramReport {
    /// The name by which commands call it.
    pub name: String,
    /// Its path as the policy names it.
    pub path: String,
    /// Why it cannot be run; it can without one.
    pub fault: Option<String>,
}
