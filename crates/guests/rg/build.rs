//! Turns `commands.txt`, the one list of what this component offers, into its dispatch table.

use std::fmt::Write as _;
use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=commands.txt");
    let list = fs::read_to_string("commands.txt").expect("commands.txt lies beside this script");
    let mut table = String::from("/// Generated from `commands.txt`.\nconst COMMANDS: &[Command] = &[\n");
    for (at, line) in list.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let [name, function] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("commands.txt:{}: expected a name and a function", at + 1);
        };
        writeln!(table, "    Command {{ name: {name:?}, main: {function} }},").expect("writing to a String");
    }
    table.push_str("];\n");
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("commands.rs");
    fs::write(out, table).expect("OUT_DIR is writable");
}
