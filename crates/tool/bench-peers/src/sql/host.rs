//! The server of a comparison.

use model::{BuildRef, Endpoint};
use server::{Kind, READY_WITHIN, Running, STOP_WITHIN, ServerPlacement, Start};
use supply::{Artifact, Engines, MARIADB, MYSQL, POSTGRES, Store, default_cache_dir};
use tempfile::TempDir;

use super::peer::Peer;
use crate::ours::server_settings;
use crate::process::Result;

/// A running server; killed when dropped, its data removed.
pub(super) struct Host {
    /// Its name and version: `postgres@15.10`.
    pub(super) name: String,
    running: Running,
    _dir: TempDir,
}

impl Host {
    /// Starts the first available server of a peer, on the caller's CPUs.
    ///
    /// The inner error names why there is none.
    ///
    /// # Errors
    /// When the server does not start.
    pub(super) fn start(peer: &Peer) -> Result<std::result::Result<Self, String>> {
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
            settings: &server_settings(),
            options: &peer.options.iter().copied().collect(),
            user: None,
            // It inherits the one CPU of the process that starts it.
            placement: ServerPlacement::default(),
            templates: None,
            ready_within: READY_WITHIN,
        };
        let running = Running::start(&start, &|| false)?;
        Ok(Ok(Self { name: artifact.build.to_string(), running, _dir: dir }))
    }

    /// Returns where it listens.
    pub(super) fn endpoint(&self) -> &Endpoint {
        self.running.endpoint()
    }

    /// Stops it.
    ///
    /// # Errors
    /// When it died before, or had to be killed.
    pub(super) fn stop(mut self) -> Result<()> {
        Ok(self.running.stop(STOP_WITHIN)?)
    }
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
        match store.get(&build.parse::<BuildRef>()?, &mut |_| {}) {
            Ok(artifact) => return Ok(Ok((artifact, kind()))),
            Err(error) => lacks.push(format!("{build}: {error}")),
        }
    }
    Ok(Err(lacks.join("; ")))
}
