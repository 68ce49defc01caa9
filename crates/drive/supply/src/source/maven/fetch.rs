//! Runs the Maven client and takes the library out of what it copied.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use model::BuildRef;

use super::jar::{Extracted, MEMBER_PREFIX, extract};
use super::output::refusal;
use crate::error::SupplyError;
use crate::release::{check_age, nearest_release, parse};
use crate::source::{Fetched, Progress, Source};

/// The goal that copies one artifact; its version is pinned, the default one is of 2013.
const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// The artifact, without its version.
const COORDINATES: &str = "org.rocksdb:rocksdbjni";

/// Maven waits this long for a connection, ms: a wrong proxy is told within half a minute.
const CONNECT_TIMEOUT_MS: u32 = 20_000;

/// Maven waits this long for the next bytes, ms: its own default is half an hour.
const READ_TIMEOUT_MS: u32 = 120_000;

/// RocksDB's official Java artifact, through an installed Maven client.
#[derive(Debug, Clone)]
pub struct Maven {
    command: Vec<String>,
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
        Self { command }
    }

    /// Has Maven copy an artifact into `dir` and returns the jar it put there.
    fn copy_artifact(&self, request: &Request<'_>, dir: &Path) -> Result<PathBuf, SupplyError> {
        std::fs::create_dir_all(dir).map_err(SupplyError::io("create", dir))?;
        match self.run_copy(request, dir, "--update-snapshots") {
            // Maven asks for an artifact's description even when it has the artifact itself.
            Err(unreachable @ SupplyError::Unreachable { .. }) => {
                self.run_copy(request, dir, "--offline").map_err(|_not_had| unreachable)?;
            }
            other => other?,
        }
        only_jar(dir)?.ok_or_else(|| request.failed("it ended well but copied no jar".to_owned()))
    }

    /// Runs Maven's copy goal.
    ///
    /// `mode` is `--offline`, or `--update-snapshots`: ask again for what was missing before.
    fn run_copy(&self, request: &Request<'_>, dir: &Path, mode: &str) -> Result<(), SupplyError> {
        let (program, arguments) =
            self.command.split_first().map_or(("mvn", &[][..]), |(first, rest)| (first, rest));
        // Maven obeys a pom.xml in its working directory: it runs where there is none.
        let output = Command::new(program)
            .args(arguments)
            .args(["-q", "-B", "--strict-checksums", mode])
            .arg(format!("-Daether.connector.connectTimeout={CONNECT_TIMEOUT_MS}"))
            .arg(format!("-Daether.connector.requestTimeout={READ_TIMEOUT_MS}"))
            .arg(GOAL)
            .arg(format!("-Dartifact={}", request.artifact))
            .arg(format!("-DoutputDirectory={}", dir.display()))
            .arg("-Dmdep.useBaseVersion=true")
            .current_dir(dir)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| {
                if error.kind() == io::ErrorKind::NotFound {
                    return SupplyError::NoMaven { command: program.to_owned() };
                }
                SupplyError::io("run", Path::new(program))(error)
            })?;
        if !output.status.success() {
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            return Err(refusal(request, &text));
        }
        Ok(())
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
        progress(&format!("asking Maven for {main} (12 to 92 MB unless Maven has it)"));
        let request = Request { build: &name, version, artifact: &main };
        let jar = self.copy_artifact(&request, &work.join("main"))?;
        let found = match extract(&jar, &wanted, library)? {
            Extracted::Done => {
                progress(&format!("unpacked {wanted}"));
                return Ok(Fetched::of(format!("Maven artifact {main}")));
            }
            Extracted::Absent(found) => found,
        };

        let classified = format!("{COORDINATES}:{version}:jar:{native}");
        progress(&format!("no {wanted} in it, asking Maven for {classified}"));
        let no_library = |found: Vec<String>| SupplyError::NoNativeLibrary {
            build: name.clone(),
            wanted: wanted.clone(),
            found: if found.is_empty() { "none".to_owned() } else { found.join(", ") },
        };
        let request = Request { build: &name, version, artifact: &classified };
        let jar = match self.copy_artifact(&request, &work.join("classified")) {
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

/// What is asked of Maven in one call.
pub(super) struct Request<'a> {
    /// The build the user asked for.
    pub(super) build: &'a str,
    /// Its version.
    pub(super) version: &'a str,
    /// The artifact asked of Maven.
    pub(super) artifact: &'a str,
}

impl Request<'_> {
    /// Returns the error for a failure of Maven's own.
    pub(super) fn failed(&self, summary: String) -> SupplyError {
        SupplyError::MavenFailed {
            build: self.build.to_owned(),
            summary,
            goal: GOAL,
            artifact: self.artifact.to_owned(),
        }
    }
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

/// Returns the jar in `dir`, which Maven was told to fill with one.
fn only_jar(dir: &Path) -> Result<Option<PathBuf>, SupplyError> {
    let entries = std::fs::read_dir(dir).map_err(SupplyError::io("list", dir))?;
    let jar = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "jar"));
    Ok(jar)
}
