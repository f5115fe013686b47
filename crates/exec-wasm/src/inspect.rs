//! What is looked at in a third party's component before anything compiles it: what it is, and whether it is of a size and a
//! shape that a compiler takes in reasonable time. Whether it is valid is the compiler's business.

use skillgate_core::Digest;
use wasmparser::{CanonicalFunction, Encoding, FunctionBody, Operator, Parser, Payload};
use wasmtime::Engine;

/// The most that a third party's component may be. Every component that Skillgate ships is within the numbers (a test looks at
/// them).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ComponentCaps {
    /// Bytes of the whole file.
    pub bytes: usize,
    /// Core modules and components in it, at any depth.
    pub modules: usize,
    /// Components inside each other.
    pub depth: usize,
    /// Functions with a body.
    pub functions: usize,
    /// Bytes of one body.
    pub body_bytes: usize,
    /// Locals of one function.
    pub locals: u64,
    /// Blocks inside each other in one function.
    pub nesting: usize,
    /// Targets of one `br_table`.
    pub branch_targets: u32,
    /// Entries of all sections but code together: types, imports, exports, elements and their like.
    pub items: u64,
}

impl ComponentCaps {
    /// The caps in force.
    pub const THIRD_PARTY: ComponentCaps = ComponentCaps {
        bytes: 32 << 20,
        modules: 64,
        depth: 4,
        functions: 50_000,
        body_bytes: 512 << 10,
        locals: 5_000,
        nesting: 1_000,
        branch_targets: 5_000,
        items: 500_000,
    };
}

/// Why a third party's component is not used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ComponentFault {
    /// The bytes are not those that the policy names.
    #[error("its digest is {found}, not {wanted}")]
    Digest {
        /// What the policy says.
        wanted: Digest,
        /// What the bytes have.
        found: Digest,
    },
    /// It is machine code, which is never loaded from outside, whoever compiled it.
    #[error("it is compiled code; only WebAssembly is taken, and compiled here")]
    Precompiled,
    /// It is a core module.
    #[error("it is a core module, not a component; `wasm-tools component new` makes one of it")]
    CoreModule,
    /// It is no WebAssembly, or damaged.
    #[error("it is not a WebAssembly component: {reason}")]
    Malformed {
        /// What was found.
        reason: String,
    },
    /// It is larger or more intricate than a component may be.
    #[error("it has {what} of {found}; at most {cap} are taken")]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// As much as was found when it became too much.
        found: u64,
        /// The cap.
        cap: u64,
    },
    /// It makes resources of its own, whose handles the engine keeps without a bound.
    #[error("it defines resources of its own, which a command has no use for and which cannot be bounded")]
    OwnResources,
}

/// How much of what there is in a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Found {
    modules: usize,
    functions: usize,
    items: u64,
}

/// Looks at a third party's component; nothing is compiled.
///
/// # Errors
/// The first thing that is wrong with it.
pub fn inspect(wasm: &[u8]) -> Result<(), ComponentFault> {
    inspect_within(wasm, &ComponentCaps::THIRD_PARTY)
}

fn inspect_within(wasm: &[u8], caps: &ComponentCaps) -> Result<(), ComponentFault> {
    within("a size in bytes", wasm.len() as u64, caps.bytes as u64)?;
    if Engine::detect_precompiled(wasm).is_some() {
        return Err(ComponentFault::Precompiled);
    }
    let mut found = Found::default();
    let mut depth = 0_usize;
    let mut is_component = None;
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(malformed)?;
        if let Payload::Version { encoding, .. } = payload {
            if is_component.is_none() && encoding == Encoding::Module {
                return Err(ComponentFault::CoreModule);
            }
            is_component = Some(());
            depth += 1;
            found.modules += 1;
            within("a number of modules and components", found.modules as u64, caps.modules as u64)?;
            within("a depth of components", depth as u64, caps.depth as u64)?;
        }
        found.items += items(&payload);
        within("a number of definitions", found.items, caps.items)?;
        match payload {
            Payload::CodeSectionStart { count, .. } => {
                found.functions += count as usize;
                within("a number of functions", found.functions as u64, caps.functions as u64)?;
            }
            Payload::CodeSectionEntry(body) => inspect_body(&body, caps)?,
            Payload::ComponentCanonicalSection(section) => {
                for function in section {
                    if let CanonicalFunction::ResourceNew { .. } = function.map_err(malformed)? {
                        return Err(ComponentFault::OwnResources);
                    }
                }
            }
            Payload::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// The name of the first thing that a component imports; `None` for one that imports nothing.
///
/// # Errors
/// [`ComponentFault::Malformed`].
pub(crate) fn first_import(wasm: &[u8]) -> Result<Option<String>, ComponentFault> {
    let mut depth = 0_usize;
    for payload in Parser::new(0).parse_all(wasm) {
        match payload.map_err(malformed)? {
            Payload::Version { .. } => depth += 1,
            Payload::End(_) => depth = depth.saturating_sub(1),
            // What is inside is given its imports by the component itself.
            Payload::ComponentImportSection(section) if depth == 1 => {
                if let Some(import) = section.into_iter().next() {
                    return Ok(Some(import.map_err(malformed)?.name.name.to_owned()));
                }
            }
            _ => {}
        }
    }
    Ok(None)
}

/// The contents of the custom sections of a name, at any depth.
///
/// # Errors
/// [`ComponentFault::Malformed`].
pub(crate) fn custom_sections<'w>(wasm: &'w [u8], name: &str) -> Result<Vec<&'w [u8]>, ComponentFault> {
    let mut found = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::CustomSection(section) = payload.map_err(malformed)?
            && section.name() == name
        {
            found.push(section.data());
        }
    }
    Ok(found)
}

/// What a section other than the code has entries of.
fn items(payload: &Payload<'_>) -> u64 {
    let count = match payload {
        Payload::TypeSection(section) => section.count(),
        Payload::ImportSection(section) => section.count(),
        Payload::FunctionSection(section) => section.count(),
        Payload::TableSection(section) => section.count(),
        Payload::MemorySection(section) => section.count(),
        Payload::GlobalSection(section) => section.count(),
        Payload::ExportSection(section) => section.count(),
        Payload::ElementSection(section) => section.count(),
        Payload::DataSection(section) => section.count(),
        Payload::InstanceSection(section) => section.count(),
        Payload::CoreTypeSection(section) => section.count(),
        Payload::ComponentInstanceSection(section) => section.count(),
        Payload::ComponentAliasSection(section) => section.count(),
        Payload::ComponentTypeSection(section) => section.count(),
        Payload::ComponentCanonicalSection(section) => section.count(),
        Payload::ComponentImportSection(section) => section.count(),
        Payload::ComponentExportSection(section) => section.count(),
        _ => 0,
    };
    u64::from(count)
}

fn inspect_body(body: &FunctionBody<'_>, caps: &ComponentCaps) -> Result<(), ComponentFault> {
    within("a function body in bytes", body.range().len() as u64, caps.body_bytes as u64)?;
    let mut locals = 0_u64;
    for local in body.get_locals_reader().map_err(malformed)? {
        let (count, _) = local.map_err(malformed)?;
        locals += u64::from(count);
        within("a number of locals in a function", locals, caps.locals)?;
    }
    let mut nesting = 0_usize;
    let mut operators = body.get_operators_reader().map_err(malformed)?;
    while !operators.eof() {
        match operators.read().map_err(malformed)? {
            Operator::Block { .. } | Operator::Loop { .. } | Operator::If { .. } | Operator::TryTable { .. } => {
                nesting += 1;
                within("a nesting of blocks", nesting as u64, caps.nesting as u64)?;
            }
            Operator::End => nesting = nesting.saturating_sub(1),
            Operator::BrTable { targets } => {
                within("a number of branch targets", u64::from(targets.len()), u64::from(caps.branch_targets))?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn within(what: &'static str, found: u64, cap: u64) -> Result<(), ComponentFault> {
    if found <= cap { Ok(()) } else { Err(ComponentFault::TooLarge { what, found, cap }) }
}

fn malformed(error: wasmparser::BinaryReaderError) -> ComponentFault {
    ComponentFault::Malformed { reason: error.to_string() }
}
