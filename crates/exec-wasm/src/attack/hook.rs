//! Handlers of hooks, well-behaved and not.

use super::assemble;

/// One handler.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum HookGuest {
    /// Has no opinion.
    Pass,
    /// Denies for this reason.
    Deny(&'static str),
    /// Wants somebody to be asked.
    Ask(&'static str),
    /// Gives a text to the model.
    Context(&'static str),
    /// Gives the input that it was given to the model.
    Echo,
    /// Gives another input.
    Rewrite(&'static str),
    /// Denies when it finds what an earlier call left, and leaves it.
    Remember,
    /// Never ends.
    Spin,
    /// Traps at once.
    Trap,
    /// Grows its memory until it gets no more, and traps.
    GrowMemory,
    /// Answers with a text of so many bytes.
    Flood(u32),
    /// Answers with a text that begins or ends outside its memory.
    OutOfMemory(u32, u32),
    /// Answers with a verdict of this number, which there may not be.
    VerdictNumber(u8),
    /// Says this version, or none.
    Version(Option<&'static str>),
    /// Has a verdict more.
    AnotherVerdict(&'static str),
    /// Has one verdict less.
    FewerVerdicts,
    /// Imports an instance of this name.
    Import(&'static str),
    /// Exports nothing.
    NoExport,
}

const CASES: &str =
    r#"(case "pass") (case "deny" string) (case "ask" string) (case "context" string) (case "rewrite" (list u8))"#;
/// Where a module keeps its answer, and a text of its own.
const ANSWER: u32 = 16;
const TEXT: u32 = 1_024;

impl HookGuest {
    /// The handler as a component.
    #[must_use]
    pub fn component(&self) -> Vec<u8> {
        let says = |number: u8, text: &str| {
            let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
            let data = format!("(data (i32.const {TEXT}) \"{escaped}\")");
            (data, answer(number, &format!("(i32.const {TEXT})"), &format!("(i32.const {})", text.len())))
        };
        let pass = || (String::new(), answer(0, "(i32.const 0)", "(i32.const 0)"));
        let only = |code: &str| (String::new(), format!("{code} unreachable"));
        let (definitions, body) = match self {
            HookGuest::Deny(reason) => says(1, reason),
            HookGuest::Ask(reason) => says(2, reason),
            HookGuest::Context(text) => says(3, text),
            HookGuest::Rewrite(input) => says(4, input),
            HookGuest::Echo => (String::new(), answer(3, "(local.get 2)", "(local.get 3)")),
            HookGuest::Remember => (
                "(global $mark (mut i32) (i32.const 0))".to_owned(),
                format!(
                    "(if (i32.or (global.get $mark) (i32.load (i32.const {TEXT}))) (then {} return))
                     (global.set $mark (i32.const 1)) (i32.store (i32.const {TEXT}) (i32.const 1)) {}",
                    answer(1, "(i32.const 0)", "(i32.const 0)"),
                    answer(0, "(i32.const 0)", "(i32.const 0)")
                ),
            ),
            HookGuest::Spin => only("(loop (br 0))"),
            HookGuest::Trap => only(""),
            HookGuest::GrowMemory => only("(loop (br_if 0 (i32.ne (memory.grow (i32.const 16)) (i32.const -1))))"),
            HookGuest::Flood(bytes) => {
                let pages = bytes / 65_536 + 1;
                let grown = answer(3, "(i32.const 2048)", &format!("(i32.const {bytes})"));
                (String::new(), format!("(drop (memory.grow (i32.const {pages}))) {grown}"))
            }
            HookGuest::OutOfMemory(start, length) => (
                String::new(),
                answer(
                    3,
                    &format!("(i32.const {})", start.cast_signed()),
                    &format!("(i32.const {})", length.cast_signed()),
                ),
            ),
            HookGuest::VerdictNumber(number) => (String::new(), answer(*number, "(i32.const 0)", "(i32.const 0)")),
            _ => pass(),
        };
        let cases = match self {
            HookGuest::AnotherVerdict(name) => format!("{CASES} (case \"{name}\")"),
            HookGuest::FewerVerdicts => CASES.replace("(case \"ask\" string)", ""),
            _ => CASES.to_owned(),
        };
        let version = match self {
            HookGuest::Version(None) => String::new(),
            HookGuest::Version(Some(version)) => format!("(@custom \"skillgate:hook\" \"{version}\")"),
            _ => "(@custom \"skillgate:hook\" \"0.1\")".to_owned(),
        };
        let import = match self {
            HookGuest::Import(name) => format!("(import \"{name}\" (instance))"),
            _ => String::new(),
        };
        let export = match self {
            HookGuest::NoExport => String::new(),
            _ => exported(&cases),
        };
        assemble(&format!(
            "(component {version} {import}
               (core module $guest
                 (memory (export \"memory\") 1)
                 (global $free (mut i32) (i32.const 65536))
                 {definitions}
                 (func (export \"realloc\") (param i32 i32 i32 i32) (result i32) (local $at i32)
                   (local.set $at (global.get $free))
                   (global.set $free (i32.and (i32.add (i32.add (local.get $at) (local.get 3)) (i32.const 15)) (i32.const -16)))
                   (if (i32.gt_u (global.get $free) (i32.mul (memory.size) (i32.const 65536))) (then
                     (if (i32.eq (memory.grow (i32.add (i32.shr_u (local.get 3) (i32.const 16)) (i32.const 1))) (i32.const -1))
                       (then unreachable))))
                   (local.get $at))
                 (func (export \"handle\") (param i32 i32 i32 i32) (result i32) {body}))
               (core instance $guest (instantiate $guest))
               {export})"
        ))
    }
}

/// Leaves the answer with this verdict and gives where it is.
fn answer(verdict: u8, start: &str, length: &str) -> String {
    format!(
        "(i32.store8 (i32.const {ANSWER}) (i32.const {verdict})) (i32.store (i32.const {}) {start})
         (i32.store (i32.const {}) {length}) (i32.const {ANSWER})",
        ANSWER + 4,
        ANSWER + 8
    )
}

/// The function as the world's interface, with these verdicts.
fn exported(cases: &str) -> String {
    format!(
        "(type $verdict (variant {cases}))
         (func $handle (param \"event\" string) (param \"input\" (list u8)) (result $verdict)
           (canon lift (core func $guest \"handle\") (memory (core memory $guest \"memory\")) (realloc (core func $guest \"realloc\"))))
         (component $handler
           (type $verdict (variant {cases}))
           (import \"import-verdict\" (type $given (eq $verdict)))
           (import \"import-handle\" (func $handle (param \"event\" string) (param \"input\" (list u8)) (result $given)))
           (export $named \"verdict\" (type $given))
           (export \"handle\" (func $handle)
             (func (param \"event\" string) (param \"input\" (list u8)) (result $named))))
         (instance $handler (instantiate $handler
           (with \"import-verdict\" (type $verdict)) (with \"import-handle\" (func $handle))))
         (export \"skillgate:hook/handler@0.1.0\" (instance $handler))"
    )
}
