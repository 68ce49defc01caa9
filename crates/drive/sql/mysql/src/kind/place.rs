//! Where a server and its standby listen.

use std::path::PathBuf;

use model::Transport;
use model::server::REPLICA;
use server::standby::DATA;
use server::{ServerSpec, Site};

/// Name of the socket in its directory.
const SOCKET: &str = "mysql.sock";
/// The same of a standby, in the directory of its server's.
pub(crate) const STANDBY_SOCKET: &str = "standby.sock";

/// Returns the socket's file.
pub(super) fn socket(site: &Site) -> PathBuf {
    site.socket.join(if is_standby(site) { STANDBY_SOCKET } else { SOCKET })
}

/// Returns whether these are a standby's directories.
pub(super) fn is_standby(site: &Site) -> bool {
    site.data.ends_with(DATA)
}

/// Returns whether clients or a standby connect by TCP.
pub(super) fn listens(spec: &ServerSpec<'_>) -> bool {
    let is_followed = spec.options.get(REPLICA).is_some() && !is_standby(spec.site);
    spec.site.transport == Transport::Tcp || is_followed
}
