//! trial
fn main() { std::process::exit(sed::sed::uumain(std::env::args_os())); }
