use super::*;
use crate::system::UserRange;
use skillgate_policy::builtin_limits;

fn system() -> System {
    System {
        directories: vec!["/usr".to_owned(), "/etc/alternatives".to_owned()],
        files: vec!["/etc/ld.so.cache".to_owned()],
        links: vec![("/bin".to_owned(), "usr/bin".to_owned())],
        users: UserRange { first: 5000, count: 10 },
    }
}

const PROGRAM: Identity = Identity { device: 1, inode: 2, content: Some((3, 4)) };
const PROJECT: Identity = Identity { device: 5, inode: 6, content: None };

fn project() -> SeenDirectory {
    SeenDirectory { path: "/srv/project".to_owned(), identity: PROJECT, hidden: vec![".env".to_owned()] }
}

/// The plan of `git status` in `/srv/project/src`, after a change of the request.
fn planned(program: &NativeProgram, path: &str, change: impl FnOnce(&mut PlanRequest<'_>)) -> Result<Plan, PlanFault> {
    let (system, limits) = (system(), builtin_limits());
    let environment = [("LD_PRELOAD", "/tmp/x.so"), ("CLAUDE_PROJECT_DIR", "/srv/project"), ("PATH", "/srv/project")];
    let environment = environment.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut request = PlanRequest {
        system: &system,
        program,
        vector: vec!["git".to_owned(), "status".to_owned()],
        directory: "/srv/project/src",
        seen: vec![project()],
        writable: Vec::new(),
        environment: &environment,
        limits: &limits,
        number: 12,
    };
    change(&mut request);
    plan_for(request, path, PROGRAM)
}

fn git() -> NativeProgram {
    NativeProgram::new("git", "/usr/bin/git").environment("GH_HOST", "example.org").environment("HOME", "/root")
}

#[test]
fn a_request_gives_exactly_this_plan() {
    let limits = builtin_limits();
    let pairs =
        |pairs: &[(&str, &str)]| pairs.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect::<Vec<_>>();
    let file = |path: &str, content: &str| GeneratedFile { path: path.to_owned(), content: content.to_owned() };
    let expected = Plan {
        user: RunUser { uid: 5002, gid: 5002 },
        private: vec!["/tmp".to_owned(), "/home/skillgate".to_owned()],
        mounts: vec![
            Mount::system("/usr"),
            Mount::system("/etc/alternatives"),
            Mount { kind: MountKind::File, executable: false, ..Mount::system("/etc/ld.so.cache") },
            Mount {
                identity: Some(PROJECT),
                executable: false,
                owned: true,
                hidden: vec![".env".to_owned()],
                ..Mount::system("/srv/project")
            },
        ],
        links: vec![Link { path: "/bin".to_owned(), to: "usr/bin".to_owned() }],
        files: vec![
            file("/etc/passwd", "skillgate:x:1000:1000::/home/skillgate:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n"),
            file("/etc/group", "skillgate:x:1000:\nnogroup:x:65534:\n"),
            file("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files\n"),
            file("/etc/hosts", "127.0.0.1 localhost\n"),
            file("/home/skillgate/.gitconfig", "[safe]\n\tdirectory = \"/srv/project\"\n"),
        ],
        writable: Vec::new(),
        scratch: ScratchLimits { bytes: limits.native_file_bytes, inodes: 16_384 },
        directory: "/srv/project/src".to_owned(),
        limits: ProcessLimits {
            memory_bytes: limits.memory_bytes,
            cpu_seconds: 30,
            file_bytes: limits.native_file_bytes,
            open_files: 128,
            processes: 64,
            stack_bytes: 8 << 20,
        },
        action: Action::Run(Program {
            path: "/usr/bin/git".to_owned(),
            identity: Some(PROGRAM),
            vector: vec!["git".to_owned(), "status".to_owned()],
            environment: pairs(&[
                ("PATH", "/usr/local/bin:/usr/bin:/bin"),
                ("HOME", "/home/skillgate"),
                ("LANG", "C.UTF-8"),
                ("TZ", "UTC"),
                ("CLAUDE_PROJECT_DIR", "/srv/project"),
                ("GH_HOST", "example.org"),
            ]),
        }),
        fault: None,
    };
    assert_eq!(planned(&git(), "/usr/bin/git", |_| {}), Ok(expected));
}

#[test]
fn a_program_elsewhere_is_mounted_alone() {
    let plan = planned(&git(), "/root/bin/git", |_| {}).expect("a plan");
    let last = plan.mounts.iter().find(|mount| mount.target == "/root/bin/git").expect("it is mounted");
    assert_eq!((last.kind, last.identity, last.executable), (MountKind::File, Some(PROGRAM), true));
    // Below the project, where nothing may be executed, it is still the one file that may.
    let plan = planned(&git(), "/srv/project/tools/git", |_| {}).expect("a plan");
    assert_eq!(plan.mounts.last().map(|mount| mount.target.as_str()), Some("/srv/project/tools/git"));
}

#[test]
fn a_command_that_sees_streams_only_is_shown_the_system_and_nothing_else() {
    let plan = planned(&git(), "/usr/bin/git", |request| request.seen.clear()).expect("a plan");
    assert_eq!(plan.directory, "/");
    assert!(plan.mounts.iter().all(|mount| !mount.owned));
    assert!(plan.files.iter().all(|file| !file.path.ends_with(".gitconfig")));
}

#[test]
fn what_the_policy_says_of_a_program_is_in_its_plan() {
    let own = git().runs_project_files(true).memory_bytes(Some(1 << 30)).processes(Some(7));
    let plan = planned(&own, "/usr/bin/git", |request| request.writable = vec!["/srv/project/out".to_owned()])
        .expect("a plan");
    assert_eq!((plan.limits.memory_bytes, plan.limits.processes), (1 << 30, 7));
    assert!(plan.mounts.iter().any(|mount| mount.owned && mount.executable));
    assert_eq!(plan.writable, [WritableDirectory { path: "/srv/project/out".to_owned(), executable: true }]);
    assert_eq!(planned(&git().network(true), "/usr/bin/git", |_| {}), Err(PlanFault::Network("git".to_owned())));
}

#[test]
fn a_request_that_contradicts_itself_has_no_plan() {
    let outside = planned(&git(), "/usr/bin/git", |request| request.directory = "/srv");
    assert_eq!(outside, Err(PlanFault::Plan(PlanError::Directory { path: "/srv".to_owned() })));
    let hidden = planned(&git(), "/usr/bin/git", |request| request.writable = vec!["/srv/project/.env".to_owned()]);
    assert!(matches!(hidden, Err(PlanFault::Plan(PlanError::WritableNotMounted { .. }))));
}

#[test]
fn a_path_is_quoted_for_git() {
    for (path, value) in [("/a b", "\"/a b\""), ("/a\"\\\n", "\"/a\\\"\\\\\\n\"")] {
        assert_eq!(quoted(path), value);
    }
}

/// The limits of the plan, as memory, processes, bytes of files and seconds, where the run's are as `run` says.
fn limits_of(program: NativeProgram, run: impl FnOnce(&mut Limits)) -> (u64, u64, u64, u64) {
    let mut limits = builtin_limits();
    run(&mut limits);
    let (system, environment) = (system(), []);
    let request = PlanRequest {
        system: &system,
        program: &program,
        vector: vec!["git".to_owned()],
        directory: "/",
        seen: Vec::new(),
        writable: Vec::new(),
        environment: &environment,
        limits: &limits,
        number: 0,
    };
    let plan = plan_for(request, "/usr/bin/git", PROGRAM).expect("a plan");
    assert_eq!(plan.scratch.bytes, plan.limits.file_bytes);
    (plan.limits.memory_bytes, plan.limits.processes, plan.limits.file_bytes, plan.limits.cpu_seconds)
}

#[test]
fn a_programs_own_limits_hold_below_those_of_every_run() {
    let unset = builtin_limits();
    let lower = || git().memory_bytes(Some(1 << 20)).processes(Some(3)).file_bytes(Some(4096)).wall_ms(Some(1_500));
    assert_eq!(limits_of(lower(), |_| {}), (1 << 20, 3, 4096, 2));
    let higher =
        || git().memory_bytes(Some(4 << 30)).processes(Some(1000)).file_bytes(Some(1 << 40)).wall_ms(Some(1 << 40));
    let of_run = (u64::from(unset.native_processes), unset.native_file_bytes, 30);
    // Address space is another thing than the memory of all guests, so that only a number somebody wrote is the most.
    assert_eq!(limits_of(higher(), |_| {}), (4 << 30, of_run.0, of_run.1, of_run.2));
    assert_eq!(limits_of(higher(), |limits| limits.memory_bytes = 1 << 27).0, 1 << 27);
    assert_eq!(limits_of(git(), |_| {}), (unset.memory_bytes, of_run.0, of_run.1, of_run.2));
}
