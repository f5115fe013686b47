//! The components that commands come from: those that Skillgate ships, and those of third parties that the policy names.

use crate::exit::Failure;
use skillgate_core::Digest;
use skillgate_exec_wasm::{
    ChildCompiler, CompileFault, ComponentCaps, ComponentFault, GuestComponent, REFUSED_STATUS, inspect,
    serve_compile_request,
};
use skillgate_loader::{ReadFault, read_file_ambient};
use skillgate_packs::PackSet;
use skillgate_policy::Place;
use skillgate_policy::file::{ComponentSettings, Policy, PolicyFile, Setting};
use std::io;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

/// The first argument of a process that compiles one component for another; see [`compile_child`].
const COMPILE: &str = "__compile-component";

/// Every component, the one that is asked first in front.
pub(crate) fn of_policy(policy: &Policy) -> Result<Vec<GuestComponent>, Failure> {
    let mut components = Vec::new();
    for (name, setting) in &policy.components {
        let program = policy.programs.get(name).map(|program| &program.place);
        if let Some(clash) = clash(name, setting, program) {
            return Err(Failure::Component { name: name.clone(), clash: Box::new(clash) });
        }
        components.push(third_party(name, &setting.value));
    }
    let shipped = PackSet::shipped().components().to_vec().into_iter().map(|pack| {
        GuestComponent::new(pack.name(), pack.digest(), pack.commands().iter().copied(), move || pack.wasm())
    });
    components.extend(shipped);
    Ok(components)
}

fn third_party(name: &str, settings: &ComponentSettings) -> GuestComponent {
    let path = settings.path.value.clone();
    GuestComponent::third_party(name, settings.sha256.value, move || read(Path::new(&path)))
}

/// A component's file.
fn read(path: &Path) -> Result<Vec<u8>, String> {
    let most = ComponentCaps::THIRD_PARTY.bytes as u64;
    read_file_ambient(path, most).map_err(|fault| match fault {
        ReadFault::NotFound => format!("there is no file `{}`", path.display()),
        ReadFault::TooLarge { .. } => format!("`{}` has more than {most} bytes", path.display()),
        fault => format!("`{}`: {fault}", path.display()),
    })
}

/// Why a name of the policy cannot be a component's.
#[derive(Debug)]
pub(crate) struct Clash {
    pub(crate) place: Place,
    pub(crate) reason: String,
    pub(crate) help: String,
}

fn clash(name: &str, setting: &Setting<ComponentSettings>, program: Option<&Place>) -> Option<Clash> {
    let made = |reason: String, help: &str| Some(Clash { place: setting.place.clone(), reason, help: help.to_owned() });
    if skillgate_exec::is_builtin(name) {
        let help = "give it another name: what the shell does itself is never asked for elsewhere";
        return made(format!("`{name}` is a command of the shell itself"), help);
    }
    if let Some(program) = program {
        return made(
            format!("`{name}` is a component and a program ({program})"),
            "keep one of the two, or give one another name",
        );
    }
    match PackSet::shipped().find(name) {
        Some(pack) if !setting.value.replace => made(
            format!("`{name}` is a command that Skillgate ships, in `{}`", pack.name()),
            "give it another name, or write `replace = true` to have it take the place of the shipped one",
        ),
        _ => None,
    }
}

/// What is wrong with the components of a policy file beyond its text: the setting's place, the mistake, and the way out.
pub(crate) fn mistakes(file: &PolicyFile) -> Vec<(Place, String, Option<String>)> {
    let mut found = Vec::new();
    for (name, setting) in &file.components {
        let program = file.programs.get(name).map(|program| &program.place);
        found.extend(clash(name, setting, program).map(|clash| (clash.place, clash.reason, Some(clash.help))));
        let ComponentSettings { path, sha256, .. } = &setting.value;
        let wasm = match read(Path::new(&path.value)) {
            Ok(wasm) => wasm,
            Err(reason) => {
                found.push((path.place.clone(), reason, None));
                continue;
            }
        };
        let digest = Digest::of(&wasm);
        if digest != sha256.value {
            let fault = ComponentFault::Digest { wanted: sha256.value, found: digest };
            let help = "look at what changed in the file before you write the new digest".to_owned();
            found.push((sha256.place.clone(), format!("`{}`: {fault}", path.value), Some(help)));
            continue;
        }
        if let Err(fault) = inspect(&wasm) {
            found.push((path.place.clone(), format!("`{}`: {fault}", path.value), None));
        }
    }
    found
}

/// Compiles what third parties made in a process of its own, which is this program once more.
pub(crate) fn compiler() -> io::Result<Arc<ChildCompiler>> {
    Ok(Arc::new(ChildCompiler::new(std::env::current_exe()?, [COMPILE])))
}

/// Whether this process was started to compile; then that is all it does.
pub(crate) fn compile_child() -> Option<ExitCode> {
    if std::env::args_os().nth(1).is_none_or(|argument| argument != COMPILE) {
        return None;
    }
    let status = match serve_compile_request(io::stdin().lock(), io::stdout().lock()) {
        Ok(()) => return Some(ExitCode::SUCCESS),
        Err(CompileFault::Refused { reason }) => {
            crate::text::complain(&reason);
            ExitCode::from(REFUSED_STATUS)
        }
        Err(fault) => {
            crate::text::complain(&fault.to_string());
            ExitCode::FAILURE
        }
    };
    Some(status)
}
