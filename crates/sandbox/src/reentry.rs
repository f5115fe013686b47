use crate::linux;

/// The name under which a program is started again as the helper.
pub(crate) const HELPER_NAME: &str = "skillgate-sandbox-helper";

/// Call this first in `main`, before any thread exists: when the program was started again as the helper, this never returns.
pub fn init() {
    if std::env::args_os().next().is_some_and(|name| name == HELPER_NAME) {
        run_main();
    }
}

/// Reads a plan from standard input, confines this process by it, and runs its program. The `main` of the helper.
pub fn run_main() -> ! {
    linux::run_main()
}
