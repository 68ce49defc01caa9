//! A server of this machine that Assay did not start, found by its socket.

use std::collections::BTreeSet;
use std::fs;
use std::net::IpAddr;
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
const TCP_LISTENS: &str = "0A";
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
        let text = ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| read(table).unwrap_or_default());
        Self::of_socket(&tcp_listener(&text.concat(), ips, port)?)
    }

    /// Finds the server that listens at a unix socket, as [`Self::at_port`].
    pub fn at_socket(path: &Path) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        // Source: proc(5), `/proc/net/unix`: flags, inode and path are fields 4, 7 and 8.
        let inode = inode(&read("/proc/net/unix")?, 6, |fields| {
            fields[3] == UNIX_LISTENS
                && fields.get(7).is_some_and(|it| fs::canonicalize(it).is_ok_and(|it| it == path))
        });
        Self::of_socket(&inode?)
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

/// Returns the inode of the socket that serves a port of one of the addresses, in the text of
/// `/proc/net/tcp` and `tcp6`.
///
/// The kernel prefers a socket of the address to one of all addresses. A socket of IPv6 serves IPv4
/// too.
///
/// Source: Linux, Documentation/networking/proc_net_tcp.rst: fields 2, 4 and 10.
fn tcp_listener(text: &str, ips: &[IpAddr], port: u16) -> Option<String> {
    let own = ips.iter().flat_map(|ip| match ip {
        IpAddr::V4(ip) => vec![hex(&ip.octets()), hex(&ip.to_ipv6_mapped().octets())],
        IpAddr::V6(ip) => vec![hex(&ip.octets())],
    });
    let all = [hex(&[0; 4]), hex(&[0; 16])].into_iter().filter(|_| !ips.is_empty());
    own.chain(all).find_map(|ip| {
        let place = format!("{ip}:{port:04X}");
        inode(text, 9, |fields| fields[1] == place && fields[3] == TCP_LISTENS)
    })
}

/// Returns an address as the kernel writes it: each four bytes as a number in the machine's order.
fn hex(octets: &[u8]) -> String {
    let numbers = octets.as_chunks().0.iter().map(|four| u32::from_ne_bytes(*four));
    numbers.map(|number| format!("{number:08X}")).collect()
}

/// Returns field `at`, the inode, of the first line of a table of sockets whose fields match.
fn inode(table: &str, at: usize, is_match: impl Fn(&[&str]) -> bool) -> Option<String> {
    let mut lines = table.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    lines.find(|fields| fields.len() > at && is_match(fields)).map(|it| it[at].to_owned())
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
   0: 0000000000000000FFFF00000100007F:153A 00000000000000000000000000000000:0000 0A 0:0 0:0 0 0 0 14 1
";

    #[test]
    fn only_sockets_that_listen_at_the_port_are_found() {
        if cfg!(target_endian = "big") {
            return println!("skipped: the text is that of a little-endian machine");
        }
        let found = |ip: &str, port| {
            let ips: Vec<IpAddr> = ip.parse().into_iter().collect();
            tcp_listener(TCP, &ips, port)
        };
        assert_eq!(found("127.0.0.1", 5432).as_deref(), Some("11"));
        assert_eq!(found("127.0.0.2", 5432), None);
        assert_eq!(found("127.0.0.2", 5433).as_deref(), Some("13"), "all addresses");
        assert_eq!(found("127.0.0.1", 5434).as_deref(), Some("14"), "IPv4 in IPv6");
        assert_eq!((found("127.0.0.1", 5435), found("no address", 5433)), (None, None));
        assert_eq!(
            hex(&std::net::Ipv6Addr::LOCALHOST.octets()),
            "00000000000000000000000001000000"
        );
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
        let (tcp, path) = (TcpListener::bind("127.0.0.1:0").unwrap(), dir.join("socket"));
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
