//! How much memory this process takes while something runs in it.

use crate::environment::status_field;

/// Bytes that a wasm engine, a thread and the allocator may take beside what a guest does.
pub(crate) const SLACK: u64 = 8 << 20;

/// Runs something and gives the growth of the process's peak, bytes.
pub(crate) fn growth<T>(act: impl FnOnce() -> T) -> (T, u64) {
    // A kernel that does not reset the peak gives one that is too high, which only makes a case stricter.
    let _not_reset = std::fs::write("/proc/self/clear_refs", "5");
    let before = kibibytes("VmRSS").unwrap_or(0);
    let value = act();
    let peak = kibibytes("VmHWM").unwrap_or(u64::MAX >> 10);
    (value, peak.saturating_sub(before) << 10)
}

fn kibibytes(name: &str) -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    status_field(&status, name)?.split_whitespace().next()?.parse().ok()
}

/// Bytes as people read them.
pub(crate) fn mebibytes(bytes: u64) -> String {
    format!("{} MiB", bytes >> 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_is_seen() {
        let (sum, grown) = growth(|| {
            let bytes = std::hint::black_box(vec![1u8; 64 << 20]);
            bytes.iter().step_by(4096).map(|byte| u64::from(*byte)).sum::<u64>()
        });
        assert_eq!(sum, 64 << 8);
        assert!(grown >= 60 << 20, "{grown}");
    }
}
