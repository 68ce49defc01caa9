//! LevelDB with snappy, as distributions build it.

use std::path::Path;

use super::compilable::{Compilable, Release};
use super::compression::snappy;
use crate::compile::recipe::{HEADERS_DIR, Recipe, read};
use crate::error::Result;
use crate::source::Packages;

pub(super) const COMPILABLE: Compilable = Compilable {
    engine: "leveldb",
    releases: &[Release::of("1.22", "leveldb-sys", "2.0.9")],
    recipe,
};

/// The configuration header CMake would generate for Linux.
const PORT_CONFIG: &str = "#pragma once
#define HAVE_FDATASYNC 1
#define HAVE_FULLFSYNC 0
#define HAVE_CRC32C 0
#define HAVE_SNAPPY 1
#define LEVELDB_IS_BIG_ENDIAN (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
";

/// Returns the recipe with the files of the release's own build.
fn recipe(release: &Release, packages: &Packages) -> Result<Recipe> {
    let deps = packages.find(release.source.name)?.1.join("deps");
    let dir = deps.join("leveldb-1.22");
    let mut recipe = Recipe { libraries: &["-pthread"], ..Recipe::default() };
    recipe.headers.push(("port/port_config.h", PORT_CONFIG.to_owned()));
    let snappy_dir = deps.join("snappy-1.1.7");
    let dirs: [&Path; 4] = [Path::new(HEADERS_DIR), &dir, &dir.join("include"), &snappy_dir];
    let defines = [
        "-std=c++11",
        "-DNDEBUG",
        "-DLEVELDB_PLATFORM_POSIX=1",
        "-DLEVELDB_SHARED_LIBRARY",
        "-DLEVELDB_COMPILE_LIBRARY",
    ];
    let listed = sources(&read(&dir.join("CMakeLists.txt"))?);
    recipe.add(&dirs, &defines, listed.iter().map(|name| dir.join(name)));
    snappy(&mut recipe, &snappy_dir)?;
    recipe.bundled.push("snappy 1.1.7".to_owned());
    Ok(recipe)
}

/// Parses the library's files from CMake's list, Windows left out.
fn sources(list: &str) -> Vec<String> {
    let Some((_, library)) = list.split_once("target_sources(leveldb") else { return Vec::new() };
    // The lists after the library's own are those of programs.
    let library = library.split_once("target_include_directories").map_or(library, |(own, _)| own);
    library
        .split('"')
        .filter_map(|word| word.strip_prefix("${PROJECT_SOURCE_DIR}/"))
        .filter(|name| name.ends_with(".cc") && !name.contains("windows"))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_and_program_files_are_left_out() {
        let list = r#"
            add_library(leveldb "")
            target_sources(leveldb
              PRIVATE
                "${PROJECT_BINARY_DIR}/port/port_config.h"
                "${PROJECT_SOURCE_DIR}/db/c.cc"
                "${PROJECT_SOURCE_DIR}/db/db_impl.h"
            )
            target_sources(leveldb PRIVATE "${PROJECT_SOURCE_DIR}/util/env_windows.cc")
            target_sources(leveldb PRIVATE "${PROJECT_SOURCE_DIR}/util/env_posix.cc")
            target_include_directories(leveldb PUBLIC include)
            add_executable(leveldbutil "${PROJECT_SOURCE_DIR}/db/leveldbutil.cc")"#;
        assert_eq!(sources(list), ["db/c.cc", "util/env_posix.cc"]);
        assert!(sources("project(other)").is_empty());
    }
}
