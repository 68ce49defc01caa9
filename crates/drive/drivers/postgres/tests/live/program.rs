//! Finds Postgres programs.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// Folders with one server each, below the home folder or absolute.
const PLACES: [&str; 3] = [".cache/assay/engines/postgres", "/tmp/servers", "/usr/lib/postgresql"];

/// Returns the programs of the first folder that has some, the newest release last; prints when
/// there is none.
pub(crate) fn programs() -> Vec<PathBuf> {
    let home = env::home_dir().unwrap_or_default();
    let mut places = PLACES.iter().map(|place| below(&home.join(place)));
    let found = places.find(|found| !found.is_empty()).unwrap_or_else(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        let programs = env::split_paths(&path).map(|dir| dir.join("postgres"));
        programs.filter(|program| program.is_file()).collect()
    });
    if found.is_empty() {
        println!("skipped: no Postgres in {} and PATH", PLACES.join(", "));
    }
    found
}

/// Returns the programs one and two folders below `place`, in the order of their paths.
fn below(place: &Path) -> Vec<PathBuf> {
    let entries = |dir: &Path| -> Vec<PathBuf> {
        let read = fs::read_dir(dir).into_iter().flatten().flatten();
        let mut paths: Vec<_> = read.map(|entry| entry.path()).collect();
        paths.sort();
        paths
    };
    let folders = entries(place);
    let deeper = folders.iter().flat_map(|folder| entries(folder));
    let all = folders.clone().into_iter().chain(deeper);
    let programs = all.map(|folder| folder.join("bin/postgres"));
    programs.filter(|program| program.is_file()).collect()
}
