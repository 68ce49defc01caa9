//! Engine source code from Rust crates, through cargo.
//!
//! A generated package that depends on the crate is stored in the cache; `cargo metadata` returns
//! the crate's folder and downloads what is missing. No code of the crate is run.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Output;

use child::Role;
use serde::Deserialize;
use trust::{Dir, Entries};

use super::client_failed;
use crate::error::{Result, SupplyError};
use crate::program::{lines, run, text, without_addresses};

/// A crate and its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WantedCrate<'a> {
    pub(crate) name: &'a str,
    pub(crate) version: &'a str,
    /// Features that add further crates with source.
    pub(crate) features: &'a [&'a str],
}

/// The resolved crates, the requested one included: the output of `cargo metadata`.
///
/// Source: The Cargo Book, 2025, `cargo metadata`, "JSON format".
#[derive(Debug, Deserialize)]
pub(crate) struct Packages {
    packages: Vec<Package>,
}

/// A crate on this machine.
#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    manifest_path: PathBuf,
}

impl Packages {
    /// Returns version and folder of the crate of that name.
    pub(crate) fn find(&self, name: &str) -> Result<(&str, &Path)> {
        let found = self.packages.iter().find(|package| package.name == name);
        let Some((package, dir)) = found.and_then(|it| Some((it, it.manifest_path.parent()?)))
        else {
            let summary = "the crate is not among the resolved crates";
            return Err(client_failed(format!("the source {name}"), "cargo", summary));
        };
        Ok((&package.version, dir))
    }
}

/// Returns the folders of a crate and its dependencies, downloading them if needed.
///
/// `cache_dir` is the whole cache; `build` is named in errors.
pub(crate) fn obtain(build: &str, wanted: &WantedCrate<'_>, cache_dir: &Path) -> Result<Packages> {
    let dir = cache_dir.join("sources").join(format!("{}-{}", wanted.name, wanted.version));
    write_package(wanted, &dir)?;
    // With a lock file everything was obtained before: no network is needed.
    let is_locked = dir.join("Cargo.lock").exists();
    let first = metadata(&dir, is_locked)?;
    let output = if first.status.success() {
        first
    } else {
        let second = metadata(&dir, !is_locked)?;
        if !second.status.success() {
            let online = if is_locked { second } else { first };
            let source = format!("the source of {build} ({} {})", wanted.name, wanted.version);
            return Err(client_failed(source, "cargo", &summary(&text(&online.stderr))));
        }
        second
    };
    serde_json::from_slice(&output.stdout).map_err(|error| {
        SupplyError::io("understand cargo's metadata of", &dir)(io::Error::other(error))
    })
}

/// Writes the package that depends on the crate.
fn write_package(wanted: &WantedCrate<'_>, dir: &Path) -> Result<()> {
    let source = dir.join("src");
    Dir::create(&source, Entries::Closed).map_err(SupplyError::cache(&source))?;
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

/// Runs `cargo metadata`; only the crates of this platform are downloaded.
fn metadata(dir: &Path, is_offline: bool) -> Result<Output> {
    let version = cargo(&["-vV"].map(OsStr::new))?;
    let version = text(&version.stdout);
    let host = version.lines().find_map(|line| line.strip_prefix("host: "));
    let mut arguments = vec!["metadata", "--format-version", "1"];
    arguments.extend(host.into_iter().flat_map(|host| ["--filter-platform", host]));
    arguments.extend(is_offline.then_some("--offline"));
    arguments.push("--manifest-path");
    let manifest = dir.join("Cargo.toml");
    let mut arguments: Vec<&OsStr> = arguments.into_iter().map(OsStr::new).collect();
    arguments.push(manifest.as_os_str());
    cargo(&arguments)
}

fn cargo(arguments: &[&OsStr]) -> Result<Output> {
    let mut command = child::command(Role::BuildTool, "cargo");
    // Cargo and rustup obey files in the directories above that in which they run.
    command.args(arguments).current_dir("/").env("CARGO_TERM_COLOR", "never");
    run(&mut command, || {
        "there is no `cargo` on this machine, which obtains the source of \
         engines: install it (Debian: apt install cargo)"
            .to_owned()
    })
}

/// Returns cargo's error and its last cause, without addresses.
fn summary(text: &str) -> String {
    let error = lines(text).find_map(|line| line.strip_prefix("error: ")).unwrap_or("nothing");
    let cause = text.rsplit_once("Caused by:").and_then(|(_, cause)| lines(cause).next());
    without_addresses(&cause.map_or_else(|| error.to_owned(), |cause| format!("{error}: {cause}")))
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

    /// Goal: cargo obeys no file of the directories above the cache, where others may plant some.
    #[test]
    fn cargo_obeys_no_settings_above_the_cache() {
        let above = tempfile::tempdir().unwrap();
        let (settings, dir) = (above.path().join(".cargo"), above.path().join("cache/sources/x"));
        fs::create_dir(&settings).unwrap();
        let program = above.path().join("no-such-program").display().to_string();
        fs::write(settings.join("config.toml"), format!("build.rustc = {program:?}\n")).unwrap();
        fs::create_dir_all(dir.join("src")).unwrap();
        fs::write(dir.join("src/lib.rs"), "").unwrap();
        let manifest = "[package]\nname = \"x\"\nedition = \"2021\"\n[workspace]\n";
        fs::write(dir.join("Cargo.toml"), manifest).unwrap();
        let output = metadata(&dir, true).unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
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
        let packages: Packages = serde_json::from_str(version_output).unwrap();
        assert_eq!(packages.find("a").unwrap(), ("1.0.0", Path::new("/r/a-1.0.0")));
        assert!(packages.find("b").is_err());
    }
}
