//! The guests of the suite: core modules around which a component is put, and components that are wrong in one way.
//!
//! A guest exports two functions, `attack` and `control`, which do the same act without and within bounds; the component's
//! `run` is one of them.

include!(concat!(env!("OUT_DIR"), "/guests.rs"));

/// Which function of a module a component runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Entry {
    Attack,
    Control,
}

/// Bytes before the first section of a component: magic number, version and layer.
const PREAMBLE: usize = 8;
/// The section of a component that holds a core module.
const CORE_MODULE: u8 = 1;

/// A component of the world `wasi:cli/command` around a core module.
pub(crate) fn component(module: &[u8], entry: Entry) -> Vec<u8> {
    let frame = match entry {
        Entry::Attack => FRAME_ATTACK,
        Entry::Control => FRAME_CONTROL,
    };
    // The frame begins with a module that only stands for the place of the real one.
    let (preamble, sections) = frame.split_at_checked(PREAMBLE).unwrap_or((frame, &[]));
    let rest = after_section(sections);
    let mut bytes = preamble.to_vec();
    bytes.push(CORE_MODULE);
    leb128(&mut bytes, module.len());
    bytes.extend_from_slice(module);
    bytes.extend_from_slice(rest);
    bytes
}

/// What follows the first section.
fn after_section(sections: &[u8]) -> &[u8] {
    let (mut size, mut shift, mut at) = (0usize, 0u32, 1usize);
    while let Some(byte) = sections.get(at) {
        size |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        at += 1;
        if byte & 0x80 == 0 {
            break;
        }
    }
    sections.get(at + size..).unwrap_or_default()
}

/// Appends a number as wasm writes them.
pub(crate) fn leb128(bytes: &mut Vec<u8>, mut value: usize) {
    loop {
        let low = u8::try_from(value & 0x7f).unwrap_or(0);
        value >>= 7;
        if value == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_takes_the_place_of_the_frames_own() {
        let framed = component(LOOP, Entry::Attack);
        assert!(framed.windows(LOOP.len()).any(|window| window == LOOP));
        let again = {
            let (preamble, sections) = framed.split_at(PREAMBLE);
            (preamble.len(), after_section(sections).len())
        };
        assert_eq!(again, (PREAMBLE, after_section(&FRAME_ATTACK[PREAMBLE..]).len()));
    }

    #[test]
    fn numbers_are_written_as_wasm_writes_them() {
        for (value, expected) in [(0, &[0][..]), (127, &[127]), (128, &[0x80, 1]), (300, &[0xac, 2])] {
            let mut bytes = Vec::new();
            leb128(&mut bytes, value);
            assert_eq!(bytes, expected);
        }
    }
}
