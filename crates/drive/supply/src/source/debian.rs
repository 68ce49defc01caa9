//! MariaDB with MyRocks from Debian's packages: `mariadb@10.11`.

use std::path::Path;

use model::BuildRef;

use super::apt::{Apt, install_missing_libraries};
use super::{Client, Fetched, Offer, Progress, Source};
use crate::error::{Result, SupplyError, add_own};
use crate::release::parse;

const ENGINE: &str = "mariadb";

/// Versions known to work.
const KNOWN: &[&str] = &["10.11"];

/// The package of the server's program, whose version is the build's.
const MAIN: &str = "mariadb-server-core";

/// All unpacked packages: the server, MyRocks, and a library that few machines have.
const PACKAGES: [&str; 3] = [MAIN, "mariadb-plugin-rocksdb", "liburing2"];

/// Files whose libraries must be found, from the tree's root; the program is the first.
const CHECKED: [&str; 2] = ["usr/sbin/mariadbd", "usr/lib/mysql/plugin/ha_rocksdb.so"];

/// Debian's packages of a server, through apt.
#[derive(Debug, Clone, Copy)]
pub struct Debian;

impl Source for Debian {
    fn offers(&self, build: &BuildRef) -> bool {
        build.engine == ENGINE && build.version.as_deref().and_then(parse).is_some()
    }

    fn offer(&self, engine: &str, arch: &str) -> Option<Offer> {
        let known = |_: &str| if engine == ENGINE { KNOWN } else { &[] };
        let offer = Offer::published(self.client()?, known, engine, arch)?;
        Some(offer.and("of Debian 12; elsewhere the distribution's own release"))
    }

    fn client(&self) -> Option<Client> {
        Some(Client::new("apt-get", "apt-get", "apt"))
    }

    fn fetch(&self, build: &BuildRef, place: &Path, progress: Progress<'_>) -> Result<Fetched> {
        let mut apt = Apt::new(build, place.with_extension("debian"))?;
        progress(&format!("requesting {} from apt (11 MB)", PACKAGES.join(", ")));
        let version = apt.with_lists(progress, |apt| obtain(apt, build))?;
        progress(&format!("unpacking {MAIN} {version}"));
        apt.unpack(place)?;
        let libraries = install_missing_libraries(&mut apt, place, &CHECKED, progress)?;
        let packages = [PACKAGES.map(str::to_owned).to_vec(), libraries].concat();
        let mut fetched = Fetched::of(format!("Debian package {MAIN} {version}"));
        fetched.facts.insert("packages".to_owned(), packages.join(" "));
        fetched.facts.insert("package_version".to_owned(), version);
        Ok(fetched)
    }
}

/// Downloads the packages if they have the requested version; returns it.
fn obtain(apt: &Apt<'_>, build: &BuildRef) -> Result<String> {
    let version = candidate(apt, build)?;
    let requested = build.version.as_deref().unwrap_or_default();
    let has = upstream(&version);
    if !is_in_series(has, requested) {
        let series: Vec<_> = has.split('.').take(2).collect();
        return Err(SupplyError::Unavailable(format!(
            "this distribution does not have {build}: it has {has}, which `assay engine get \
             {ENGINE}@{}` obtains; or {}",
            series.join("."),
            add_own(ENGINE)
        )));
    }
    apt.download(&PACKAGES.map(str::to_owned))?;
    Ok(version)
}

/// Returns the candidate version of the main package.
fn candidate(apt: &Apt<'_>, build: &BuildRef) -> Result<String> {
    let output = apt.run("apt-cache", &["policy", MAIN])?;
    let text = String::from_utf8_lossy(&output.stdout);
    let found = text.lines().find_map(|line| line.trim().strip_prefix("Candidate:"));
    match found.map(str::trim) {
        Some(version) if version != "(none)" => Ok(version.to_owned()),
        _ => Err(SupplyError::Unpublished(format!(
            "this distribution has no package {MAIN} for {build}: {}",
            add_own(ENGINE)
        ))),
    }
}

/// Returns the upstream version: `10.11.19` of `1:10.11.19-0+deb12u1`.
///
/// Source: Debian Policy 4.6, section 5.6.12, "Version".
fn upstream(version: &str) -> &str {
    let without_epoch = version.split_once(':').map_or(version, |(_, rest)| rest);
    without_epoch.rsplit_once('-').map_or(without_epoch, |(version, _)| version)
}

/// Returns whether a version is the requested one, or of the requested series.
fn is_in_series(version: &str, requested: &str) -> bool {
    version.strip_prefix(requested).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_matches_itself_and_its_series() {
        assert_eq!(upstream("1:10.11.19-0+deb12u1"), "10.11.19");
        assert_eq!(upstream("2.3"), "2.3");
        assert!(is_in_series("10.11.19", "10.11") && is_in_series("10.11.19", "10.11.19"));
        assert!(!is_in_series("10.11.19", "10.1") && !is_in_series("11.8.2", "10.11"));
    }
}
