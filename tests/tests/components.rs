//! The shipped components beside the rules for those of third parties.

use skillgate_exec_wasm::inspect;
use skillgate_packs::PackSet;

/// The caps are for bombs: what an ordinary toolchain makes of a large program is within them.
#[test]
fn every_shipped_component_is_one_that_a_third_party_could_bring() {
    for pack in PackSet::shipped().components() {
        let wasm = pack.wasm().expect("the embedded bytes are the recorded ones");
        assert_eq!(inspect(&wasm), Ok(()), "{}", pack.name());
    }
}
