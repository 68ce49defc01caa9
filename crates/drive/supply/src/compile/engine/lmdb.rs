//! LMDB: two files of C.

use super::compilable::{Compilable, Release};
use crate::compile::recipe::Recipe;
use crate::error::Result;
use crate::source::Packages;

/// LMDB's releases; 0.9.70 is the version of the development branch mdb.master.
pub(super) const COMPILABLE: Compilable = Compilable {
    engine: "lmdb",
    releases: &[
        Release::of("0.9.21", "lmdb-sys", "0.8.0"),
        Release::of("0.9.24", "lmdb-rkv-sys", "0.11.2"),
        Release::of("0.9.70", "lmdb-master-sys", "0.2.6"),
    ],
    recipe,
};

/// Returns the library's two files; MDB_IDL_LOGN as the crates set it.
fn recipe(release: &Release, packages: &Packages) -> Result<Recipe> {
    let dir = packages.find(release.source.name)?.1.join("lmdb/libraries/liblmdb");
    let flags = ["-pthread", "-DMDB_IDL_LOGN=16"];
    let mut recipe = Recipe { libraries: &["-pthread"], ..Recipe::default() };
    recipe.add(&[&dir], &flags, ["mdb.c", "midl.c"].map(|name| dir.join(name)));
    Ok(recipe)
}
