//! A server of this machine that Assay did not start, found by its socket.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::kernel_file::{read, read_of_process};
use crate::process_tree::{parent_of, processes};
use crate::server_group::ServerGroup;

/// Files in the data directories of Postgres, InnoDB and MySQL.
///
/// A server works in its data directory; forwarders of connections, which listen too, do not.
const DATA_FILES: [&str; 3] = ["PG_VERSION", "ibdata1", "auto.cnf"];
/// State of a TCP socket that listens. Source: Linux, include/net/tcp_states.h, `TCP_LISTEN`.
const TCP_LISTEN: &str = "0A";
/// Flags of a unix socket that listens. Source: Linux, include/linux/net.h, `__SO_ACCEPTCON`.
const UNIX_LISTENS: &str = "00010000";

/// A server of this machine that Assay did not start.
#[derive(Debug)]
pub struct RunningServer {
    /// Its first process.
    pub pid: u32,
    /// Name of the process.
    pub name: String,
    /// Its data directory; `None` if its path is not valid here, as for a container's.
    pub data_dir: Option<PathBuf>,
    /// Where the server is counted.
    pub group: ServerGroup,
}

impl RunningServer {
    /// Finds the server that listens at a port of one of this machine's addresses.
    ///
    /// `None` if this account may not read its processes, or if it works in no data directory.
    pub fn at_port(ips: &[IpAddr], port: u16) -> Option<Self> {
        let tables = ["/proc/net/tcp", "/proc/net/tcp6"].into_iter().filter_map(read);
        let listeners: Vec<Listener> = tables.flat_map(|text| tcp_listeners(&text, port)).collect();
        // The kernel prefers a socket of the address to one of all addresses.
        let own = listeners.iter().find(|it| ips.contains(&it.ip));
        let found = own.or_else(|| listeners.iter().find(|it| it.serves_any(ips)))?;
        Self::of_socket(&found.inode)
    }

    /// Finds the server that listens at a unix socket, as [`Self::at_port`].
    pub fn at_socket(path: &Path) -> Option<Self> {
        Self::of_socket(&unix_listener(&read("/proc/net/unix")?, &fs::canonicalize(path).ok()?)?)
    }

    fn of_socket(inode: &str) -> Option<Self> {
        let link = PathBuf::from(format!("socket:[{inode}]"));
        let servers = processes().filter(|pid| {
            DATA_FILES.iter().any(|name| cwd(*pid).join(name).exists()) && holds(*pid, &link)
        });
        let servers: BTreeSet<u32> = servers.collect();
        let is_first = |pid: &&u32| parent_of(**pid).is_some_and(|it| !servers.contains(&it));
        let pid = *servers.iter().find(is_first)?;
        let name = read_of_process(pid, "comm")?.trim().to_owned();
        let data_dir = fs::read_link(cwd(pid)).ok().filter(|path| is_same(path, &cwd(pid)));
        let group = ServerGroup::of_running(pid, data_dir.as_deref());
        Some(Self { pid, name, data_dir, group })
    }
}

/// Returns the working directory of a process, as a link.
fn cwd(pid: u32) -> PathBuf {
    format!("/proc/{pid}/cwd").into()
}

/// Returns whether a process has a descriptor with that link.
fn holds(pid: u32, link: &Path) -> bool {
    let mut entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    entries.any(|entry| fs::read_link(entry.path()).is_ok_and(|it| it == link))
}

/// Returns whether two paths are one directory.
fn is_same(one: &Path, other: &Path) -> bool {
    let number = |path: &Path| fs::metadata(path).map(|meta| (meta.dev(), meta.ino())).ok();
    number(one).is_some() && number(one) == number(other)
}

/// A TCP socket that listens.
#[derive(Debug, PartialEq, Eq)]
struct Listener {
    ip: IpAddr,
    inode: String,
}

impl Listener {
    /// Returns whether it listens at all addresses, of which `ips` are some.
    ///
    /// A socket of IPv6 listens at those of IPv4 too, unless it has the option `IPV6_V6ONLY`.
    fn serves_any(&self, ips: &[IpAddr]) -> bool {
        self.ip.is_unspecified() && ips.iter().any(|ip| self.ip.is_ipv6() || ip.is_ipv4())
    }
}

/// Returns the sockets that listen at a port, in the text of `/proc/net/tcp` or `tcp6`.
///
/// Source: Linux, Documentation/networking/proc_net_tcp.rst: fields 2, 4 and 10.
fn tcp_listeners(text: &str, port: u16) -> Vec<Listener> {
    let listener = |line: &str| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (ip, at) = fields.get(1)?.split_once(':')?;
        let listens = *fields.get(3)? == TCP_LISTEN && u16::from_str_radix(at, 16) == Ok(port);
        let inode = (*fields.get(9)?).to_owned();
        Some(Listener { ip: ip_in(ip)?, inode }).filter(|_| listens)
    };
    text.lines().filter_map(listener).collect()
}

/// Returns the address that the kernel writes as hexadecimal numbers in the machine's byte order.
fn ip_in(text: &str) -> Option<IpAddr> {
    let group = |at: usize| u32::from_str_radix(text.get(at..at + 8)?, 16).ok();
    let groups: Vec<[u8; 4]> =
        (0..text.len()).step_by(8).map_while(group).map(u32::to_ne_bytes).collect();
    match groups[..] {
        [four] => Some(Ipv4Addr::from(four).into()),
        [..] => {
            let six: [u8; 16] = groups.concat().try_into().ok()?;
            Some(IpAddr::from(Ipv6Addr::from(six)).to_canonical())
        }
    }
}

/// Returns the inode of the socket that listens at a path, in the text of `/proc/net/unix`.
///
/// Source: proc(5), `/proc/net/unix`: flags, inode and path are fields 4, 7 and 8.
fn unix_listener(text: &str, path: &Path) -> Option<String> {
    text.lines().find_map(|line| {
        // The path may hold blanks.
        let at = line.find(" /")? + 1;
        let fields: Vec<&str> = line[..at].split_ascii_whitespace().collect();
        let is_own = *fields.get(3)? == UNIX_LISTENS
            && fs::canonicalize(&line[at..]).is_ok_and(|bound| bound == path);
        is_own.then(|| fields.get(6).map(|inode| (*inode).to_owned())).flatten()
    })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;
    use std::process::{Child, Command, Stdio};

    use super::*;

    const TCP: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1 0
   1: 0100007F:1538 0100007F:D2F0 01 00000000:00000000 00:00000000 00000000     0        0 12 1 0
   2: 00000000:1539 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 13 1 0
";

    #[test]
    fn only_sockets_that_listen_at_the_port_are_found() {
        if cfg!(target_endian = "big") {
            return println!("skipped: the text is that of a little-endian machine");
        }
        let listener = |ip: IpAddr, inode: &str| Listener { ip, inode: inode.to_owned() };
        let (own, all) = (IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0]));
        assert_eq!(tcp_listeners(TCP, 5432), [listener(own, "11")]);
        assert_eq!(tcp_listeners(TCP, 5433), [listener(all, "13")]);
        assert_eq!(tcp_listeners(TCP, 5434), []);
        assert!(listener(all, "13").serves_any(&[own]) && !listener(own, "11").serves_any(&[own]));
        let (all_six, own_six) = (Ipv6Addr::UNSPECIFIED.into(), Ipv6Addr::LOCALHOST.into());
        assert!(listener(all_six, "1").serves_any(&[own]));
        assert!(!listener(all, "1").serves_any(&[own_six]));
        for (text, ip) in [
            ("00000000000000000000000001000000", "::1"),
            ("0000000000000000FFFF00000100007F", "127.0.0.1"),
        ] {
            assert_eq!(ip_in(text), ip.parse().ok());
        }
        assert_eq!((ip_in(""), ip_in("0100"), ip_in("zzzzzzzz")), (None, None, None));
    }

    /// Returns a process that works in `dir` and inherits the descriptors of this one.
    fn process_in(dir: &Path) -> Child {
        let mut command = Command::new("sh");
        let command = command.args(["-c", "read line"]).current_dir(dir).stdin(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Goal: the process that listens is found if it works in a data directory. Method: a child
    /// that inherits the sockets of this process, before and after its directory has a data file.
    #[test]
    fn server_is_found_by_port_and_by_socket() {
        let place = tempfile::tempdir().unwrap();
        let dir = fs::canonicalize(place.path()).unwrap();
        let (tcp, path) = (TcpListener::bind("127.0.0.1:0").unwrap(), dir.join("my socket"));
        let unix = UnixListener::bind(&path).unwrap();
        rustix::io::fcntl_setfd(&tcp, rustix::io::FdFlags::empty()).unwrap();
        rustix::io::fcntl_setfd(&unix, rustix::io::FdFlags::empty()).unwrap();
        let mut child = process_in(&dir);
        let at = tcp.local_addr().unwrap();
        let find =
            || [RunningServer::at_port(&[at.ip()], at.port()), RunningServer::at_socket(&path)];
        assert!(find().iter().all(Option::is_none), "it works in no data directory");
        fs::write(dir.join("PG_VERSION"), "15\n").unwrap();
        for server in find().map(Option::unwrap) {
            assert_eq!((server.pid, &*server.name), (child.id(), "sh"));
            assert_eq!(server.data_dir.as_deref(), Some(&*dir));
            assert!(server.group.dirs().is_empty(), "no group was made");
        }
        assert!(RunningServer::at_socket(&dir.join("other")).is_none());
        drop(child.stdin.take());
        child.wait().unwrap();
    }
}
