//! A bundled skill's file that is added or removed builds the command anew; those that are there, the macro tracks itself.

fn main() {
    println!("cargo::rerun-if-changed=bundled");
}
