//! Identity of the LMDB library.

use std::collections::BTreeMap;

use model::Identity;

use crate::ffi::Api;
use crate::ffi_env::key_bytes_max;

/// Returns version, build facts and library.
pub(crate) fn identity(api: &'static Api) -> Identity {
    let version = api.version();
    let (major, minor, patch) = version.numbers;
    let mut facts = BTreeMap::from([
        ("version_string".to_owned(), version.text),
        ("key_bytes_max".to_owned(), key_bytes_max(api).to_string()),
    ]);
    if api.loaded.is_none() {
        let branch = "mdb.master, as packed by lmdb-master-sys";
        facts.insert("branch".to_owned(), branch.to_owned());
    }
    Identity {
        engine: "lmdb".to_owned(),
        version: format!("{major}.{minor}.{patch}"),
        origin: api
            .loaded
            .map_or("linked".to_owned(), |library| library.path.display().to_string()),
        sha256: api.loaded.map(|library| library.sha256.clone()),
        facts,
    }
}
