//! Identity of the SQLite library.

use std::collections::BTreeMap;

use model::Identity;

use crate::ffi::Api;

/// Returns version, build facts and library.
pub(crate) fn identity(api: &Api) -> Identity {
    let mut facts = BTreeMap::from([
        ("compile_options".to_owned(), api.compile_options().join(" ")),
        ("source_id".to_owned(), api.source_id()),
    ]);
    facts.retain(|_, fact| !fact.is_empty());
    Identity {
        engine: "sqlite".to_owned(),
        version: api.version(),
        origin: api
            .loaded
            .map_or("linked".to_owned(), |library| library.path.display().to_string()),
        sha256: api.loaded.map(|library| library.sha256.clone()),
        facts,
    }
}
