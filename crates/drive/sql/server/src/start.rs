//! What a server is started with, and how a program of its set-up fails.

use std::net::TcpListener;
use std::path::Path;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::Duration;

use engine::EngineError;
use model::server::{REPLICA, TRANSPORT};
use model::{Options, Password, Settings, Transport};

use crate::error::ServerError;
use crate::kind::{Kind, Site, Task};
use crate::launch::{self, ServerPlacement};
use crate::listen_address::ListenAddress;
use crate::network::Network;
use crate::private_dir::{self, PrivateDir};
use crate::process::WAIT_MS;
use crate::site;
use crate::user::{User, random};

/// Timeout of a set-up program: MySQL 5.7 takes 9 s, more on a busy disk.
pub const SET_UP_MAX: Duration = Duration::from_secs(300);

/// Name of a server's log in its directory.
pub const LOG: &str = "server.log";
/// Name of a server's data directory in its directory.
pub const DATA: &str = "data";

/// First port number for sockets named by one, and how many there are: below those from which the
/// kernel gives one to each connection. Source: ip(7), `ip_local_port_range`.
const PORTS: (u16, u16) = (20_000, 12_000);
/// Numbers the servers of this process.
static NEXT: AtomicU16 = AtomicU16::new(0);

/// Everything a server is started with.
#[derive(Clone)]
pub struct Start<'a> {
    /// Its kind.
    pub kind: &'static dyn Kind,
    /// Its program: `.../bin/postgres`.
    pub program: &'a Path,
    /// Hash of the program, the key of its templates.
    pub fingerprint: &'a str,
    /// Directory of its data, log and temporary files.
    ///
    /// An earlier server's data in it is used again. If this process is killed, the next Assay
    /// removes the directory.
    pub dir: &'a Path,
    /// Settings that mean the same for every engine.
    pub settings: &'a Settings,
    /// Options under its own names.
    pub options: &'a Options,
    /// Host name or address at which clients on other machines reach it; `None` without such.
    pub address: Option<&'a str>,
    /// Name of the user it runs as; see [`User::find`].
    pub user: Option<&'a str>,
    /// Where its processes run.
    pub placement: ServerPlacement,
    /// Directory of templates: data directories stored right after set-up.
    pub templates: Option<&'a Path>,
    /// Timeout until it is ready.
    pub ready_within: Duration,
}

impl Start<'_> {
    /// Returns the site at which Assay itself reaches the server.
    pub(crate) fn probed(&self, site: &Site) -> Site {
        let own = self.placement.network.as_ref().map(|_| Transport::Unix);
        Site { transport: own.unwrap_or(site.transport), ..site.clone() }
    }
}

/// Checks that servers of a kind can be started here: their account, its reach, `setpriv`, sockets.
///
/// Returns the number of the account.
///
/// `data` is the directory of data, which need not exist; `user` that of [`User::find`].
///
/// # Errors
/// The reason, with the remedy.
pub fn check_host(kind: &dyn Kind, data: &Path, user: Option<&str>) -> Result<u32, ServerError> {
    let user = User::check_data_dir(data, user, kind.needs_account_name())?;
    private_dir::check()?;
    Ok(user.uid)
}

/// Returns the error of a failed set-up program, as the kind reads the log.
pub(crate) fn set_up_error(
    kind: &dyn Kind,
    task: &Task,
    status: Option<ExitStatus>,
    log: &Path,
) -> EngineError {
    let program = task.program.file_name().unwrap_or_default().to_string_lossy();
    let startup_error = kind.startup_error(&site::tail(log));
    if let EngineError::Fatal(reason) = startup_error {
        let exit = launch::describe_exit(status);
        return EngineError::Fatal(format!("{program} failed ({exit}): {reason}"));
    }
    startup_error
}

/// Returns where a server is and listens; its password is not known yet.
pub(crate) fn site_of(start: &Start<'_>, private_dir: &PrivateDir) -> Result<Site, ServerError> {
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let (first, count) = PORTS;
    // Not the process's number: containers that share a network have the same ones.
    let own = random().map_or(0, |[low, high, ..]| u16::from_le_bytes([low, high])) % count;
    let address = match &start.placement.network {
        Some(_) => Some(Network::address()),
        None => start.address.map(ListenAddress::find).transpose()?,
    };
    let transport = start.options.get(TRANSPORT).and_then(|text| text.parse().ok());
    // A unix socket is not reached from another machine.
    let transport = address.as_ref().map_or(transport.unwrap_or_default(), |_| Transport::Tcp);
    let own = own.wrapping_add(number);
    let mut ports = (0..count).map(|more| first + own.wrapping_add(more) % count);
    let mut site = Site {
        data: start.dir.join(DATA),
        socket: private_dir.socket(),
        temporary: start.dir.join("tmp"),
        log: start.dir.join(LOG),
        port: first,
        transport,
        address,
        password: Password(String::new()),
    };
    let ip = site.ip();
    // The standby of some kinds follows by TCP.
    let port = match (transport, start.options.get(REPLICA)) {
        (Transport::Unix, None) => ports.next(),
        // All ports of a network of its own are free.
        (Transport::Tcp, _) if start.placement.network.is_some() => ports.next(),
        _ => ports.find(|port| TcpListener::bind((ip.as_str(), *port)).is_ok()),
    };
    // Where none is free, the server reports it.
    site.port = port.unwrap_or(first);
    Ok(site)
}

/// Converts a timeout to a count of waits.
pub(crate) fn waits(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX) / WAIT_MS
}
