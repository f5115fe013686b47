//! What cannot be reached, changed or gained from inside. Every act has a control that succeeds outside.

use crate::support::{directory, run, shell, shell_in, tests_as_both};
use skillgate_sandbox::{Ending, SelfTest};
use std::net::{Ipv4Addr, TcpListener};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};

tests_as_both! {
    fn a_self_test_reaches_nothing_and_says_what_it_reached() {
        let root = directory();
        let (file, socket) = (root.path().join("file"), root.path().join("socket"));
        std::fs::write(&file, "canary").expect("a file");
        let _listener = UnixListener::bind(&socket).expect("a socket");
        let name = format!("skillgate-test-{}", std::process::id());
        let address = SocketAddr::from_abstract_name(&name).expect("a name");
        let _abstract_listener = UnixListener::bind_addr(&address).expect("a socket");
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
        UnixStream::connect(&socket).expect("the control: it can be reached from outside");
        UnixStream::connect_addr(&address).expect("the control: it can be reached from outside");
        let test = SelfTest {
            file: file.to_str().expect("UTF-8").to_owned(),
            socket: socket.to_str().expect("UTF-8").to_owned(),
            abstract_socket: name,
            port: port.local_addr().expect("bound").port(),
            process: std::process::id(),
        };
        let outcome = run(&shell("").testing(test.clone()));
        assert_eq!(outcome.reached, Some(Vec::new()), "{outcome:?}");
        // The control: a plan that shows where the canary is, is found out.
        let shown = run(&shell_in(root.path(), "").testing(test));
        assert_eq!(
            shown.reached,
            Some(vec!["a file of the host".to_owned(), "a socket of the host, by its path".to_owned()])
        );
    }

    fn files_of_the_host_are_not_there() {
        let outside = directory();
        std::fs::write(outside.path().join("secret"), "s").expect("a file");
        let outside = outside.path().display();
        let script = format!(
            "for path in {outside} /etc/shadow /root /home /run /var /sys /boot /opt /dev/shm /dev/tty /dev/ptmx /dev/mem \
             /proc/1/root/etc /proc/1/cwd/etc /proc/1/fd/3 /proc/1/environ /proc/self/root{outside} /proc/kcore /proc/cmdline; do \
             ls -d $path/ 2>/dev/null; cat $path 2>/dev/null; done; ls /; ls /etc 2>/dev/null"
        );
        let outcome = run(&shell(&script));
        assert_eq!(outcome.stdout, "bin\ndev\nlib\nlib64\nproc\nsbin\ntmp\nusr\n", "{outcome:?}");
    }

    fn links_lead_nowhere_outside() {
        let root = directory();
        let outside = directory();
        std::fs::write(outside.path().join("secret"), "s").expect("a file");
        for (name, to) in [
            ("file", outside.path().join("secret")),
            ("directory", outside.path().to_path_buf()),
            ("root", "/".into()),
            ("proc", "/proc/self/root/../../..".into()),
        ] {
            std::os::unix::fs::symlink(to, root.path().join(name)).expect("a link");
        }
        let secret = outside.path().join("secret");
        let script = format!("cat file directory/secret root/{0} proc/{0} ../../../../..{0} 2>/dev/null; echo end", secret.display());
        assert_eq!(run(&shell_in(root.path(), &script)).stdout, "end\n");
        std::fs::read(root.path().join("file")).expect("the control: the link can be followed outside");
    }

    fn only_processes_of_the_run_are_seen_and_reached() {
        let own = std::process::id();
        let outcome = run(&shell(&format!("ls /proc | grep -c '^[0-9]'; kill -0 {own} 2>&1 | grep -c 'No such process'; kill -9 1; echo $?; echo alive")));
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        let seen: u32 = lines.first().expect("a count").parse().expect("a number");
        assert!(seen <= 6, "{outcome:?}");
        // Process 1 takes no signal from those it is the parent of.
        assert_eq!(lines.get(1..), Some(["1", "0", "alive"].as_slice()), "{outcome:?}");
        assert_eq!(outcome.ending, Some(Ending::Exited(0)));
    }

    fn nothing_is_gained_by_what_grants_rights() {
        let outcome = run(&shell("grep -E '^(Cap...|NoNewPrivs|Seccomp):' /proc/self/status; unshare -U true 2>&1 | grep -c 'not permitted'; mount -t tmpfs x /tmp 2>/dev/null || echo refused; chmod u+s /tmp 2>&1 | grep -c 'not permitted'"));
        let zero = "0000000000000000";
        assert_eq!(
            outcome.stdout,
            format!("CapInh:\t{zero}\nCapPrm:\t{zero}\nCapEff:\t{zero}\nCapBnd:\t{zero}\nCapAmb:\t{zero}\nNoNewPrivs:\t1\nSeccomp:\t2\n1\nrefused\n1\n"),
            "{outcome:?}"
        );
    }

    fn there_is_no_way_to_write_through_a_descriptor() {
        let outcome = run(&shell("echo x > /proc/self/fd/0 2>/dev/null; for fd in /proc/self/fd/*; do readlink $fd; done"));
        let targets: Vec<&str> = outcome.stdout.lines().collect();
        assert!(targets.iter().all(|to| to.starts_with("pipe:") || *to == "/dev/null" || to.starts_with("/proc/")), "{outcome:?}");
    }

    fn limits_hold() {
        let mut plan = shell("i=0; while [ $i -lt 40 ]; do sleep 1000 >/dev/null 2>&1 & i=$((i+1)); done 2>&1 | grep -ci 'fork\\|resource'; ulimit -v; ulimit -c; ulimit -n");
        plan.limits.processes = 10;
        plan.limits.memory_bytes = 128 << 20;
        let outcome = run(&plan);
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        assert_eq!(lines, ["1", "131072", "0", "64"], "{outcome:?}");
        let mut plan = shell("dd if=/dev/zero of=/tmp/big bs=1M count=64 2>&1 | grep -c 'No space'; i=0; while true > /tmp/f$i; do i=$((i+1)); done 2>/dev/null; [ $i -lt 60 ] && echo bounded");
        plan.scratch.bytes = 4 << 20;
        plan.scratch.inodes = 50;
        assert_eq!(run(&plan).stdout, "1\nbounded\n");
        let mut plan = shell("dd if=/dev/zero of=/tmp/big bs=1M count=2; echo $?");
        plan.limits.file_bytes = 1 << 20;
        assert_eq!(run(&plan).stdout, "153\n", "25 is SIGXFSZ");
    }
}
