use serde::{Deserialize, Serialize};

/// Every bound of a run in one value. There is no default: the policy supplies the numbers, and a lower level of policy can
/// only lower them ([`Limits::lowered_by`]).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Wall time of one injection, milliseconds.
    pub wall_ms_injection: u64,
    /// Wall time of one invocation with all its injections, milliseconds.
    pub wall_ms_invocation: u64,
    /// Memory of all guests of a run together, bytes.
    pub memory_bytes: u64,
    /// Fuel of all guests of a run together: about the WebAssembly instructions they may execute.
    pub fuel: u64,
    /// Output kept of each stream, bytes.
    pub output_bytes: u64,
    /// Output of one injection that enters a prompt, characters.
    pub prompt_chars: u64,
    /// Commands one run may start.
    pub commands: u64,
    /// Turns of all loops of a run together.
    pub loop_turns: u64,
    /// Nesting of substitutions, functions and groups.
    pub depth: u32,
    /// Stages of one pipeline.
    pub pipeline_stages: u32,
    /// Files open at once in one command.
    pub open_files: u32,
    /// Names one pathname expansion may give.
    pub glob_results: u64,
    /// Size of a shell program, bytes.
    pub source_bytes: u64,
    /// Size of a skill's file, bytes.
    pub skill_file_bytes: u64,
    /// Size of a skill's header, bytes.
    pub header_bytes: u64,
    /// Processes of one native program.
    pub native_processes: u32,
    /// Size of a file that a native program writes, bytes.
    pub native_file_bytes: u64,
}

/// A limit that would be raised, or is zero.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LimitsError {
    /// A lower level tried to raise a limit.
    #[error("`{name}` would be raised from {current} to {wanted}; a lower level can only lower a limit")]
    Raised {
        /// The limit's name.
        name: &'static str,
        /// The number in force.
        current: u64,
        /// The number that was asked for.
        wanted: u64,
    },
    /// No limit of this name.
    #[error("there is no limit `{name}`")]
    Unknown {
        /// The name that was asked for.
        name: String,
    },
}

macro_rules! each_limit {
    ($limits:expr, $visit:expr) => {{
        let limits = $limits;
        let mut visit = $visit;
        each_limit!(@fields limits, visit, wall_ms_injection wall_ms_invocation memory_bytes fuel output_bytes
            prompt_chars commands loop_turns depth pipeline_stages open_files glob_results source_bytes skill_file_bytes header_bytes
            native_processes native_file_bytes)
    }};
    (@fields $limits:ident, $visit:ident, $($name:ident)+) => {{ $( $visit(stringify!($name), u64::from($limits.$name)); )+ }};
}

impl Limits {
    /// Every limit's name and number, in the order of the policy file.
    #[must_use]
    pub fn entries(&self) -> Vec<(&'static str, u64)> {
        let mut entries = Vec::new();
        each_limit!(self, |name, value| entries.push((name, value)));
        entries
    }

    /// The same limits with one of them lowered.
    ///
    /// # Errors
    /// [`LimitsError::Raised`] when the number is above the one in force, [`LimitsError::Unknown`] for another name.
    pub fn lowered_by(mut self, name: &str, wanted: u64) -> Result<Self, LimitsError> {
        let (name, current) = self
            .entries()
            .into_iter()
            .find(|(known, _)| *known == name)
            .ok_or_else(|| LimitsError::Unknown { name: name.to_owned() })?;
        if wanted > current {
            return Err(LimitsError::Raised { name, current, wanted });
        }
        // A number at or below a `u32` fits a `u32`.
        let small = || u32::try_from(wanted).unwrap_or(u32::MAX);
        match name {
            "wall_ms_injection" => self.wall_ms_injection = wanted,
            "wall_ms_invocation" => self.wall_ms_invocation = wanted,
            "memory_bytes" => self.memory_bytes = wanted,
            "fuel" => self.fuel = wanted,
            "output_bytes" => self.output_bytes = wanted,
            "prompt_chars" => self.prompt_chars = wanted,
            "commands" => self.commands = wanted,
            "loop_turns" => self.loop_turns = wanted,
            "depth" => self.depth = small(),
            "pipeline_stages" => self.pipeline_stages = small(),
            "open_files" => self.open_files = small(),
            "glob_results" => self.glob_results = wanted,
            "source_bytes" => self.source_bytes = wanted,
            "skill_file_bytes" => self.skill_file_bytes = wanted,
            "header_bytes" => self.header_bytes = wanted,
            "native_processes" => self.native_processes = small(),
            _ => self.native_file_bytes = wanted,
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tens() -> Limits {
        serde_json::from_value(serde_json::json!({
            "wall_ms_injection": 10, "wall_ms_invocation": 10, "memory_bytes": 10, "fuel": 10, "output_bytes": 10,
            "prompt_chars": 10, "commands": 10, "loop_turns": 10, "depth": 10, "pipeline_stages": 10, "open_files": 10, "glob_results": 10,
            "source_bytes": 10, "skill_file_bytes": 10, "header_bytes": 10, "native_processes": 10,
            "native_file_bytes": 10
        }))
        .expect("every limit is named")
    }

    #[test]
    fn every_limit_can_be_lowered_and_none_raised() {
        let names: Vec<_> = tens().entries().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.len(), 17);
        for name in names {
            let lowered = tens().lowered_by(name, 3).expect("lower");
            for (other, value) in lowered.entries() {
                assert_eq!(value, if other == name { 3 } else { 10 }, "{other} after {name}");
            }
            assert_eq!(tens().lowered_by(name, 11), Err(LimitsError::Raised { name, current: 10, wanted: 11 }));
        }
        assert!(matches!(tens().lowered_by("speed", 1), Err(LimitsError::Unknown { .. })));
    }
}
