//! The helper of the host sandbox. Started by Skillgate, with a plan on its standard input; of no use by itself.

fn main() {
    skillgate_sandbox::run_main()
}
