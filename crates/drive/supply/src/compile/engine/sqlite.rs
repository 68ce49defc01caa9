//! Build recipe of SQLite: the amalgamation, one C file.

use super::compilable::{Compilable, Release};
use crate::compile::recipe::Recipe;
use crate::error::Result;
use crate::source::Packages;

/// The crate that carries the amalgamation.
const CRATE: &str = "libsqlite3-sys";

pub(super) const COMPILABLE: Compilable = Compilable {
    engine: "sqlite",
    releases: &[
        Release::of("3.35.4", CRATE, "0.22.2"),
        Release::of("3.39.2", CRATE, "0.25.2"),
        Release::of("3.45.0", CRATE, "0.28.0"),
        Release::of("3.46.0", CRATE, "0.30.1"),
        Release::of("3.49.1", CRATE, "0.33.0"),
        Release::of("3.50.2", CRATE, "0.35.0"),
        Release::of("3.54.1", CRATE, "0.39.1"),
    ],
    recipe,
};

/// Compile-time options, for every release those of the linked build's crate.
///
/// Here the linked build leaves out full-text search, R-trees and JSON (`.cargo/config.toml`).
///
/// Source: libsqlite3-sys 0.39.1, `build.rs`, the options of the bundled build.
const OPTIONS: &[&str] = &[
    "-DSQLITE_CORE",
    "-DSQLITE_DEFAULT_FOREIGN_KEYS=1",
    "-DSQLITE_ENABLE_API_ARMOR",
    "-DSQLITE_ENABLE_COLUMN_METADATA",
    "-DSQLITE_ENABLE_DBSTAT_VTAB",
    "-DSQLITE_ENABLE_FTS3",
    "-DSQLITE_ENABLE_FTS3_PARENTHESIS",
    "-DSQLITE_ENABLE_FTS5",
    "-DSQLITE_ENABLE_JSON1",
    "-DSQLITE_ENABLE_LOAD_EXTENSION=1",
    "-DSQLITE_ENABLE_RTREE",
    "-DSQLITE_ENABLE_STAT4",
    "-DSQLITE_SOUNDEX",
    "-DSQLITE_THREADSAFE=1",
    "-DSQLITE_USE_URI",
    "-DHAVE_USLEEP=1",
    "-DHAVE_ISNAN",
    "-DHAVE_LOCALTIME_R",
    "-D_POSIX_THREAD_SAFE_FUNCTIONS",
];

/// Returns the amalgamation.
fn recipe(release: &Release, packages: &Packages) -> Result<Recipe> {
    let source = packages.find(release.source.name)?.1.join("sqlite3/sqlite3.c");
    let mut recipe = Recipe { libraries: &["-pthread", "-ldl", "-lm"], ..Recipe::default() };
    recipe.add(&[], OPTIONS, [source]);
    Ok(recipe)
}
