//! Modules that are valid and costly to compile, made of bytes because as text they would be costly to write.

use crate::guest::leb128;

const PREAMBLE: &[u8] = b"\0asm\x01\0\0\0";
const I32: u8 = 0x7f;
const I32_CONST_0: &[u8] = &[0x41, 0];
const END: u8 = 0x0b;
const NOP: u8 = 0x01;

/// A module of one harmless function and so many bytes that mean nothing.
pub(crate) fn large(bytes: usize) -> Vec<u8> {
    let mut module = of_bodies(&[body(&[], I32_CONST_0)]);
    let mut custom = vec![1, b'x'];
    custom.resize(bytes, 0);
    section(&mut module, 0, &custom);
    module
}

/// One function of so many instructions that do nothing.
pub(crate) fn long_function(bytes: usize) -> Vec<u8> {
    let mut code = vec![NOP; bytes];
    code.extend_from_slice(I32_CONST_0);
    of_bodies(&[body(&[], &code)])
}

/// So many functions.
pub(crate) fn many_functions(count: usize) -> Vec<u8> {
    of_bodies(&vec![body(&[], I32_CONST_0); count])
}

/// So many blocks in each other, and in the innermost a branch to each of them.
pub(crate) fn nested_blocks(depth: usize) -> Vec<u8> {
    let mut code: Vec<u8> = [0x02, 0x40].repeat(depth);
    code.extend_from_slice(I32_CONST_0);
    code.push(0x0e);
    leb128(&mut code, depth - 1);
    (0..depth).for_each(|target| leb128(&mut code, target));
    code.extend(std::iter::repeat_n(END, depth));
    code.extend_from_slice(I32_CONST_0);
    of_bodies(&[body(&[], &code)])
}

/// So many locals, which so many branches change.
pub(crate) fn many_locals(count: usize, branches: usize) -> Vec<u8> {
    let mut locals = vec![1];
    leb128(&mut locals, count);
    locals.push(I32);
    let mut code = Vec::new();
    for index in 0..branches {
        // local.get 0, if, i32.const 0, local.set INDEX, end
        code.extend_from_slice(&[0x20, 0, 0x04, 0x40, 0x41, 0, 0x21]);
        leb128(&mut code, index % count);
        code.push(END);
    }
    code.extend_from_slice(I32_CONST_0);
    of_bodies(&[body(&locals, &code)])
}

/// A function's body with its size; `locals` is their declaration, none when empty.
fn body(locals: &[u8], code: &[u8]) -> Vec<u8> {
    let locals = if locals.is_empty() { &[0][..] } else { locals };
    let mut bytes = Vec::with_capacity(locals.len() + code.len() + 8);
    leb128(&mut bytes, locals.len() + code.len() + 1);
    bytes.extend_from_slice(locals);
    bytes.extend_from_slice(code);
    bytes.push(END);
    bytes
}

/// A module of functions that give a number, of which the first is the entry of a guest.
fn of_bodies(bodies: &[Vec<u8>]) -> Vec<u8> {
    let mut module = PREAMBLE.to_vec();
    // One type: from nothing to a number.
    section(&mut module, 1, &[1, 0x60, 0, 1, I32]);
    let mut functions = Vec::new();
    leb128(&mut functions, bodies.len());
    functions.resize(functions.len() + bodies.len(), 0);
    section(&mut module, 3, &functions);
    let mut export = vec![1, 7];
    export.extend_from_slice(b"control\0\0");
    section(&mut module, 7, &export);
    let mut code = Vec::new();
    leb128(&mut code, bodies.len());
    bodies.iter().for_each(|body| code.extend_from_slice(body));
    section(&mut module, 10, &code);
    module
}

fn section(module: &mut Vec<u8>, id: u8, contents: &[u8]) {
    module.push(id);
    leb128(module, contents.len());
    module.extend_from_slice(contents);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guest::{Entry, component};
    use skillgate_exec_wasm::{ComponentFault, inspect};

    #[test]
    fn small_ones_are_fine_so_that_it_is_the_size_that_is_refused() {
        for (module, large) in [
            (large(64), large(33 << 20)),
            (long_function(64), long_function(4 << 20)),
            (many_functions(8), many_functions(100_000)),
            (nested_blocks(8), nested_blocks(20_000)),
            (many_locals(8, 8), many_locals(49_000, 8)),
        ] {
            assert_eq!(inspect(&component(&module, Entry::Control)), Ok(()));
            let refused = inspect(&component(&large, Entry::Control));
            assert!(matches!(refused, Err(ComponentFault::TooLarge { .. })), "{refused:?}");
        }
    }
}
