//! RocksDB with snappy, LZ4 and Zstandard.

use std::path::{Path, PathBuf};

use super::compilable::{Compilable, Release};
use super::compression::{lz4, snappy, zstd};
use crate::compile::recipe::{HEADERS_DIR, Language, Recipe, includes, owned_args, read};
use crate::error::SupplyError;
use crate::release::parse;
use crate::source::{Packages, WantedCrate};

/// The crate that carries RocksDB.
const CRATE: &str = "librocksdb-sys";

/// RocksDB's releases.
pub(super) const COMPILABLE: Compilable = Compilable {
    engine: "rocksdb",
    releases: &[
        release("5.18.3", "5.18.3"),
        release("6.20.3", "6.20.3"),
        release("6.28.2", "0.6.1+6.28.2"),
        release("7.4.4", "0.8.3+7.4.4"),
        release("7.9.2", "0.10.0+7.9.2"),
        release("8.1.1", "0.11.0+8.1.1"),
        release("8.10.0", "0.16.0+8.10.0"),
        release("9.9.3", "0.17.1+9.9.3"),
        release("10.4.2", "0.17.3+10.4.2"),
        release("11.8.1", "0.19.0+11.8.1"),
    ],
    recipe,
};

/// Returns a release, with the features of the compression libraries.
const fn release(version: &'static str, crate_version: &'static str) -> Release {
    let features = &["snappy", "lz4", "zstd"];
    Release { version, source: WantedCrate { name: CRATE, version: crate_version, features } }
}

/// Macros of RocksDB's own build on Linux.
///
/// Source: RocksDB, `build_tools/build_detect_platform`, Linux with glibc.
const DEFINES: &[&str] = &[
    "-DNDEBUG",
    "-DROCKSDB_PLATFORM_POSIX",
    "-DROCKSDB_LIB_IO_POSIX",
    "-DOS_LINUX",
    "-DROCKSDB_SUPPORT_THREAD_LOCAL",
    "-DROCKSDB_FALLOCATE_PRESENT",
    "-DROCKSDB_MALLOC_USABLE_SIZE",
    "-DROCKSDB_PTHREAD_ADAPTIVE_MUTEX",
    "-DROCKSDB_RANGESYNC_PRESENT",
    "-DROCKSDB_SCHED_GETCPU_PRESENT",
    "-DROCKSDB_AUXV_GETAUXVAL_PRESENT",
    "-DROCKSDB_BACKTRACE",
    "-DHAVE_UINT128_EXTENSION",
    "-faligned-new",
    "-DHAVE_ALIGNED_NEW",
    "-DSNAPPY",
    "-DLZ4",
    "-DZSTD",
];

/// Header included first: CPU instructions the user's flags allow.
///
/// It includes `<cstdint>`, which old releases omit and newer compilers require.
///
/// Source: RocksDB, `build_tools/build_detect_platform` (names); GCC 12 manual, "x86 Options"
/// (macros defined by the compiler's flags).
const ALLOWED: &str = "#pragma once
#include <cstdint>
#ifdef __SSE4_2__
#define HAVE_SSE42
#endif
#ifdef __PCLMUL__
#define HAVE_PCLMUL
#endif
#ifdef __AVX2__
#define HAVE_AVX2
#endif
#ifdef __BMI__
#define HAVE_BMI
#endif
#ifdef __LZCNT__
#define HAVE_LZCNT
#endif
";

/// Name of that header.
const ALLOWED_NAME: &str = "assay_allowed.h";

/// Returns the recipe, as the crate's own build on Linux.
fn recipe(release: &Release, packages: &Packages) -> Result<Recipe, SupplyError> {
    let dir = packages.dir(CRATE)?;
    let rocksdb = dir.join("rocksdb");
    let mut recipe =
        Recipe { libraries: &["-pthread", "-ldl", "-lrt", "-lm"], ..Recipe::default() };
    recipe.headers.push((ALLOWED_NAME, ALLOWED.to_owned()));

    let lz4_dir =
        bundled_dir(&dir.join("lz4/lib"), packages, "lz4-sys", "liblz4/lib", &mut recipe)?;
    let zstd_dir =
        bundled_dir(&dir.join("zstd/lib"), packages, "zstd-sys", "zstd/lib", &mut recipe)?;
    let snappy_dir = dir.join("snappy");
    let dirs: [&Path; 9] = [
        Path::new(HEADERS_DIR),
        &rocksdb.join("include"),
        &rocksdb,
        &rocksdb.join("third-party/gtest-1.8.1/fused-src"),
        &snappy_dir,
        &lz4_dir,
        &zstd_dir,
        &zstd_dir.join("dictBuilder"),
        dir,
    ];
    let standard = standard(release.version);
    let first = owned_args(&[standard, "-include", ALLOWED_NAME]);
    let arguments = [first, includes(dirs), owned_args(DEFINES)].concat();
    let listed = sources(&read(&dir.join("rocksdb_lib_sources.txt"))?, std::env::consts::ARCH);
    let own = listed.iter().map(|name| rocksdb.join(name));
    recipe.add(Language::Cxx, &arguments, own.chain([dir.join("build_version.cc")]));
    snappy(&mut recipe, &snappy_dir)?;
    lz4(&mut recipe, &lz4_dir);
    zstd(&mut recipe, &zstd_dir)?;
    Ok(recipe)
}

/// Returns the folder of a library, in RocksDB's crate or in its own.
///
/// A separate crate is recorded as bundled.
fn bundled_dir(
    inside: &Path,
    packages: &Packages,
    name: &str,
    below: &str,
    recipe: &mut Recipe,
) -> Result<PathBuf, SupplyError> {
    if inside.is_dir() {
        return Ok(inside.to_owned());
    }
    let dir = packages.dir(name)?.join(below);
    recipe.bundled.extend(packages.find(name).map(|own| format!("{} {}", own.name, own.version)));
    Ok(dir)
}

/// Returns the C++ standard a release is written in.
///
/// Source: librocksdb-sys, `build.rs` of each version.
fn standard(version: &str) -> &'static str {
    match parse(version).unwrap_or_default()[0] {
        0..=6 => "-std=c++11",
        7..=10 => "-std=c++17",
        _ => "-std=c++20",
    }
}

/// Parses a crate's list of files, for an architecture as Rust names it.
///
/// `build_version.cc` is elsewhere, generated by the crate; the crate's own build adds the checksum
/// of 64-bit CRC32C_FILE too.
fn sources(list: &str, arch: &str) -> Vec<String> {
    const CRC32C_FILE: &str = "util/crc32c_arm64.cc";
    let mut files: Vec<String> = list
        .split_whitespace()
        .filter(|name| *name != "util/build_version.cc" && *name != CRC32C_FILE)
        .map(str::to_owned)
        .collect();
    if arch == "aarch64" {
        files.push(CRC32C_FILE.to_owned());
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn source_lists_parse_on_one_line_or_many() {
        let expected = ["cache/cache.cc", "db/c.cc"];
        assert_eq!(sources("cache/cache.cc db/c.cc util/build_version.cc\n", "x86_64"), expected);
        assert_eq!(sources("cache/cache.cc\r\ndb/c.cc\n", "x86_64"), expected);
        assert_eq!(sources("db/c.cc\n", "aarch64"), ["db/c.cc", "util/crc32c_arm64.cc"]);
    }

    #[test]
    fn cxx_standard_follows_the_release() {
        let standards: Vec<_> =
            COMPILABLE.releases.iter().map(|release| standard(release.version)).collect();
        assert!(standards.is_sorted());
        assert_eq!(standard("6.28.2"), "-std=c++11");
        assert_eq!(standard("10.4.2"), "-std=c++17");
        assert_eq!(standard("11.8.1"), "-std=c++20");
    }

    #[test]
    fn crate_version_ends_with_the_release() {
        for release in COMPILABLE.releases {
            let tail = release.source.version.rsplit('+').next();
            assert_eq!(tail, Some(release.version));
        }
    }
}
