//! Engine source code from Rust crates, through cargo.
//!
//! A generated package that depends on the crate is stored in the cache; `cargo metadata` returns
//! the crate's folder and downloads what is missing. No code of the crate is run.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde::Deserialize;

use super::maven::without_addresses;
use crate::error::SupplyError;

/// A crate and its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WantedCrate<'a> {
    /// Its name.
    pub(crate) name: &'a str,
    /// Its exact version.
    pub(crate) version: &'a str,
    /// Features that add further crates with source.
    pub(crate) features: &'a [&'a str],
}

/// A crate on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Package {
    /// Its name.
    pub(crate) name: String,
    /// Its version.
    pub(crate) version: String,
    /// Its folder.
    pub(crate) dir: PathBuf,
}

/// The resolved crates, the requested one included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Packages(pub(crate) Vec<Package>);

impl Packages {
    /// Returns the crate of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&Package> {
        self.0.iter().find(|package| package.name == name)
    }

    /// Returns the folder of the crate of that name.
    ///
    /// # Errors
    /// When it was not resolved.
    pub(crate) fn dir(&self, name: &str) -> Result<&Path, SupplyError> {
        let found = self.find(name).ok_or_else(|| SupplyError::NoCrate {
            build: "this release".to_owned(),
            package: name.to_owned(),
            summary: "it is not among the resolved crates".to_owned(),
        })?;
        Ok(&found.dir)
    }
}

/// Returns the folders of a crate and its dependencies, downloading them if needed.
///
/// `cache_dir` is the whole cache; `build` is named in errors.
///
/// # Errors
/// When there is no cargo, or it cannot obtain the crate.
pub(crate) fn obtain(
    build: &str,
    wanted: &WantedCrate<'_>,
    cache_dir: &Path,
) -> Result<Packages, SupplyError> {
    let dir = cache_dir.join("sources").join(format!("{}-{}", wanted.name, wanted.version));
    write_package(wanted, &dir)?;
    let host = host(&dir)?;
    let cargo_error = |output: &Output| SupplyError::NoCrate {
        build: build.to_owned(),
        package: format!("{} {}", wanted.name, wanted.version),
        summary: summary(&String::from_utf8_lossy(&output.stderr)),
    };
    // With a lock file everything was obtained before: no network is needed.
    let is_locked = dir.join("Cargo.lock").exists();
    let (first, second) = if is_locked { (true, false) } else { (false, true) };
    let mut output = metadata(&dir, &host, first)?;
    if !output.status.success() {
        let again = metadata(&dir, &host, second)?;
        if !again.status.success() {
            return Err(cargo_error(if second { &output } else { &again }));
        }
        output = again;
    }
    let version_output: Metadata = serde_json::from_slice(&output.stdout).map_err(|error| {
        SupplyError::io("understand cargo's metadata of", &dir)(io::Error::other(error))
    })?;
    Ok(Packages(version_output.packages.into_iter().map(Package::from).collect()))
}

/// Writes the package that depends on the crate.
fn write_package(wanted: &WantedCrate<'_>, dir: &Path) -> Result<(), SupplyError> {
    let source = dir.join("src");
    fs::create_dir_all(&source).map_err(SupplyError::io("create", &source))?;
    for (path, text) in
        [(source.join("lib.rs"), String::new()), (dir.join("Cargo.toml"), manifest(wanted))]
    {
        fs::write(&path, text).map_err(SupplyError::io("write", &path))?;
    }
    Ok(())
}

/// Returns the manifest of a package that depends on the crate and nothing else.
fn manifest(wanted: &WantedCrate<'_>) -> String {
    let WantedCrate { name, version, features } = wanted;
    format!(
        "[package]\nname = \"sources\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\n\
         [dependencies]\n{name} = {{ version = \"={version}\", default-features = false, \
         features = {features:?} }}\n\n[workspace]\n"
    )
}

/// Runs `cargo metadata`.
fn metadata(dir: &Path, host: &str, is_offline: bool) -> Result<Output, SupplyError> {
    let mut command = cargo(dir);
    command.args(["metadata", "--format-version", "1", "--filter-platform", host]);
    if is_offline {
        command.arg("--offline");
    }
    output(&mut command)
}

/// Returns the host triple, so that only its crates are downloaded.
fn host(dir: &Path) -> Result<String, SupplyError> {
    let version_output = output(cargo(dir).arg("-vV"))?;
    let text = String::from_utf8_lossy(&version_output.stdout).into_owned();
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    host.map(str::to_owned).ok_or(SupplyError::NoCargo)
}

/// Returns cargo, started in `dir`.
fn cargo(dir: &Path) -> Command {
    let mut command = Command::new("cargo");
    command.current_dir(dir).stdin(Stdio::null()).env("CARGO_TERM_COLOR", "never");
    command
}

/// Runs cargo to completion.
fn output(command: &mut Command) -> Result<Output, SupplyError> {
    command.output().map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return SupplyError::NoCargo;
        }
        SupplyError::io("run", Path::new("cargo"))(error)
    })
}

/// Returns cargo's error and its last cause, without addresses.
fn summary(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let error = lines().find_map(|line| line.strip_prefix("error: ")).unwrap_or("nothing");
    let cause = text.rsplit_once("Caused by:").map(|(_, cause)| cause);
    let cause = cause.and_then(|cause| cause.lines().map(str::trim).find(|line| !line.is_empty()));
    without_addresses(&match cause {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_owned(),
    })
}

/// The output of `cargo metadata`.
///
/// Source: The Cargo Book, 2025, `cargo metadata`, "JSON format".
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<MetadataPackage>,
}

/// One package of the output.
#[derive(Debug, Deserialize)]
struct MetadataPackage {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

impl From<MetadataPackage> for Package {
    fn from(version_output: MetadataPackage) -> Self {
        let dir = version_output.manifest_path.parent().unwrap_or(Path::new("/")).to_owned();
        Self { name: version_output.name, version: version_output.version, dir }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn manifest_pins_the_version_without_default_features() {
        let features = &["lz4", "zstd"];
        let wanted = WantedCrate { name: "librocksdb-sys", version: "0.17.3+10.4.2", features };
        insta::assert_snapshot!(manifest(&wanted), @r#"
        [package]
        name = "sources"
        version = "0.0.0"
        edition = "2021"

        [dependencies]
        librocksdb-sys = { version = "=0.17.3+10.4.2", default-features = false, features = ["lz4", "zstd"] }

        [workspace]
        "#);
    }

    #[test]
    fn cargo_summary_has_the_last_cause_and_no_address() {
        let text = "    Updating index\nerror: failed to get `x` as a dependency\n\nCaused by:\n  \
                    failed to query\n\nCaused by:\n  download of https://index.example/x failed\n";
        assert_eq!(
            summary(text),
            "failed to get `x` as a dependency: download of (address) failed"
        );
        assert_eq!(summary("error: version 6.28.2 is yanked\n"), "version 6.28.2 is yanked");
    }

    #[test]
    fn crate_directory_is_that_of_its_manifest() {
        let version_output = r#"{"packages": [{"name": "a", "version": "1.0.0", "id": "x",
            "manifest_path": "/r/a-1.0.0/Cargo.toml"}], "version": 1}"#;
        let version_output: Metadata = serde_json::from_str(version_output).unwrap();
        let packages = Packages(version_output.packages.into_iter().map(Package::from).collect());
        assert_eq!(packages.find("a").unwrap().dir, Path::new("/r/a-1.0.0"));
        assert_eq!(packages.find("b"), None);
    }
}
