//! Target of the cache of builds.

use std::fs;
use std::path::Path;

use model::visible;
use supply::Store;

/// Builds whose metadata the bytes are: a library, and a server.
const BUILDS: [&str; 2] = ["rocksdb/1.0", "postgres/1.0"];

/// Metadata of builds, listed and checked.
pub(crate) fn artifact(data: &[u8]) {
    let cache = tempfile::tempdir().expect("a scratch directory");
    for build in BUILDS {
        let place = cache.path().join("engines").join(build);
        fs::create_dir_all(&place).expect("the scratch directory is writable");
        fs::write(place.join("artifact.json"), data).expect("the scratch directory is writable");
    }
    list(cache.path());
}

fn list(cache: &Path) {
    let store = Store::with_sources(cache.to_path_buf(), Vec::new()).expect("it is writable");
    for artifact in store.list() {
        drop(visible(&artifact.row().join("  ")));
    }
    for damage in store.damaged() {
        drop(visible(&damage.to_string()));
    }
}
