//! Group D: the network, and the doors of other processes. Every address is of this machine; what listens is the suite itself.

use crate::case::{Act, Case, Group, Target};
use crate::native::Answers;
use crate::trial::{Trial, Trouble};
use std::io::{self, Read as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{SocketAddr as UnixAddress, UnixListener};
use std::time::Duration;

const HOST: &[Target] = &[Target::Host];
const LIMIT: Duration = Duration::from_secs(30);
/// What a socket or a connection is answered with in the sandbox.
const DENIED: &[&str] = &["EPERM", "EACCES"];

pub(super) const CASES: &[Case] = &[
    Case {
        id: 52,
        title: "network",
        group: Group::Network,
        targets: HOST,
        attempt: "TCP, UDP, IPv6, IPv4 in IPv6, ICMP and a name server's port, to listeners of the machine",
        control: "without a sandbox the listeners receive",
        denial: "EPERM or EACCES each; nothing is received",
        sources: &["CVE-2026-21852", "class: exfiltration by DNS and ICMP"],
        limit: LIMIT,
        act: Act::Here(network),
    },
    Case {
        id: 53,
        title: "the machine's own loopback",
        group: Group::Network,
        targets: HOST,
        attempt: "connect to a service that listens on 127.0.0.1 and on every address",
        control: "without a sandbox it is connected",
        denial: "EPERM or EACCES; nothing is accepted",
        sources: &["GHSA-5qpp-g3j2-8frx"],
        limit: LIMIT,
        act: Act::Here(loopback),
    },
    Case {
        id: 54,
        title: "unix sockets with a path",
        group: Group::Network,
        targets: HOST,
        attempt: "connect to sockets that look like those of Docker and D-Bus, outside and in the read-only project",
        control: "without a sandbox they are connected",
        denial: "EPERM, EACCES or ENOENT; nothing is accepted",
        sources: &["class: sockets that a network namespace does not hide"],
        limit: LIMIT,
        act: Act::Here(unix_paths),
    },
    Case {
        id: 55,
        title: "abstract unix sockets",
        group: Group::Network,
        targets: HOST,
        attempt: "connect to a socket without a path",
        control: "without a sandbox it is connected",
        denial: "EPERM, EACCES or ECONNREFUSED; nothing is accepted",
        sources: &["class: abstract names"],
        limit: LIMIT,
        act: Act::Here(unix_abstract),
    },
    Case {
        id: 56,
        title: "other families of sockets",
        group: Group::Network,
        targets: HOST,
        attempt: "netlink, vsock, packet, bluetooth, alg and raw sockets",
        control: "without a sandbox a netlink and an internet socket are made",
        denial: "EPERM or EACCES each",
        sources: &["class: socket families past a network namespace"],
        limit: LIMIT,
        act: Act::Here(families),
    },
    Case {
        id: 57,
        title: "shared memory and message queues",
        group: Group::Network,
        targets: HOST,
        attempt: "find System V shared memory, a message queue and a file in /dev/shm that were made outside",
        control: "without a sandbox they are found",
        denial: "ENOENT, EPERM, EACCES or ENOSYS each",
        sources: &["class: IPC namespace"],
        limit: LIMIT,
        act: Act::Here(shared_memory),
    },
];

/// Something that listens, and counts.
enum Door {
    Stream(TcpListener),
    Datagram(UdpSocket),
    Unix(UnixListener),
}

impl Door {
    /// How many came since the last time.
    fn received(&self) -> usize {
        let mut count = 0;
        while self.take().is_ok() {
            count += 1;
        }
        count
    }

    fn take(&self) -> io::Result<()> {
        match self {
            Door::Stream(listener) => listener.accept().map(|(mut stream, _)| {
                let _closed = stream.read(&mut [0; 1]);
            }),
            Door::Datagram(socket) => socket.recv(&mut [0; 64]).map(drop),
            Door::Unix(listener) => listener.accept().map(drop),
        }
    }
}

fn tcp(address: IpAddr) -> io::Result<(Door, SocketAddr)> {
    let listener = TcpListener::bind((address, 0))?;
    listener.set_nonblocking(true)?;
    let address = listener.local_addr()?;
    Ok((Door::Stream(listener), address))
}

fn udp(address: IpAddr) -> io::Result<(Door, SocketAddr)> {
    let socket = UdpSocket::bind((address, 0))?;
    socket.set_nonblocking(true)?;
    let address = socket.local_addr()?;
    Ok((Door::Datagram(socket), address))
}

impl Trial<'_> {
    /// Tries doors from inside, where each has to answer with one of some errors and nobody may come; then from outside, where
    /// somebody does.
    fn doors(&mut self, doors: &[(String, Door)], denied: &[&str]) -> Result<(), Trouble> {
        let acts: Vec<&str> =
            std::iter::once("connect").chain(doors.iter().map(|(target, _)| target.as_str())).collect();
        let inside = self.inside(&acts)?;
        for (target, door) in doors {
            let what = self.shortly(target);
            let answer = inside.answers.of(target);
            self.denied_when(&what, &denied.join(" or "), denied.contains(&answer), answer);
            self.denied(format!("{what}: received"), "0", door.received());
        }
        let outside = self.outside(&acts)?;
        for (target, door) in doors {
            let what = format!("{} without a sandbox", self.shortly(target));
            self.control(&what, "ok", outside.of(target));
            let received = door.received();
            self.control_when(format!("{what}: received"), "1", received >= 1, received);
        }
        Ok(())
    }
}

fn network(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let v4 = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let mut doors = Vec::new();
    let (door, address) = tcp(v4)?;
    doors.push((format!("tcp={address}"), door));
    let (door, address) = udp(v4)?;
    doors.push((format!("udp={address}"), door));
    let (door, address) = tcp(v4)?;
    let mapped = SocketAddr::new(IpAddr::V6(Ipv4Addr::LOCALHOST.to_ipv6_mapped()), address.port());
    doors.push((format!("tcp={mapped}"), door));
    // A machine without IPv6 has nothing to try there.
    if let (Ok((stream, first)), Ok((datagram, second))) =
        (tcp(IpAddr::V6(Ipv6Addr::LOCALHOST)), udp(IpAddr::V6(Ipv6Addr::LOCALHOST)))
    {
        doors.push((format!("tcp={first}"), stream));
        doors.push((format!("udp={second}"), datagram));
    }
    trial.doors(&doors, DENIED)?;
    let inside = trial.inside(&["connect", "udp=127.0.0.53:53", "udp=127.0.0.1:53"])?;
    for server in ["udp=127.0.0.53:53", "udp=127.0.0.1:53"] {
        let answer = inside.answers.of(server);
        trial.denied_when(format!("{server} (a name server)"), "EPERM or EACCES", DENIED.contains(&answer), answer);
    }
    let icmp = trial.inside(&["sockets"])?;
    for kind in ["icmp", "raw"] {
        let answer = icmp.answers.of(kind);
        trial.denied_when(kind, "EPERM or EACCES", DENIED.contains(&answer), answer);
    }
    Ok(())
}

fn loopback(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let (local, address) = tcp(IpAddr::V4(Ipv4Addr::LOCALHOST))?;
    let (all, every) = tcp(IpAddr::V4(Ipv4Addr::UNSPECIFIED))?;
    let every = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), every.port());
    trial.doors(&[(format!("tcp={address}"), local), (format!("tcp={every}"), all)], DENIED)
}

fn unix_paths(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let mut doors = Vec::new();
    for place in ["outside/docker.sock", "outside/bus", "project/docker.sock"] {
        let path = trial.field.path(place);
        let listener = UnixListener::bind(&path)?;
        listener.set_nonblocking(true)?;
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o666))?;
        doors.push((format!("unix={}", path.display()), Door::Unix(listener)));
    }
    trial.doors(&doors, &["EPERM", "EACCES", "ENOENT"])
}

fn unix_abstract(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let name = trial.field.token().to_owned();
    let listener = UnixListener::bind_addr(&UnixAddress::from_abstract_name(&name)?)?;
    listener.set_nonblocking(true)?;
    trial.doors(&[(format!("abstract={name}"), Door::Unix(listener))], &["EPERM", "EACCES", "ECONNREFUSED"])
}

fn families(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    let inside = trial.inside(&["sockets"])?;
    for family in ["netlink", "vsock", "packet", "bluetooth", "alg", "raw", "icmp"] {
        let answer = inside.answers.of(family);
        trial.denied_when(family, "EPERM or EACCES", DENIED.contains(&answer), answer);
    }
    let outside = trial.outside(&["sockets"])?;
    for family in ["netlink", "inet", "unix"] {
        trial.control(format!("{family} without a sandbox"), "ok", outside.of(family));
    }
    Ok(())
}

fn shared_memory(trial: &mut Trial<'_>) -> Result<(), Trouble> {
    // The token's own letters make a key and a name that nobody else has.
    let token = trial.field.token().to_owned();
    let key = token.bytes().fold(17u32, |key, byte| key.wrapping_mul(31).wrapping_add(byte.into())) & 0x7fff_ffff;
    let (key, queue) = (key.to_string(), format!("/{token}"));
    let file = format!("/dev/shm/{token}");
    let made = trial.outside(&["ipc", "make", &key, &queue])?;
    std::fs::write(&file, "shared")?;
    let result = find_shared(trial, &key, &queue, &file, &made);
    let removed = trial.outside(&["ipc", "remove", &key, &queue]);
    std::fs::remove_file(&file)?;
    result.and(removed.map(drop))
}

fn find_shared(trial: &mut Trial<'_>, key: &str, queue: &str, file: &str, made: &Answers) -> Result<(), Trouble> {
    let denied = |answer: &str| matches!(answer, "ENOENT" | "EPERM" | "EACCES" | "ENOSYS");
    let inside = trial.inside(&["ipc", "find", key, queue])?;
    let outside = trial.outside(&["ipc", "find", key, queue])?;
    for kind in ["shared-memory", "message-queue"] {
        let answer = inside.answers.of(kind);
        trial.denied_when(kind, "ENOENT, EPERM, EACCES or ENOSYS", denied(answer), answer);
        // A kernel without one of them can make none.
        let expected = if made.of(kind) == "ENOSYS" { "ENOSYS" } else { "ok" };
        trial.control(format!("{kind} without a sandbox"), expected, outside.of(kind));
    }
    let act = format!("read={file}");
    let inside = trial.inside(&["acts", &act])?;
    let answer = inside.answers.of(&act);
    trial.denied_when("a file in /dev/shm", "ENOENT, EPERM, EACCES or ENOSYS", denied(answer), answer);
    trial.control("the file without a sandbox", "ok:shared", trial.outside(&["acts", &act])?.of(&act));
    Ok(())
}
