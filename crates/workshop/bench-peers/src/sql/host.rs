//! The server of a comparison.

use model::BuildRef;
use server::{Kind, READY_WITHIN, Running, ServerPlacement, Start};
use supply::{Artifact, Engines, MARIADB, MYSQL, POSTGRES, Store, default_cache_dir};
use tempfile::TempDir;

use super::peer::Peer;
use crate::ours::{SERVER_CACHE_BYTES, settings};
use crate::process::Result;

/// A server's build, the server, which is killed when dropped, and its data.
pub(super) type Host = (String, Running, TempDir);

/// Starts the first available server of a peer, on the caller's CPUs.
///
/// The inner error names why there is none.
///
/// # Errors
/// When the server does not start.
pub(super) fn start(peer: &Peer) -> Result<std::result::Result<Host, String>> {
    let (artifact, kind) = match obtain(peer)? {
        Ok(found) => found,
        Err(lack) => return Ok(Err(lack)),
    };
    let dir = tempfile::tempdir()?;
    let start = Start {
        kind,
        program: &artifact.library,
        fingerprint: &artifact.sha256,
        dir: dir.path(),
        settings: &settings(SERVER_CACHE_BYTES),
        options: &peer.options.iter().copied().collect(),
        address: None,
        user: None,
        // It inherits the one CPU of the process that starts it.
        placement: ServerPlacement::default(),
        templates: None,
        ready_within: READY_WITHIN,
    };
    let running = Running::start(&start, &|| false)?;
    Ok(Ok((artifact.build.to_string(), running, dir)))
}

/// Returns the first build that is cached or can be fetched.
#[expect(clippy::disallowed_methods, reason = "the program's only read of the environment")]
fn obtain(peer: &Peer) -> Result<std::result::Result<(Artifact, &'static dyn Kind), String>> {
    let [home, xdg] = ["HOME", "XDG_CACHE_HOME"].map(|name| std::env::var(name).ok());
    let dir = default_cache_dir(home.as_deref(), xdg.as_deref());
    let dir = dir.ok_or("no directory for a cache: HOME is not set")?;
    let engines = Engines { servers: vec![POSTGRES, MYSQL, MARIADB], ..Engines::default() };
    let store = Store::open(dir)?.with_engines(engines);
    let mut lacks = Vec::new();
    for (build, kind) in peer.builds {
        let found = store.get(&build.parse::<BuildRef>()?, &mut |_| {});
        match found.and_then(Artifact::open_to_all) {
            Ok(artifact) => return Ok(Ok((artifact, kind()))),
            Err(error) => lacks.push(format!("{build}: {error}")),
        }
    }
    Ok(Err(lacks.join("; ")))
}
