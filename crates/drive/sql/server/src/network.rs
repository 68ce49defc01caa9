//! Network namespaces of a server and of its clients, joined by a link that can be cut.
//!
//! The kernel removes them with the last process and descriptor in them: whatever ends Assay,
//! nothing is left.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::AsRawFd as _;
use std::process::Stdio;
use std::thread;

use nix::sched::{CloneFlags, unshare};

use crate::error::ServerError;
use crate::listen_address::ListenAddress;
use crate::user::command;

/// Address of the server in its namespace. Source: RFC 5737: a network that no machine has.
const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
/// Address of the clients in theirs.
const CLIENTS: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 2);
/// Hardware address of the server's end. Our choice, among those that IEEE 802 leaves to users.
const HARDWARE: &str = "02:00:00:00:00:01";
/// What both programs lack without rights.
const REMEDY: &str = "run as root; in a container, add the capabilities SYS_ADMIN and NET_ADMIN";

/// Two network namespaces with a link between them.
#[derive(Debug)]
pub struct Network {
    server: File,
    clients: File,
}

impl Network {
    /// Makes both namespaces and the link, which is up.
    ///
    /// # Errors
    /// What this host lacks, with the remedy.
    pub fn make() -> Result<Self, ServerError> {
        for (program, package) in [("ip", "iproute2"), ("nsenter", "util-linux")] {
            if child::find(program).is_none() {
                return Err(refusal(&format!("{program} is missing: install {package}")));
            }
        }
        let made = || refuse_by("unshare", namespace());
        let network = Self { server: made()?, clients: made()? };
        let clients = path(&network.clients);
        // Without a fixed neighbour the clients of a cut link have an error after three seconds:
        // "no route to host".
        // Source: Linux, Documentation/networking/ip-sysctl.rst, `mcast_solicit`.
        let commands = [
            format!(
                "link add server address {HARDWARE} type veth peer name clients netns {clients}\n\
                 address add {SERVER}/30 dev server\nlink set lo up\nlink set server up"
            ),
            format!(
                "address add {CLIENTS}/30 dev clients\nlink set lo up\nlink set clients up\n\
                 neighbour add {SERVER} lladdr {HARDWARE} dev clients nud permanent"
            ),
        ];
        let [server, clients] = commands;
        ip(&network.server, &server)?;
        ip(&network.clients, &clients)?;
        Ok(network)
    }

    /// Returns the address at which the clients reach the server.
    pub(crate) fn address() -> ListenAddress {
        ListenAddress { host: SERVER.to_string(), ip: IpAddr::V4(SERVER) }
    }

    /// Returns the command prefix that enters the server's namespace.
    pub(crate) fn server_args(&self) -> [OsString; 2] {
        enter(&self.server)
    }

    /// Returns the command prefix that enters the clients' namespace.
    pub fn clients_args(&self) -> [OsString; 2] {
        enter(&self.clients)
    }

    /// Puts the link up or down: at the server's end, as clients have errors at once at theirs.
    ///
    /// # Errors
    /// The message of `ip`.
    pub(crate) fn set_link(&self, is_up: bool) -> Result<(), ServerError> {
        ip(&self.server, if is_up { "link set server up" } else { "link set server down" })
    }
}

/// Makes a network namespace, which lasts as long as the file is open.
fn namespace() -> io::Result<File> {
    // The thread that makes it enters it.
    let made = thread::Builder::new().spawn(|| {
        unshare(CloneFlags::CLONE_NEWNET)?;
        File::open("/proc/thread-self/ns/net")
    })?;
    made.join().unwrap_or_else(|_panic| Err(io::Error::other("its thread has ended")))
}

/// Returns the path of a namespace for other programs.
fn path(namespace: &File) -> String {
    format!("/proc/{}/fd/{}", std::process::id(), namespace.as_raw_fd())
}

/// Returns the command prefix that enters a namespace. Source: nsenter(1).
fn enter(namespace: &File) -> [OsString; 2] {
    ["nsenter".into(), format!("--net={}", path(namespace)).into()]
}

/// Runs commands of `ip` in a namespace.
fn ip(namespace: &File, commands: &str) -> Result<(), ServerError> {
    let args = [&enter(namespace)[..], &["ip", "-batch", "-"].map(OsString::from)].concat();
    let run = || {
        let mut command = command(&args);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let mut stdin = child.stdin.take().expect("it is piped");
        stdin.write_all(commands.as_bytes())?;
        drop(stdin);
        child.wait_with_output()
    };
    let output = refuse_by("nsenter", run())?;
    if output.status.success() {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&output.stderr);
    Err(refusal(&format!("ip: {}: {REMEDY}", text.lines().next().unwrap_or_default())))
}

/// Converts an error of a call or a program.
fn refuse_by<T>(name: &str, result: io::Result<T>) -> Result<T, ServerError> {
    result.map_err(|error| refusal(&format!("{name}: {error}: {REMEDY}")))
}

/// Returns the error of a network that cannot be made or changed.
fn refusal(reason: &str) -> ServerError {
    ServerError::fatal(format!("the network between server and clients: {reason}"))
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::net::{SocketAddr, TcpListener, TcpStream};
    use std::time::Duration;

    use nix::sched::setns;

    use super::*;

    /// Runs code in a namespace.
    fn within<T: Send>(namespace: &File, code: impl FnOnce() -> T + Send) -> T {
        thread::scope(|scope| {
            let entered = scope.spawn(|| {
                setns(namespace, CloneFlags::CLONE_NEWNET).unwrap();
                code()
            });
            entered.join().unwrap()
        })
    }

    /// Goal: a cut network answers nothing and refuses nothing; a connection goes on after it.
    #[test]
    fn a_cut_network_is_silent_until_it_is_back() {
        let network = match Network::make() {
            Err(error) if !nix::unistd::geteuid().is_root() => {
                return println!("skipped: only root makes network namespaces ({error})");
            }
            made => made.unwrap(),
        };
        let listener = within(&network.server, || TcpListener::bind((SERVER, 7)).unwrap());
        let address = SocketAddr::from((SERVER, 7));
        let connect = || {
            within(&network.clients, || {
                TcpStream::connect_timeout(&address, Duration::from_secs(2))
            })
        };
        let mut connected = connect().unwrap();
        let (mut accepted, _) = listener.accept().unwrap();
        assert!(TcpListener::bind((SERVER, 7)).is_err(), "this host has no such address");
        network.set_link(false).unwrap();
        // Longer than a neighbour is sought.
        for _ in 0..2 {
            assert_eq!(connect().unwrap_err().kind(), io::ErrorKind::TimedOut);
        }
        accepted.write_all(b"!").unwrap();
        network.set_link(true).unwrap();
        connected.read_exact(&mut [0]).unwrap();
        connect().unwrap();
    }
}
