//! RocksDB, with snappy, LZ4 and Zstandard inside.

use std::path::{Path, PathBuf};

use super::compression::{lz4, snappy, zstd};
use super::registry::{Compilable, Release};
use crate::compile::recipe::{HEADERS_DIR, Language, Recipe, includes, read, words};
use crate::error::SupplyError;
use crate::release::parse;
use crate::source::{Packages, WantedCrate};

/// The crate that carries RocksDB.
const CRATE: &str = "librocksdb-sys";

/// RocksDB's releases.
pub(super) const COMPILABLE: Compilable = Compilable {
    engine: "rocksdb",
    releases: &[
        carried("5.18.3", "5.18.3"),
        carried("6.20.3", "6.20.3"),
        carried("6.28.2", "0.6.1+6.28.2"),
        carried("7.4.4", "0.8.3+7.4.4"),
        carried("7.9.2", "0.10.0+7.9.2"),
        carried("8.1.1", "0.11.0+8.1.1"),
        carried("8.10.0", "0.16.0+8.10.0"),
        carried("9.9.3", "0.17.1+9.9.3"),
        carried("10.4.2", "0.17.3+10.4.2"),
        carried("11.8.1", "0.19.0+11.8.1"),
    ],
    recipe,
};

/// Returns a release, with the features that bring the compression libraries.
const fn carried(version: &'static str, crate_version: &'static str) -> Release {
    let features = &["snappy", "lz4", "zstd"];
    Release { version, source: WantedCrate { name: CRATE, version: crate_version, features } }
}

/// What RocksDB's own build finds on Linux.
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

/// The header every file sees first: instructions RocksDB may use, as the user's flags allow them.
///
/// Compilers older than the standard library forgot `<cstdint>` without harm; newer ones do not.
///
/// Source: RocksDB, `build_tools/build_detect_platform` (names); GCC 12 manual, "x86 Options"
/// (macros by which a compiler tells what its flags allow).
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

/// Returns what makes the library, as the crate's own build does on Linux.
fn recipe(release: &Release, packages: &Packages) -> Result<Recipe, SupplyError> {
    let dir = packages.dir(CRATE)?;
    let rocksdb = dir.join("rocksdb");
    let mut recipe =
        Recipe { libraries: &["-pthread", "-ldl", "-lrt", "-lm"], ..Recipe::default() };
    recipe.headers.push((ALLOWED_NAME, ALLOWED.to_owned()));

    let lz4_dir = beside(&dir.join("lz4/lib"), packages, "lz4-sys", "liblz4/lib", &mut recipe)?;
    let zstd_dir = beside(&dir.join("zstd/lib"), packages, "zstd-sys", "zstd/lib", &mut recipe)?;
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
    let first = words(&[standard, "-include", ALLOWED_NAME]);
    let arguments = [first, includes(dirs), words(DEFINES)].concat();
    let listed = sources(&read(&dir.join("rocksdb_lib_sources.txt"))?, std::env::consts::ARCH);
    let own = listed.iter().map(|name| rocksdb.join(name));
    recipe.add(Language::Cxx, &arguments, own.chain([dir.join("build_version.cc")]));
    snappy(&mut recipe, &snappy_dir)?;
    lz4(&mut recipe, &lz4_dir);
    zstd(&mut recipe, &zstd_dir)?;
    Ok(recipe)
}

/// Returns the folder of a library: in RocksDB's crate, or in a crate of its own that is noted.
fn beside(
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

/// Returns the files of a crate's list, for an architecture as Rust names it.
///
/// `build_version.cc` lies outside, made by the crate; the checksum of 64-bit ARM is added by the
/// crate's own build too.
fn sources(list: &str, arch: &str) -> Vec<String> {
    const ARM: &str = "util/crc32c_arm64.cc";
    let mut files: Vec<String> = list
        .split_whitespace()
        .filter(|name| *name != "util/build_version.cc" && *name != ARM)
        .map(str::to_owned)
        .collect();
    if arch == "aarch64" {
        files.push(ARM.to_owned());
    }
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_whether_they_are_one_line_or_many() {
        let expected = ["cache/cache.cc", "db/c.cc"];
        assert_eq!(sources("cache/cache.cc db/c.cc util/build_version.cc\n", "x86_64"), expected);
        assert_eq!(sources("cache/cache.cc\r\ndb/c.cc\n", "x86_64"), expected);
        assert_eq!(sources("db/c.cc\n", "aarch64"), ["db/c.cc", "util/crc32c_arm64.cc"]);
    }

    #[test]
    fn each_release_has_the_standard_of_its_time() {
        let standards: Vec<_> =
            COMPILABLE.releases.iter().map(|release| standard(release.version)).collect();
        assert!(standards.is_sorted());
        assert_eq!(standard("6.28.2"), "-std=c++11");
        assert_eq!(standard("10.4.2"), "-std=c++17");
        assert_eq!(standard("11.8.1"), "-std=c++20");
    }

    #[test]
    fn the_crate_s_version_ends_with_the_release_s() {
        for release in COMPILABLE.releases {
            let tail = release.source.version.rsplit('+').next();
            assert_eq!(tail, Some(release.version));
        }
    }
}
