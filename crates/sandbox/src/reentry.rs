use crate::linux;

/// The name under which a program is started again as the helper.
pub(crate) const HELPER_NAME: &str = "skillgate-sandbox-helper";

/// Call this first in `main`, before any thread exists: when the program was started again as the helper, this never returns.
pub fn init() {
    if std::env::args_os().next().is_some_and(|name| name == HELPER_NAME) {
        run_main();
    }
}

/// Waits on standard input for runs, and starts a process for each, which reads its plan and confines itself by it. The `main` of
/// the helper.
pub fn run_main() -> ! {
    linux::run_main()
}
