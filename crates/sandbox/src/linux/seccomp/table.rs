//! The rules as data: a deny-list, because programs of the machine are not known beforehand. What a rule is about is refused with
//! EPERM; `clone3` with ENOSYS, and calls of another architecture kill the process.
//!
//! Numbers are written for both architectures, so that one machine checks both; tests compare those of the machine they run on
//! with the system's own.

/// A system of numbers for system calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The one this is compiled for, when there is a table for it.
    pub(super) const NATIVE: Option<Self> = if cfg!(all(target_arch = "x86_64", target_pointer_width = "64")) {
        Some(Architecture::X86_64)
    } else if cfg!(all(target_arch = "aarch64", target_pointer_width = "64", target_endian = "little")) {
        Some(Architecture::Aarch64)
    } else {
        None
    };

    /// What the kernel calls it in a call's description (AUDIT_ARCH_…).
    pub(super) const fn audit_number(self) -> u32 {
        match self {
            Architecture::X86_64 => 0xc000_003e,
            Architecture::Aarch64 => 0xc000_00b7,
        }
    }
}

/// When a call is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum When {
    /// Whatever its arguments.
    Always,
    /// When this argument has any of these bits.
    AnyBit { argument: u8, bits: &'static [u32] },
    /// When these bits of this argument, taken out by the mask, are one of these values.
    Masked { argument: u8, mask: u32, values: &'static [u32] },
    /// When the lower half of this argument, which is all that the kernel looks at, is this.
    Is { argument: u8, value: u32 },
    /// When this argument is none of these.
    IsNone { argument: u8, values: &'static [u32] },
}

/// One system call that is refused.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    #[cfg_attr(not(test), expect(dead_code, reason = "for whoever reads the table, and for messages of tests"))]
    pub(super) name: &'static str,
    /// Its number on x86_64; the architecture may not have it.
    pub(super) x86_64: Option<u32>,
    /// Its number on aarch64.
    pub(super) aarch64: Option<u32>,
    pub(super) when: When,
    /// Why, as what it does.
    #[cfg_attr(
        not(test),
        expect(dead_code, reason = "for whoever reads the table; a test sees that each rule has one")
    )]
    pub(super) reason: &'static str,
}

impl Rule {
    pub(super) const fn number(&self, architecture: Architecture) -> Option<u32> {
        match architecture {
            Architecture::X86_64 => self.x86_64,
            Architecture::Aarch64 => self.aarch64,
        }
    }
}

const fn rule(name: &'static str, x86_64: Option<u32>, aarch64: Option<u32>, when: When, reason: &'static str) -> Rule {
    Rule { name, x86_64, aarch64, when, reason }
}

/// `clone3` hands its flags over in memory, where a filter cannot look. Refused with ENOSYS, so that libraries fall back to
/// `clone`, whose flags can be seen.
pub(super) const CLONE3: Rule = rule("clone3", Some(435), Some(435), When::Always, "hides its flags");

/// Set-user-id and set-group-id.
const SPECIAL: &[u32] = &[0o4000, 0o2000];
/// The type in a file's mode, and those of block and character devices.
const TYPE: u32 = 0o170_000;
const DEVICE: &[u32] = &[0o060_000, 0o020_000];
/// CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. (NEWTIME is a signal number here, and for `unshare` only.)
const NEW_NAMESPACES: &[u32] =
    &[0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000];
const AF_UNIX: u32 = 1;
/// PER_LINUX, and the value that asks for the present one.
const HARMLESS_PERSONALITIES: &[u32] = &[0, u32::MAX];
const TIOCSTI: u32 = 0x5412;
const TIOCLINUX: u32 = 0x541c;
const TIOCSETD: u32 = 0x5423;

/// Every rule.
pub(super) const RULES: &[Rule] = &[
    // Namespaces: a new user namespace gives every capability in it, and with them most of the kernel.
    rule("unshare", Some(272), Some(97), When::Always, "makes namespaces"),
    rule("setns", Some(308), Some(268), When::Always, "enters namespaces"),
    rule(
        "clone",
        Some(56),
        Some(220),
        When::AnyBit { argument: 0, bits: NEW_NAMESPACES },
        "makes namespaces with a new process",
    ),
    // Mounts: what is seen is decided before the program starts.
    rule("mount", Some(165), Some(40), When::Always, "changes what is seen"),
    rule("umount2", Some(166), Some(39), When::Always, "uncovers what a mount hides"),
    rule("pivot_root", Some(155), Some(41), When::Always, "changes the root"),
    rule("chroot", Some(161), Some(51), When::Always, "changes the root"),
    rule("open_tree", Some(428), Some(428), When::Always, "copies mounts"),
    rule("open_tree_attr", Some(467), Some(467), When::Always, "copies mounts with other attributes"),
    rule("move_mount", Some(429), Some(429), When::Always, "attaches mounts"),
    rule("fsopen", Some(430), Some(430), When::Always, "makes file systems"),
    rule("fsconfig", Some(431), Some(431), When::Always, "makes file systems"),
    rule("fsmount", Some(432), Some(432), When::Always, "makes file systems"),
    rule("fspick", Some(433), Some(433), When::Always, "changes file systems"),
    rule("mount_setattr", Some(442), Some(442), When::Always, "makes read-only mounts writable"),
    rule("statmount", Some(457), Some(457), When::Always, "tells where on the host a mount comes from"),
    rule("listmount", Some(458), Some(458), When::Always, "tells which mounts there are"),
    // Other processes: process 1 holds the way to the host.
    rule("ptrace", Some(101), Some(117), When::Always, "reads and changes other processes"),
    rule("process_vm_readv", Some(310), Some(270), When::Always, "reads the memory of other processes"),
    rule("process_vm_writev", Some(311), Some(271), When::Always, "changes the memory of other processes"),
    rule("process_madvise", Some(440), Some(440), When::Always, "acts on the memory of other processes"),
    rule("pidfd_getfd", Some(438), Some(438), When::Always, "takes descriptors from other processes"),
    rule("kcmp", Some(312), Some(272), When::Always, "tells about kernel addresses by comparing other processes"),
    rule("move_pages", Some(279), Some(239), When::Always, "acts on the memory of other processes"),
    rule("migrate_pages", Some(256), Some(238), When::Always, "acts on the memory of other processes"),
    // Parts of the kernel with many faults and no use here.
    rule("io_uring_setup", Some(425), Some(425), When::Always, "carries out operations that no filter sees"),
    rule("io_uring_enter", Some(426), Some(426), When::Always, "carries out operations that no filter sees"),
    rule("io_uring_register", Some(427), Some(427), When::Always, "carries out operations that no filter sees"),
    rule("bpf", Some(321), Some(280), When::Always, "runs code in the kernel"),
    rule("perf_event_open", Some(298), Some(241), When::Always, "observes the kernel and other processes"),
    rule("userfaultfd", Some(323), Some(282), When::Always, "halts the kernel at a place of the program's choice"),
    rule("keyctl", Some(250), Some(219), When::Always, "keys have no namespace"),
    rule("add_key", Some(248), Some(217), When::Always, "keys have no namespace"),
    rule(
        "request_key",
        Some(249),
        Some(218),
        When::Always,
        "keys have no namespace, and this starts a program outside",
    ),
    rule("open_by_handle_at", Some(304), Some(265), When::Always, "opens files by number, past every directory"),
    rule("fanotify_init", Some(300), Some(262), When::Always, "watches whole file systems"),
    rule("memfd_secret", Some(447), Some(447), When::Always, "memory that no bound of the run counts"),
    rule("modify_ldt", Some(154), None, When::Always, "changes segment descriptors"),
    rule("lookup_dcookie", Some(212), Some(18), When::Always, "tells about files of the host"),
    rule("uselib", Some(134), None, When::Always, "maps a library by an old way"),
    rule("nfsservctl", Some(180), Some(42), When::Always, "was the interface of a server in the kernel"),
    rule("_sysctl", Some(156), None, When::Always, "was another way to the settings of the kernel"),
    // The machine itself.
    rule("kexec_load", Some(246), Some(104), When::Always, "replaces the kernel"),
    rule("kexec_file_load", Some(320), Some(294), When::Always, "replaces the kernel"),
    rule("init_module", Some(175), Some(105), When::Always, "loads code into the kernel"),
    rule("finit_module", Some(313), Some(273), When::Always, "loads code into the kernel"),
    rule("delete_module", Some(176), Some(106), When::Always, "removes code from the kernel"),
    rule("create_module", Some(174), None, When::Always, "was an older way to load code into the kernel"),
    rule("get_kernel_syms", Some(177), None, When::Always, "was an older way to see the kernel's addresses"),
    rule("query_module", Some(178), None, When::Always, "was an older way to see the kernel's modules"),
    rule("swapon", Some(167), Some(224), When::Always, "changes where memory goes"),
    rule("swapoff", Some(168), Some(225), When::Always, "changes where memory goes"),
    rule("quotactl", Some(179), Some(60), When::Always, "changes what users may store"),
    rule("quotactl_fd", Some(443), Some(443), When::Always, "changes what users may store"),
    rule("acct", Some(163), Some(89), When::Always, "records the processes of the machine"),
    rule("reboot", Some(169), Some(142), When::Always, "stops the machine"),
    rule("settimeofday", Some(164), Some(170), When::Always, "sets the clock"),
    rule("clock_settime", Some(227), Some(112), When::Always, "sets the clock"),
    rule("clock_adjtime", Some(305), Some(266), When::Always, "sets the clock"),
    rule("adjtimex", Some(159), Some(171), When::Always, "sets the clock"),
    rule("sethostname", Some(170), Some(161), When::Always, "renames the host"),
    rule("setdomainname", Some(171), Some(162), When::Always, "renames the host"),
    rule("iopl", Some(172), None, When::Always, "reaches devices directly"),
    rule("ioperm", Some(173), None, When::Always, "reaches devices directly"),
    rule("syslog", Some(103), Some(116), When::Always, "reads the kernel's messages"),
    rule("vhangup", Some(153), Some(58), When::Always, "hangs up a terminal"),
    rule("sysfs", Some(139), None, When::Always, "tells about the kernel's file systems"),
    rule(
        "personality",
        Some(135),
        Some(92),
        When::IsNone { argument: 0, values: HARMLESS_PERSONALITIES },
        "switches address randomisation off, among others; 0 and asking are let through",
    ),
    // Terminals: text put into one is typed into the host's shell.
    rule("ioctl", Some(16), Some(29), When::Is { argument: 1, value: TIOCSTI }, "puts text into a terminal's input"),
    rule("ioctl", Some(16), Some(29), When::Is { argument: 1, value: TIOCLINUX }, "pastes into a console"),
    rule("ioctl", Some(16), Some(29), When::Is { argument: 1, value: TIOCSETD }, "changes what a terminal's driver is"),
    // Sockets: there is no network, and a socket with a path leads past the namespaces.
    rule("socket", Some(41), Some(198), When::Always, "makes sockets of every family"),
    rule(
        "socketpair",
        Some(53),
        Some(199),
        When::IsNone { argument: 0, values: &[AF_UNIX] },
        "makes pairs of other families than the one that programs talk to their children with",
    ),
    // Rights of files: what the host copies back must not gain any.
    rule(
        "chmod",
        Some(90),
        None,
        When::AnyBit { argument: 1, bits: SPECIAL },
        "sets the set-user-id or set-group-id bit",
    ),
    rule(
        "fchmod",
        Some(91),
        Some(52),
        When::AnyBit { argument: 1, bits: SPECIAL },
        "sets the set-user-id or set-group-id bit",
    ),
    rule(
        "fchmodat",
        Some(268),
        Some(53),
        When::AnyBit { argument: 2, bits: SPECIAL },
        "sets the set-user-id or set-group-id bit",
    ),
    rule(
        "fchmodat2",
        Some(452),
        Some(452),
        When::AnyBit { argument: 2, bits: SPECIAL },
        "sets the set-user-id or set-group-id bit",
    ),
    rule("mknod", Some(133), None, When::Masked { argument: 1, mask: TYPE, values: DEVICE }, "makes device files"),
    rule(
        "mknodat",
        Some(259),
        Some(33),
        When::Masked { argument: 2, mask: TYPE, values: DEVICE },
        "makes device files",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn every_rule_has_a_number_and_a_reason() {
        for rule in RULES {
            assert!(rule.x86_64.or(rule.aarch64).is_some(), "{}", rule.name);
            assert!(!rule.reason.is_empty(), "{}", rule.name);
        }
        for architecture in [Architecture::X86_64, Architecture::Aarch64] {
            let mut names = HashMap::new();
            for rule in RULES.iter().chain([&CLONE3]) {
                if let Some(number) = rule.number(architecture) {
                    assert_eq!(*names.entry(number).or_insert(rule.name), rule.name, "{number} on {architecture:?}");
                }
            }
        }
    }

    /// The numbers of the machine that runs the tests, as the system's headers have them.
    #[test]
    fn numbers_are_those_of_the_system() {
        let Some(native) = Architecture::NATIVE else { return };
        let known = [
            ("unshare", libc::SYS_unshare),
            ("setns", libc::SYS_setns),
            ("clone", libc::SYS_clone),
            ("mount", libc::SYS_mount),
            ("umount2", libc::SYS_umount2),
            ("pivot_root", libc::SYS_pivot_root),
            ("chroot", libc::SYS_chroot),
            ("open_tree", libc::SYS_open_tree),
            ("move_mount", libc::SYS_move_mount),
            ("fsopen", libc::SYS_fsopen),
            ("fsconfig", libc::SYS_fsconfig),
            ("fsmount", libc::SYS_fsmount),
            ("fspick", libc::SYS_fspick),
            ("mount_setattr", libc::SYS_mount_setattr),
            ("ptrace", libc::SYS_ptrace),
            ("process_vm_readv", libc::SYS_process_vm_readv),
            ("process_vm_writev", libc::SYS_process_vm_writev),
            ("process_madvise", libc::SYS_process_madvise),
            ("pidfd_getfd", libc::SYS_pidfd_getfd),
            ("kcmp", libc::SYS_kcmp),
            ("move_pages", libc::SYS_move_pages),
            ("migrate_pages", libc::SYS_migrate_pages),
            ("io_uring_setup", libc::SYS_io_uring_setup),
            ("io_uring_enter", libc::SYS_io_uring_enter),
            ("io_uring_register", libc::SYS_io_uring_register),
            ("bpf", libc::SYS_bpf),
            ("perf_event_open", libc::SYS_perf_event_open),
            ("userfaultfd", libc::SYS_userfaultfd),
            ("keyctl", libc::SYS_keyctl),
            ("add_key", libc::SYS_add_key),
            ("request_key", libc::SYS_request_key),
            ("open_by_handle_at", libc::SYS_open_by_handle_at),
            ("fanotify_init", libc::SYS_fanotify_init),
            ("memfd_secret", libc::SYS_memfd_secret),
            ("lookup_dcookie", libc::SYS_lookup_dcookie),
            ("nfsservctl", libc::SYS_nfsservctl),
            ("kexec_load", libc::SYS_kexec_load),
            ("kexec_file_load", libc::SYS_kexec_file_load),
            ("init_module", libc::SYS_init_module),
            ("finit_module", libc::SYS_finit_module),
            ("delete_module", libc::SYS_delete_module),
            ("swapon", libc::SYS_swapon),
            ("swapoff", libc::SYS_swapoff),
            ("quotactl", libc::SYS_quotactl),
            ("quotactl_fd", libc::SYS_quotactl_fd),
            ("acct", libc::SYS_acct),
            ("reboot", libc::SYS_reboot),
            ("settimeofday", libc::SYS_settimeofday),
            ("clock_settime", libc::SYS_clock_settime),
            ("clock_adjtime", libc::SYS_clock_adjtime),
            ("adjtimex", libc::SYS_adjtimex),
            ("sethostname", libc::SYS_sethostname),
            ("setdomainname", libc::SYS_setdomainname),
            ("syslog", libc::SYS_syslog),
            ("vhangup", libc::SYS_vhangup),
            ("personality", libc::SYS_personality),
            ("ioctl", libc::SYS_ioctl),
            ("socket", libc::SYS_socket),
            ("socketpair", libc::SYS_socketpair),
            ("fchmod", libc::SYS_fchmod),
            ("fchmodat", libc::SYS_fchmodat),
            ("mknodat", libc::SYS_mknodat),
        ];
        for (name, number) in known {
            let rule = RULES.iter().find(|rule| rule.name == name).expect(name);
            assert_eq!(rule.number(native).map(i64::from), Some(number), "{name}");
        }
        assert_eq!(CLONE3.number(native).map(i64::from), Some(libc::SYS_clone3));
        // TIOCSTI has one number on both architectures.
        assert_eq!(u64::from(TIOCSTI), libc::TIOCSTI);
        assert_eq!(u64::from(TIOCLINUX), libc::TIOCLINUX);
    }
}
