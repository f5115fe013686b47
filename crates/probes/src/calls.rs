//! System calls that a sandboxed program has no business with, with arguments that fail after the permission: a kernel that
//! permits the call answers EFAULT, EINVAL, EBADF, ESRCH or ENOENT.

use crate::answer::{last_error, say};
use crate::child;
use libc::c_long;

/// How a call is made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// As it is.
    Real,
    /// Below a filter of our own that answers [`ARRIVED`] in the kernel's place, to show that the call is made at all: for callers
    /// whom the kernel refuses anyway.
    Arrive,
}

/// What the filter answers; no file system or kernel gives it.
const ARRIVED: i32 = libc::ENOTNAM;

/// A pointer to nowhere that is not null: some calls take null for "switch it off".
const NOWHERE: c_long = 1;
const ALL: c_long = -1;

/// A call: its name, its number, its arguments.
type Call = (&'static str, c_long, [c_long; 5]);

const CALLS: &[Call] = &[
    ("unshare-user", libc::SYS_unshare, [libc::CLONE_NEWUSER as c_long, 0, 0, 0, 0]),
    ("unshare-mount", libc::SYS_unshare, [libc::CLONE_NEWNS as c_long, 0, 0, 0, 0]),
    ("unshare-net", libc::SYS_unshare, [libc::CLONE_NEWNET as c_long, 0, 0, 0, 0]),
    ("unshare-pid", libc::SYS_unshare, [libc::CLONE_NEWPID as c_long, 0, 0, 0, 0]),
    ("setns", libc::SYS_setns, [ALL, 0, 0, 0, 0]),
    // A new user namespace that shares the file system state is never made, so no child appears.
    ("clone-user", libc::SYS_clone, [(libc::CLONE_NEWUSER | libc::CLONE_FS) as c_long, 0, 0, 0, 0]),
    ("clone3", libc::SYS_clone3, [0, 0, 0, 0, 0]),
    ("ptrace", libc::SYS_ptrace, [libc::PTRACE_ATTACH as c_long, 0x7fff_ffff, 0, 0, 0]),
    ("process-vm-readv", libc::SYS_process_vm_readv, [0x7fff_ffff, 0, 0, 0, 0]),
    ("process-vm-writev", libc::SYS_process_vm_writev, [0x7fff_ffff, 0, 0, 0, 0]),
    ("pidfd-getfd", libc::SYS_pidfd_getfd, [ALL, 0, 0, 0, 0]),
    ("io-uring-setup", libc::SYS_io_uring_setup, [1, NOWHERE, 0, 0, 0]),
    ("io-uring-enter", libc::SYS_io_uring_enter, [ALL, 0, 0, 0, 0]),
    ("io-uring-register", libc::SYS_io_uring_register, [ALL, 0, 0, 0, 0]),
    ("bpf", libc::SYS_bpf, [ALL, NOWHERE, 8, 0, 0]),
    ("perf-event-open", libc::SYS_perf_event_open, [NOWHERE, 0, 0, ALL, ALL]),
    ("userfaultfd", libc::SYS_userfaultfd, [ALL, 0, 0, 0, 0]),
    ("keyctl", libc::SYS_keyctl, [ALL, 0, 0, 0, 0]),
    ("add-key", libc::SYS_add_key, [NOWHERE, NOWHERE, 0, 0, 0]),
    ("request-key", libc::SYS_request_key, [NOWHERE, NOWHERE, 0, 0, 0]),
    ("open-by-handle-at", libc::SYS_open_by_handle_at, [ALL, NOWHERE, 0, 0, 0]),
    ("kexec-load", libc::SYS_kexec_load, [0, 1 << 20, NOWHERE, 0, 0]),
    ("kexec-file-load", libc::SYS_kexec_file_load, [ALL, ALL, 0, NOWHERE, ALL]),
    ("init-module", libc::SYS_init_module, [NOWHERE, 64, NOWHERE, 0, 0]),
    ("finit-module", libc::SYS_finit_module, [ALL, NOWHERE, 0, 0, 0]),
    ("delete-module", libc::SYS_delete_module, [NOWHERE, 0, 0, 0, 0]),
    ("swapon", libc::SYS_swapon, [NOWHERE, 0, 0, 0, 0]),
    ("swapoff", libc::SYS_swapoff, [NOWHERE, 0, 0, 0, 0]),
    ("mount", libc::SYS_mount, [0, NOWHERE, 0, 0, 0]),
    ("umount", libc::SYS_umount2, [NOWHERE, 0, 0, 0, 0]),
    ("pivot-root", libc::SYS_pivot_root, [NOWHERE, NOWHERE, 0, 0, 0]),
    ("chroot", libc::SYS_chroot, [NOWHERE, 0, 0, 0, 0]),
    ("mount-setattr", libc::SYS_mount_setattr, [ALL, NOWHERE, 0, NOWHERE, 0]),
    ("fsopen", libc::SYS_fsopen, [NOWHERE, 0, 0, 0, 0]),
    ("fsmount", libc::SYS_fsmount, [ALL, 0, 0, 0, 0]),
    ("move-mount", libc::SYS_move_mount, [ALL, NOWHERE, ALL, NOWHERE, 0]),
    ("open-tree", libc::SYS_open_tree, [ALL, NOWHERE, 1, 0, 0]),
    ("quotactl", libc::SYS_quotactl, [ALL, NOWHERE, 0, NOWHERE, 0]),
    ("acct", libc::SYS_acct, [NOWHERE, 0, 0, 0, 0]),
    // Without its magic numbers it never restarts anything.
    ("reboot", libc::SYS_reboot, [0, 0, 0, 0, 0]),
    ("settimeofday", libc::SYS_settimeofday, [NOWHERE, 0, 0, 0, 0]),
    ("clock-settime", libc::SYS_clock_settime, [0, NOWHERE, 0, 0, 0]),
    ("adjtimex", libc::SYS_adjtimex, [NOWHERE, 0, 0, 0, 0]),
    ("sethostname", libc::SYS_sethostname, [NOWHERE, ALL, 0, 0, 0]),
    ("personality", libc::SYS_personality, [0x0004_0000, 0, 0, 0, 0]),
    #[cfg(target_arch = "x86_64")]
    ("iopl", libc::SYS_iopl, [7, 0, 0, 0, 0]),
    #[cfg(target_arch = "x86_64")]
    ("ioperm", libc::SYS_ioperm, [0, 0, 1, 0, 0]),
];

/// Makes the calls of these names, each in a process of its own.
pub(crate) fn run(names: &[&str], way: Way) -> Option<()> {
    for name in names {
        let (name, number, words) = CALLS.iter().find(|(known, ..)| known == name)?;
        let end = child::of(|| {
            if way == Way::Arrive
                && let Err(number) = answer_instead(*number, ARRIVED)
            {
                return number;
            }
            let [a, b, c, d, e] = *words;
            // SAFETY: no argument is a pointer to memory of ours: the kernel is given addresses that are not mapped, and answers
            // EFAULT; the calls that could change this process are made in a child that ends here.
            let result = unsafe { libc::syscall(*number, a, b, c, d, e) };
            if result < 0 { last_error() } else { 0 }
        });
        match child::answer(end) {
            Ok(Err(ARRIVED)) if way == Way::Arrive => say(name, &Ok("arrived".to_owned())),
            Ok(answer) => say(name, &answer),
            Err(signal) => say(name, &Ok(format!("killed by {signal}"))),
        }
    }
    Some(())
}

/// Calls that a machine may lack, and a sandbox is built of.
const PARTS: &[(&str, c_long)] = &[
    ("unshare", libc::SYS_unshare),
    ("mount_setattr", libc::SYS_mount_setattr),
    ("move_mount", libc::SYS_move_mount),
    ("fsopen", libc::SYS_fsopen),
    ("pivot_root", libc::SYS_pivot_root),
    ("setsid", libc::SYS_setsid),
    ("prlimit64", libc::SYS_prlimit64),
    ("landlock_create_ruleset", libc::SYS_landlock_create_ruleset),
    ("landlock_restrict_self", libc::SYS_landlock_restrict_self),
];

/// Becomes another program on a machine that seems to lack a call.
pub(crate) fn without(call: &str, program: &str, words: &[&str]) -> Option<()> {
    let (_, number) = PARTS.iter().find(|(known, _)| *known == call)?;
    match answer_instead(*number, libc::ENOSYS) {
        Ok(()) => crate::processes::exec(program, words),
        Err(number) => {
            say("without", &Err(number));
            None
        }
    }
}

/// Has every later call of this number in this process answered with an error, without being made.
fn answer_instead(number: c_long, error: i32) -> Result<(), i32> {
    let load_number = libc::BPF_LD | libc::BPF_W | libc::BPF_ABS;
    let equal = libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K;
    let give = libc::BPF_RET | libc::BPF_K;
    let op = |code: u32, jt, jf, k| libc::sock_filter { code: u16::try_from(code).unwrap_or(0), jt, jf, k };
    let answer = libc::SECCOMP_RET_ERRNO | u32::try_from(error).unwrap_or(0);
    let mut program = [
        op(load_number, 0, 0, 0),
        op(equal, 0, 1, u32::try_from(number).map_err(|_| libc::EINVAL)?),
        op(give, 0, 0, answer),
        op(give, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let filter = libc::sock_fprog { len: 4, filter: program.as_mut_ptr() };
    // SAFETY: the filter points to the four instructions above, which outlive the call; the kernel copies them.
    let installed = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const filter) == 0
    };
    if installed { Ok(()) } else { Err(last_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_call_has_a_name_of_its_own_and_no_pointer_to_memory() {
        for (at, (name, _, words)) in CALLS.iter().enumerate() {
            assert!(CALLS.iter().skip(at + 1).all(|(other, ..)| other != name), "{name}");
            // The first page is never mapped; larger numbers are sizes, flags and process numbers.
            assert!(words.iter().all(|word| !(4096..0x1_0000).contains(word)), "{name}");
        }
    }
}
