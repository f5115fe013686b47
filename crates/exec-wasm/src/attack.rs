//! Guests that misbehave, for tests and for the auditor's suite: each does one thing that the backend has to stop, and most
//! take a number that makes it harmless. They are written in the WebAssembly text format, so that nothing but this crate is
//! needed to make them.
//!
//! [`Attack::component`] gives the bytes of a `wasi:cli/command` component; [`caller`] is one that makes whatever calls its
//! standard input lists ([`Calls`]).

mod hook;

pub use hook::HookGuest;

use std::fmt::Write as _;

/// A component around a core module with these definitions, which imports nothing. The module exports `run`.
fn alone(module: &str) -> Vec<u8> {
    assemble(&format!(
        "(component
           (core module $guest {module})
           (core instance $guest (instantiate $guest))
           {EXPORT_RUN})"
    ))
}

const EXPORT_RUN: &str = r#"
    (func $run (result (result)) (canon lift (core func $guest "run")))
    (component $command
      (import "import-run" (func $run (result (result))))
      (export "run" (func $run)))
    (instance $command (instantiate $command (with "import-run" (func $run))))
    (export "wasi:cli/run@0.2.0" (instance $command))"#;

/// A component around a core module that may call the host.
fn hosted(module: &str) -> Vec<u8> {
    assemble(&include_str!("../guests/host.wat").replacen(";;MODULE", module, 1))
}

fn assemble(text: &str) -> Vec<u8> {
    wat::parse_str(text).expect("the guests of this module are well-formed, and a test assembles each")
}

/// One way to misbehave. A number makes it as bad as a test wants.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Attack {
    /// Ends at once with success: the control of the others.
    Nothing,
    /// Runs so many turns of a loop; `u64::MAX` is for ever.
    Spin(u64),
    /// The same in the start section of its module.
    SpinAtStart(u64),
    /// Fills its whole memory so often.
    Fill(u64),
    /// Grows its memory to so many pages of 64 KiB; it fails when it gets less.
    GrowMemory(u32),
    /// Has so many modules with a memory of so many pages each.
    ManyMemories(u32, u32),
    /// Grows its table to so many elements; it fails when it gets less.
    GrowTable(u32),
    /// Has so many modules with a table of so many elements each.
    ManyTables(u32, u32),
    /// Has so many core instances.
    ManyInstances(u32),
    /// Calls itself so deep.
    Recurse(u32),
    /// Traps at once.
    Trap,
    /// Looks for a mark in all of its memory and its global, fails when one is there, leaves one, and traps.
    LeaveMark,
    /// Leaves the mark and then looks for it: the control of [`Attack::LeaveMark`].
    FindOwnMark,
    /// Waits in the host for so many nanoseconds.
    Wait(u64),
    /// Writes so many times so many bytes, at most 65,536, to standard output.
    Flood(u64, u32),
    /// Asks so often for a handle and keeps it.
    Handles(u32),
    /// Opens a file, whose path standard input names, a thousand times, drops its descriptor and keeps a stream of it; or drops
    /// that too.
    StreamsBehindClosedDescriptors {
        /// Whether the streams are kept.
        keep: bool,
    },
    /// Makes resources of its own without end.
    OwnResources,
    /// Uses what the engine has switched off.
    Proposal(Proposal),
    /// Is expensive to compile.
    CompileBomb(CompileBomb),
}

/// What the engine has switched off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Proposal {
    /// A memory that threads share.
    SharedMemory,
    /// A memory with addresses of 64 bits.
    Memory64,
    /// Two memories in one module.
    MultiMemory,
    /// A structure of the garbage collector.
    Gc,
    /// An exception's tag.
    Exceptions,
    /// A call that takes the place of its caller.
    TailCall,
    /// An instruction whose result depends on the processor.
    RelaxedSimd,
}

impl Proposal {
    /// All of them.
    pub const ALL: &'static [Proposal] = &[
        Proposal::SharedMemory,
        Proposal::Memory64,
        Proposal::MultiMemory,
        Proposal::Gc,
        Proposal::Exceptions,
        Proposal::TailCall,
        Proposal::RelaxedSimd,
    ];

    fn definitions(self) -> &'static str {
        match self {
            Proposal::SharedMemory => "(memory 1 1 shared)",
            Proposal::Memory64 => "(memory i64 1)",
            Proposal::MultiMemory => "(memory 1) (memory 1)",
            Proposal::Gc => "(type (struct (field i32)))",
            Proposal::Exceptions => "(tag)",
            Proposal::TailCall => "(func $f return_call $f)",
            Proposal::RelaxedSimd => {
                "(func (param v128 v128) (result v128) (i8x16.relaxed_swizzle (local.get 0) (local.get 1)))"
            }
        }
    }
}

/// What makes a component expensive to compile. Each takes a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CompileBomb {
    /// So many bytes of data.
    Size(u32),
    /// One function of so many bytes, about.
    Body(u32),
    /// So many functions.
    Functions(u32),
    /// So many blocks inside each other.
    Nesting(u32),
    /// One branch with so many targets.
    BranchTargets(u32),
    /// So many locals, which so many branches join.
    Locals(u32, u32),
    /// So many components inside each other.
    Depth(u32),
}

impl CompileBomb {
    fn component(self) -> Vec<u8> {
        const RUN: &str = "(func (export \"run\") (result i32) i32.const 0)";
        match self {
            CompileBomb::Size(bytes) => {
                let pages = bytes / 65_536 + 1;
                let data = "x".repeat(bytes as usize);
                alone(&format!("(memory {pages}) (data (i32.const 0) \"{data}\") {RUN}"))
            }
            CompileBomb::Body(bytes) => {
                // `i32.const`, `drop`: three bytes.
                alone(&format!("{RUN} (func {})", "i32.const 1 drop ".repeat(bytes as usize / 3)))
            }
            CompileBomb::Functions(count) => alone(&format!("{RUN} {}", "(func) ".repeat(count as usize))),
            CompileBomb::Nesting(depth) => {
                let depth = depth as usize;
                alone(&format!("{RUN} (func {} {})", "block ".repeat(depth), "end ".repeat(depth)))
            }
            CompileBomb::BranchTargets(count) => alone(&format!(
                "{RUN} (func (param i32) (block local.get 0 br_table {} ))",
                "0 ".repeat(count as usize)
            )),
            CompileBomb::Locals(count, joins) => {
                let mut body = String::new();
                for index in 0..joins {
                    let local = 1 + index % count;
                    let _infallible =
                        write!(body, "(if (local.get 0) (then (local.set {local} (i32.const {index})))) ");
                }
                alone(&format!("{RUN} (func (param i32) (local {}) {body})", "i32 ".repeat(count as usize)))
            }
            CompileBomb::Depth(depth) => {
                let depth = depth as usize;
                assemble(&format!("{}{}", "(component ".repeat(depth), ")".repeat(depth)))
            }
        }
    }
}

impl Attack {
    /// The guest as a component.
    #[must_use]
    pub fn component(&self) -> Vec<u8> {
        let succeed = "(func (export \"run\") (result i32) i32.const 0)";
        match self {
            Attack::Nothing => alone(succeed),
            Attack::Spin(turns) => {
                alone(&format!("{} (func (export \"run\") (result i32) call $spin i32.const 0)", spin(*turns)))
            }
            Attack::SpinAtStart(turns) => alone(&format!("{} (start $spin) {succeed}", spin(*turns))),
            Attack::Fill(times) => alone(&format!(
                "(memory 1024)
                 (func (export \"run\") (result i32) (local i64)
                   (local.set 0 (i64.const {}))
                   (loop
                     (memory.fill (i32.const 0) (i32.wrap_i64 (local.get 0)) (i32.const 67108864))
                     (br_if 0 (i64.ne (local.tee 0 (i64.sub (local.get 0) (i64.const 1))) (i64.const 0))))
                   i32.const 0)",
                times.cast_signed()
            )),
            Attack::GrowMemory(pages) => alone(&format!(
                "(memory 0)
                 (func (export \"run\") (result i32)
                   (loop
                     (if (i32.eq (memory.grow (i32.const 16)) (i32.const -1)) (then (return (i32.const 1))))
                     (i32.store (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 4)) (i32.const 1))
                     (br_if 0 (i32.lt_u (memory.size) (i32.const {pages}))))
                   i32.const 0)"
            )),
            Attack::ManyMemories(count, pages) => many(*count, &format!("(memory {pages})")),
            Attack::GrowTable(elements) => alone(&format!(
                "(table 0 funcref)
                 (func (export \"run\") (result i32)
                   (i32.eq (table.grow (ref.null func) (i32.const {elements})) (i32.const -1)))"
            )),
            Attack::ManyTables(count, elements) => many(*count, &format!("(table {elements} funcref)")),
            Attack::ManyInstances(count) => many(*count, ""),
            Attack::Recurse(depth) => alone(&format!(
                "(func $deeper (param i32) (result i32)
                   (if (result i32) (local.get 0)
                     (then (i32.add (call $deeper (i32.sub (local.get 0) (i32.const 1))) (i32.const 1)))
                     (else (i32.const 0))))
                 (func (export \"run\") (result i32)
                   (i32.ne (call $deeper (i32.const {depth})) (i32.const {depth})))",
                depth = depth.cast_signed()
            )),
            Attack::Trap => alone("(func (export \"run\") (result i32) unreachable)"),
            Attack::LeaveMark => alone(&format!(
                "{MARKS} (func (export \"run\") (result i32)
                   (if (call $is-marked) (then (return (i32.const 1))))
                   call $mark
                   unreachable)"
            )),
            Attack::FindOwnMark => {
                alone(&format!("{MARKS} (func (export \"run\") (result i32) call $mark call $is-marked)"))
            }
            Attack::Wait(nanoseconds) => hosted(
                &include_str!("../guests/wait.wat").replace("NANOSECONDS", &nanoseconds.cast_signed().to_string()),
            ),
            Attack::Flood(count, size) => hosted(
                &include_str!("../guests/flood.wat")
                    .replace("COUNT", &count.cast_signed().to_string())
                    .replace("SIZE", &size.to_string()),
            ),
            Attack::Handles(count) => {
                hosted(&include_str!("../guests/handles.wat").replace("COUNT", &count.to_string()))
            }
            Attack::StreamsBehindClosedDescriptors { keep } => {
                hosted(&include_str!("../guests/streams.wat").replace("KEEP", &u8::from(*keep).to_string()))
            }
            Attack::OwnResources => assemble(&format!(
                r#"(component
                     (type $own (resource (rep i32)))
                     (core func $new (canon resource.new $own))
                     (core module $guest
                       (import "own" "new" (func $new (param i32) (result i32)))
                       (func (export "run") (result i32) (loop (drop (call $new (i32.const 0))) (br 0)) unreachable))
                     (core instance $guest (instantiate $guest (with "own" (instance (export "new" (func $new))))))
                     {EXPORT_RUN})"#
            )),
            Attack::Proposal(proposal) => alone(&format!("{} {succeed}", proposal.definitions())),
            Attack::CompileBomb(bomb) => bomb.component(),
        }
    }
}

/// Leaving a mark everywhere, and looking for one.
const MARKS: &str = "
    (memory 64)
    (global $mark (mut i32) (i32.const 0))
    (func $mark
      (memory.fill (i32.const 0) (i32.const 77) (i32.const 4194304))
      (global.set $mark (i32.const 1)))
    (func $is-marked (result i32) (local i32)
      (if (global.get $mark) (then (return (i32.const 1))))
      (loop
        (if (i32.load (local.get 0)) (then (return (i32.const 1))))
        (br_if 0 (i32.lt_u (local.tee 0 (i32.add (local.get 0) (i32.const 4))) (i32.const 4194304))))
      i32.const 0)";

fn spin(turns: u64) -> String {
    format!(
        "(func $spin (local i64)
           (local.set 0 (i64.const {}))
           (loop (br_if 0 (i64.ne (local.tee 0 (i64.sub (local.get 0) (i64.const 1))) (i64.const 0)))))",
        turns.cast_signed()
    )
}

/// A component with so many instances of modules of these definitions.
fn many(count: u32, definitions: &str) -> Vec<u8> {
    let mut text = format!(
        "(component
           (core module $guest (func (export \"run\") (result i32) i32.const 0))
           (core instance $guest (instantiate $guest))
           (core module $more {definitions})"
    );
    for _ in 0..count {
        text.push_str("(core instance (instantiate $more))");
    }
    text.push_str(EXPORT_RUN);
    text.push(')');
    assemble(&text)
}

/// A component that makes the calls that its standard input lists; see [`Calls`].
#[must_use]
pub fn caller() -> Vec<u8> {
    hosted(include_str!("../guests/caller.wat"))
}

/// A function of the host that [`caller`] can call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
#[expect(missing_docs, reason = "each is the function of WASI of that name")]
pub enum Operation {
    OpenAt = 1,
    StatAt,
    CreateDirectoryAt,
    RemoveDirectoryAt,
    UnlinkFileAt,
    RenameAt,
    LinkAt,
    SymlinkAt,
    SetTimesAt,
    ReadlinkAt,
    ReadDirectory,
    ReadDirectoryEntry,
    Read,
    Write,
    SetSize,
    SetTimes,
    ReadViaStream,
    WriteViaStream,
    AppendViaStream,
    StreamRead,
    StreamBlockingRead,
    StreamWrite,
    StreamBlockingWriteAndFlush,
    StreamWriteZeroes,
    StreamSplice,
    StreamCheckWrite,
    SubscribeInput,
    SubscribeOutput,
    SubscribeDuration,
    PollableBlock,
    PollableReady,
    Poll,
    RandomBytes,
    GetStdin,
    GetStderr,
    GetDirectories,
    DropDescriptor,
    DropInputStream,
    DropOutputStream,
    DropDirectoryEntryStream,
    DropPollable,
}

/// An argument of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Argument<'a> {
    /// A number, an address or a handle, as it is. As a size of 64 bits it keeps its sign.
    Number(u32),
    /// A text: two numbers, its address and its length.
    Text(&'a str),
    /// The value that the call of this index gave.
    Value(u32),
    /// The directory that the guest was given.
    Root,
    /// The guest's standard output.
    Stdout,
    /// The guest's standard input.
    Stdin,
}

/// Bytes of a call in the list.
const RECORD: usize = 44;
/// Where the guest puts its input.
const INPUT: usize = 0x1_0000;

/// A list of calls for [`caller`], as it is written to its standard input.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    records: Vec<(u32, Vec<u32>)>,
    texts: Vec<(usize, usize, Vec<u8>)>,
}

impl Calls {
    /// Adds a call and gives its index, by which later calls name its value.
    pub fn add(&mut self, operation: Operation, arguments: &[Argument<'_>]) -> u32 {
        let index = self.records.len();
        let mut numbers = Vec::new();
        for argument in arguments {
            match argument {
                Argument::Number(number) => numbers.push(*number),
                Argument::Text(text) => {
                    self.texts.push((index, numbers.len(), text.as_bytes().to_vec()));
                    numbers.extend([0, u32::try_from(text.len()).unwrap_or(u32::MAX)]);
                }
                Argument::Root => numbers.push(0xf000_0000),
                Argument::Stdout => numbers.push(0xf000_0001),
                Argument::Stdin => numbers.push(0xf000_0002),
                Argument::Value(call) => numbers.push(0xf000_0003 + call),
            }
        }
        self.records.push((operation as u32, numbers));
        u32::try_from(index).unwrap_or(u32::MAX)
    }

    /// What is written to the guest's standard input.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        let mut records = self.records.clone();
        let mut data = Vec::new();
        let start = INPUT + (records.len() + 1) * RECORD;
        for (record, argument, text) in &self.texts {
            records[*record].1[*argument] = u32::try_from(start + data.len()).unwrap_or(u32::MAX);
            data.extend_from_slice(text);
        }
        let mut bytes = Vec::new();
        for (operation, arguments) in records.iter().chain([&(0, Vec::new())]) {
            let numbers = std::iter::once(operation).chain(arguments).chain(std::iter::repeat(&0));
            bytes.extend(numbers.take(RECORD / 4).flat_map(|number| number.to_le_bytes()));
        }
        bytes.extend(data);
        bytes
    }

    /// What the calls gave, from the guest's standard output: a value, or the number of the error.
    #[must_use]
    pub fn results(output: &[u8]) -> Vec<Result<u32, u32>> {
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
        let result = |bytes: &[u8]| {
            let (failed, value) = bytes.split_at(4);
            if number(failed) == 0 { Ok(number(value)) } else { Err(number(value)) }
        };
        output.chunks_exact(8).map(result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inspect::inspect;

    #[test]
    fn every_guest_can_be_assembled() {
        let bombs = [
            CompileBomb::Size(10),
            CompileBomb::Body(10),
            CompileBomb::Functions(2),
            CompileBomb::Nesting(2),
            CompileBomb::BranchTargets(2),
            CompileBomb::Locals(2, 3),
            CompileBomb::Depth(2),
        ];
        let plain = [
            Attack::Nothing,
            Attack::Spin(u64::MAX),
            Attack::SpinAtStart(1),
            Attack::Fill(1),
            Attack::GrowMemory(1),
            Attack::ManyMemories(8, 1),
            Attack::GrowTable(1),
            Attack::ManyTables(2, 1),
            Attack::ManyInstances(2),
            Attack::Recurse(1),
            Attack::Trap,
            Attack::LeaveMark,
            Attack::FindOwnMark,
            Attack::Wait(1),
            Attack::Flood(1, 1),
            Attack::Handles(1),
            Attack::StreamsBehindClosedDescriptors { keep: true },
        ];
        let proposals = Proposal::ALL.iter().map(|proposal| Attack::Proposal(*proposal));
        for attack in plain.into_iter().chain(bombs.map(Attack::CompileBomb)).chain(proposals) {
            assert_eq!(inspect(&attack.component()), Ok(()), "{attack:?}");
        }
        assert!(!Attack::OwnResources.component().is_empty());
        assert_eq!(inspect(&caller()), Ok(()));
    }
}
