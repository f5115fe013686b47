use skillgate_core::Limits;

/// The built-in limits (policy.md). A policy can only lower them.
#[must_use]
pub fn builtin_limits() -> Limits {
    Limits {
        wall_ms_injection: 30_000,
        wall_ms_invocation: 120_000,
        memory_bytes: 268_435_456,
        fuel: 50_000_000_000,
        output_bytes: 1_048_576,
        prompt_chars: 30_000,
        commands: 10_000,
        loop_turns: 1_000_000,
        depth: 64,
        pipeline_stages: 16,
        open_files: 64,
        glob_results: 10_000,
        source_bytes: 262_144,
        skill_file_bytes: 1_048_576,
        header_bytes: 65_536,
        native_processes: 64,
        native_file_bytes: 67_108_864,
    }
}
