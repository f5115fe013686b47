//! The system calls that no safe interface offers.

use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use rustix::process::Pid;
use std::ffi::{CStr, CString};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};

fn check(result: libc::c_long) -> Result<libc::c_long, Errno> {
    if result == -1 { Err(last()) } else { Ok(result) }
}

fn last() -> Errno {
    Errno::from_raw_os_error(std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EIO))
}

/// In which of the two processes a fork returned.
pub(super) enum Forked {
    Parent(Pid),
    Child,
}

/// Copies the process.
pub(super) fn fork() -> Result<Forked, Errno> {
    // SAFETY: the helper has one thread (it never starts another, and `init` is called before any exists), so the child sees
    // every lock in the state in which this thread left it.
    let child = unsafe { libc::fork() };
    match Pid::from_raw(child) {
        Some(_) if child < 0 => Err(last()),
        Some(pid) => Ok(Forked::Parent(pid)),
        None => Ok(Forked::Child),
    }
}

/// The stack of a process that executes something at once.
const EXECUTING_STACK: usize = 1 << 16;

/// Starts a process that executes something, or ends. It works in the memory of this one, which waits until then: a copy of
/// the memory would be thrown away at once.
pub(super) fn start_executing(execute: &mut dyn FnMut()) -> Result<Pid, Errno> {
    extern "C" fn begin(execute: *mut libc::c_void) -> libc::c_int {
        // SAFETY: the pointer is to the reference below, which outlives this call, because the process that owns it waits.
        let execute = unsafe { &mut *execute.cast::<&mut dyn FnMut()>() };
        execute();
        exit_now(0)
    }
    let mut execute = execute;
    let mut stack = vec![0_u128; EXECUTING_STACK / size_of::<u128>()];
    // SAFETY: `stack` is aligned for a stack, which grows down from its end, and outlives its use: with CLONE_VFORK this process
    // goes on only when the other has executed something or has ended. There is no other thread. Until then the two are never at
    // work at once, so the borrow of `execute` is used by one of them at a time; `begin` does not return, and a panic in it
    // aborts.
    let child = unsafe {
        libc::clone(
            begin,
            stack.as_mut_ptr_range().end.cast(),
            libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD,
            (&raw mut execute).cast(),
        )
    };
    Pid::from_raw(child).filter(|_| child > 0).ok_or_else(last)
}

/// Ends the process without running anything else of it.
pub(super) fn exit_now(status: i32) -> ! {
    // SAFETY: takes no pointer and does not return.
    unsafe { libc::_exit(status) }
}

/// Kills every process that this one may kill and that is not this one. For process 1 of a namespace only.
pub(super) fn kill_everything() -> Result<(), Errno> {
    if std::process::id() != 1 {
        return Err(Errno::PERM);
    }
    // SAFETY: takes no pointer. Seen from process 1 of a namespace, every process is one of that namespace.
    check(unsafe { libc::kill(-1, libc::SIGKILL) }.into()).map(drop)
}

/// Leaves the namespaces of these `CLONE_NEW…` flags for new ones.
pub(super) fn unshare(flags: libc::c_int) -> Result<(), Errno> {
    // SAFETY: takes no pointer. Only namespaces are left; descriptors and memory stay shared as they were (no CLONE_FILES,
    // CLONE_VM), so no invariant of other code is touched.
    check(unsafe { libc::unshare(flags) }.into()).map(drop)
}

/// Makes `fd` the descriptor `to`, closed on execution; what was there is closed. Nothing may own `to`.
pub(super) fn move_to(fd: BorrowedFd<'_>, to: RawFd) -> Result<OwnedFd, Errno> {
    // SAFETY: takes no pointer. The callers name a descriptor that no object of this process owns: it has just started and opened
    // nothing but through `fd`, or has given up what was there.
    check(unsafe { libc::dup3(fd.as_raw_fd(), to, libc::O_CLOEXEC) }.into())?;
    // SAFETY: `to` is open, as dup3 succeeded, and is owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(to) })
}

/// Closes every descriptor from `first` on. No object may own any of them.
pub(super) fn close_from(first: libc::c_uint) -> Result<(), Errno> {
    // SAFETY: takes no pointer. Called right after a process's start, when the only owned descriptor lies below `first`.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, 0) }).map(drop)
}

/// Closes standard output and standard error, which no object owns.
pub(super) fn close_outputs() {
    for descriptor in [libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: takes no pointer. Nothing in the helper prints, and what is opened in their place is owned as anything else.
        unsafe { libc::close(descriptor) };
    }
}

/// Whether children that end are forgotten at once, or wait until somebody asks for their status.
pub(super) fn forget_children(forget: bool) {
    let action = if forget { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: both are no functions of ours, and the signal is a valid one.
    unsafe { libc::signal(libc::SIGCHLD, action) };
}

/// Marks every descriptor from `first` on as closed on execution.
pub(super) fn close_on_exec_from(first: libc::c_uint) -> Result<(), Errno> {
    const CLOEXEC: libc::c_uint = 4;
    // SAFETY: takes no pointer and closes nothing.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, libc::c_uint::MAX, CLOEXEC) }).map(drop)
}

/// Adds attributes to a mount, and to those below it when `recursive`; with a user namespace, maps the owners of its files.
pub(super) fn set_mount_attributes(
    mount: BorrowedFd<'_>,
    attributes: MountAttrFlags,
    recursive: bool,
    mapping: Option<BorrowedFd<'_>>,
) -> Result<(), Errno> {
    let mut set = u64::from(attributes.bits());
    if mapping.is_some() {
        set |= libc::MOUNT_ATTR_IDMAP;
    }
    let attr = libc::mount_attr {
        attr_set: set,
        attr_clr: 0,
        propagation: libc::MS_PRIVATE,
        userns_fd: mapping.map_or(0, |fd| u64::from(fd.as_raw_fd().unsigned_abs())),
    };
    let flags = libc::AT_EMPTY_PATH | if recursive { libc::AT_RECURSIVE } else { 0 };
    // SAFETY: the path is a NUL-terminated constant, and `attr` lives until the call returns and has the size that is passed.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            c"".as_ptr(),
            flags,
            &raw const attr,
            size_of::<libc::mount_attr>(),
        )
    };
    check(result).map(drop)
}

/// Takes a capability out of the bounding set; `EINVAL` past the last one there is.
pub(super) fn drop_from_bounding_set(capability: libc::c_ulong) -> Result<(), Errno> {
    // SAFETY: PR_CAPBSET_DROP takes one number and no pointer.
    check(unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) }.into()).map(drop)
}

/// Which Landlock ABI the kernel has.
pub(super) fn landlock_abi() -> Result<i32, Errno> {
    const VERSION: libc::c_uint = 1;
    // SAFETY: with this flag the kernel reads no attribute, so a null pointer of size 0 is what it asks for.
    let result =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, std::ptr::null::<libc::c_void>(), 0_usize, VERSION) };
    check(result).map(|version| i32::try_from(version).unwrap_or(i32::MAX))
}

/// Gives every signal its default action and unblocks all: a program expects to start so.
pub(super) fn reset_signals() {
    for signal in 1..=libc::SIGRTMAX() {
        // SAFETY: SIG_DFL is no function of ours; failures (SIGKILL, SIGSTOP, the C library's own) leave what is the default.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    // SAFETY: the set is initialised by sigemptyset before it is read, and the old one is not asked for.
    unsafe {
        let mut none = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
}

/// Executes a program by its descriptor. Returns only when it cannot.
pub(super) fn execute(program: BorrowedFd<'_>, vector: &[CString], environment: &[CString]) -> Errno {
    let pointers = |texts: &[CString]| {
        texts.iter().map(|text| text.as_ptr()).chain([std::ptr::null()]).collect::<Vec<*const libc::c_char>>()
    };
    let (vector, environment) = (pointers(vector), pointers(environment));
    // SAFETY: both arrays hold pointers to NUL-terminated texts that outlive the call, and end with a null pointer.
    unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program.as_raw_fd(),
            c"".as_ptr(),
            vector.as_ptr(),
            environment.as_ptr(),
            libc::AT_EMPTY_PATH,
        );
    }
    last()
}

/// A text for the kernel; a NUL, which validation keeps out, ends it.
pub(super) fn c_text(text: &str) -> CString {
    CString::new(text.split('\0').next().unwrap_or_default()).unwrap_or_else(|_| CStr::to_owned(c""))
}
