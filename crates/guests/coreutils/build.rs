//! Turns `commands.txt`, the one list of what this component offers, into its dispatch table.

use std::fmt::Write as _;
use std::{env, fs, path::Path};

fn main() {
    println!("cargo::rerun-if-changed=commands.txt");
    let list = fs::read_to_string("commands.txt").expect("commands.txt lies beside this script");
    let out = Path::new(&env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("applets.rs");
    fs::write(out, table(&list)).expect("OUT_DIR is writable");
}

fn table(list: &str) -> String {
    let mut table = String::from("/// Generated from `commands.txt`.\nconst APPLETS: &[Applet] = &[\n");
    let mut previous = "";
    for (at, line) in list.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let [name, function, catalogue] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            panic!("commands.txt:{}: expected a name, a function and a catalogue", at + 1);
        };
        assert!(previous < name, "commands.txt:{}: `{name}` is not in byte order, or twice in the list", at + 1);
        previous = name;
        let catalogue = if catalogue == "-" { "None".to_owned() } else { format!("Some({catalogue:?})") };
        writeln!(table, "    Applet {{ name: {name:?}, catalogue: {catalogue}, main: {function} }},")
            .expect("writing to a String");
    }
    table.push_str("];\n");
    table
}
