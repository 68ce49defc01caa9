//! RocksDB's library from its Java artifact.

use std::path::Path;

use model::BuildRef;

use super::client::Client;
use super::jar::{Extracted, MEMBER_PREFIX, extract};
use super::request::Request;
use crate::error::SupplyError;
use crate::release::{KNOWN_ROCKSDB, check_age, nearest_release, parse};
use crate::source::{Fetched, Progress, Source};

/// The artifact, without its version.
const COORDINATES: &str = "org.rocksdb:rocksdbjni";

/// RocksDB's official Java artifact, through an installed Maven client.
#[derive(Debug, Clone)]
pub struct Maven {
    client: Client,
}

impl Default for Maven {
    /// Runs `mvn`.
    fn default() -> Self {
        Self::new(vec!["mvn".to_owned()])
    }
}

impl Maven {
    /// Returns the source that runs `command`, a program and its first arguments.
    #[must_use]
    pub fn new(command: Vec<String>) -> Self {
        Self { client: Client { command } }
    }
}

impl Source for Maven {
    fn offers(&self, build: &BuildRef) -> bool {
        build.engine == "rocksdb" && build.version.as_deref().and_then(parse).is_some()
    }

    fn example(&self, build: &BuildRef) -> Option<&'static str> {
        let is_ours = build.engine == "rocksdb";
        is_ours.then(|| nearest_release(build.version.as_deref().unwrap_or_default()))
    }

    fn fetch(
        &self,
        build: &BuildRef,
        library: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError> {
        let version = build.version.as_deref().unwrap_or_default();
        let name = build.to_string();
        check_age(&name, parse(version).unwrap_or_default())?;
        let work = library.with_extension("maven");
        let native = native_name(std::env::consts::ARCH);
        let wanted = format!("{MEMBER_PREFIX}{native}.so");

        let main = format!("{COORDINATES}:{version}");
        progress(&format!("requesting {main} from Maven (12 to 92 MB unless cached)"));
        let request = request_for(build, &main);
        let jar = self.client.copy_artifact(&request, &work.join("main"))?;
        let found = match extract(&jar, &wanted, library)? {
            Extracted::Done => {
                progress(&format!("unpacked {wanted}"));
                return Ok(Fetched::of(format!("Maven artifact {main}")));
            }
            Extracted::Absent(found) => found,
        };

        let classified = format!("{COORDINATES}:{version}:jar:{native}");
        progress(&format!("no {wanted} in it, requesting {classified} from Maven"));
        let no_library = |found: Vec<String>| SupplyError::NoNativeLibrary {
            build: name.clone(),
            wanted: wanted.clone(),
            found: if found.is_empty() { "none".to_owned() } else { found.join(", ") },
        };
        let request = request_for(build, &classified);
        let jar = match self.client.copy_artifact(&request, &work.join("classified")) {
            Err(SupplyError::NoSuchVersion { .. }) => return Err(no_library(found)),
            other => other?,
        };
        match extract(&jar, &wanted, library)? {
            Extracted::Done => {
                progress(&format!("unpacked {wanted}"));
                Ok(Fetched::of(format!("Maven artifact {classified}")))
            }
            Extracted::Absent(more) => Err(no_library([found, more].concat())),
        }
    }
}

/// Returns the Maven request for an artifact of RocksDB.
fn request_for<'a>(build: &'a BuildRef, artifact: &'a str) -> Request<'a> {
    let own = "library with `assay engine add rocksdb PATH`".to_owned();
    Request { build, artifact, known: KNOWN_ROCKSDB, own }
}

/// Returns the artifact's name for an architecture as Rust names it: `linux64`.
///
/// Source: RocksDB, Makefile, targets `rocksdbjavastatic*` (names of the native libraries).
fn native_name(arch: &str) -> String {
    let machine = match arch {
        "x86_64" => "linux64",
        "x86" => "linux32",
        "powerpc64" => "linux-ppc64le",
        other => return format!("linux-{other}{LIBC}"),
    };
    format!("{machine}{LIBC}")
}

/// End of the name when this program, and so the library it loads, uses musl.
const LIBC: &str = if cfg!(target_env = "musl") { "-musl" } else { "" };
