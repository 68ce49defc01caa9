//! Who may log in to an own server: the text of `pg_hba.conf`.

use std::path::PathBuf;

use model::server::REPLICA;
use server::ServerSpec;

/// Name of the file, of a server and its standby.
const FILE: &str = "pg_hba.conf";
/// The standby by the socket: only root and the server's account reach it.
const STANDBY: &str = "local replication all trust\n";
/// Clients on this machine, as set-up writes them.
const LOCAL: &str = "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n";
/// Clients at every address, IPv4 and IPv6.
///
/// Source: Postgres' documentation, "The pg_hba.conf File", `address`.
const REMOTE: &str = "host all all all scram-sha-256\n";

/// Returns the file and its text; `None` where the file of set-up is enough.
pub(crate) fn file(spec: &ServerSpec<'_>) -> Option<(PathBuf, String)> {
    let standby = spec.options.get(REPLICA).map(|_| STANDBY);
    let remote = spec.site.address.as_ref().map(|_| REMOTE);
    let is_own = standby.or(remote).is_some();
    let text: String = [standby, Some(LOCAL), remote].into_iter().flatten().collect();
    is_own.then(|| (spec.site.file(FILE), text))
}
