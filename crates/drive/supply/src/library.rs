//! Hash, architecture, soname and exports of a library, read without loading it.

use std::io::{self, Read};
use std::path::Path;

use dynlib::{open_regular, read_regular};
use object::elf::DT_SONAME;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};
use rustix::fs::StatVfsMountFlags;
use sha2::{Digest, Sha256};

use crate::error::{Result, SupplyError};

/// Returns the SHA-256 of a file in hex, and its size in bytes.
pub(crate) fn digest(path: &Path) -> Result<(String, u64)> {
    let mut file = open_regular(path).map_err(SupplyError::io("read", path))?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    let mut bytes = 0;
    loop {
        let count = file.read(&mut buffer).map_err(SupplyError::io("read", path))?;
        if count == 0 {
            return Ok((hex(&hasher.finalize()), bytes));
        }
        hasher.update(&buffer[..count]);
        bytes += count as u64;
    }
}

/// Returns the SHA-256 of texts, each followed by a zero, in hex.
pub(crate) fn digest_of(texts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> String {
    let mut hasher = Sha256::new();
    for text in texts {
        hasher.update(text);
        hasher.update([0]);
    }
    hex(&hasher.finalize())
}

/// Returns bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks that a file is a shared library for this machine's architecture.
pub(crate) fn check_loadable(path: &Path) -> Result<()> {
    let image = read_regular(path).map_err(SupplyError::io("read", path))?;
    dynlib::check_image(&image, std::env::consts::ARCH)
        .map_err(|reason| unloadable(path, &format!("it {reason}")))
}

/// Returns the error for a file that this machine cannot load as a library.
fn unloadable(path: &Path, reason: &str) -> SupplyError {
    SupplyError::Unavailable(format!(
        "{} cannot be loaded here: {reason}; take a library compiled for this machine",
        path.display()
    ))
}

/// Returns the soname of the library.
///
/// `None` when it has none: the loader then uses its file name.
pub(crate) fn soname(library: &Path) -> Result<Option<String>> {
    let image = read_regular(library).map_err(SupplyError::io("read", library))?;
    let elf = parse(library, &image)?;
    let table = elf.elf_dynamic_table().map_err(wrong(library))?;
    let Some(entry) = table.iter().find(|entry| entry.tag == DT_SONAME) else { return Ok(None) };
    let name = table.string(entry).map_err(wrong(library))?;
    Ok(Some(String::from_utf8_lossy(name).into_owned()))
}

/// Checks that the library exports functions named after the engine.
pub(crate) fn check_exports(library: &Path, engine: &str) -> Result<()> {
    let image = read_regular(library).map_err(SupplyError::io("read", library))?;
    let elf = parse(library, &image)?;
    let prefix = format!("{engine}_");
    let mut exported = elf.dynamic_symbols().filter(|symbol| symbol.is_definition());
    if exported.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with(&prefix))) {
        return Ok(());
    }
    Err(SupplyError::Unavailable(format!(
        "{} is not {engine}: it has no function whose name begins with `{prefix}`",
        library.display()
    )))
}

fn parse<'i>(library: &Path, image: &'i [u8]) -> Result<ElfFile64<'i, Endianness, &'i [u8]>> {
    ElfFile64::parse(image).map_err(wrong(library))
}

fn wrong(library: &Path) -> impl Fn(object::read::Error) -> SupplyError {
    |error| unloadable(library, &error.to_string())
}

/// Checks that programs and libraries in a directory can be executed.
pub(crate) fn check_executable(dir: &Path) -> Result<()> {
    let options = rustix::fs::statvfs(dir).map_or(StatVfsMountFlags::empty(), |it| it.f_flag);
    check_mount(dir, options)
}

fn check_mount(dir: &Path, options: StatVfsMountFlags) -> Result<()> {
    match options.contains(StatVfsMountFlags::NOEXEC) {
        true => Err(SupplyError::cache(dir)(io::Error::other(
            "its file system is mounted noexec, so that no library or program of it is executed",
        ))),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_from_which_nothing_is_executed_is_refused_with_the_cause() {
        let check = |options| check_mount(Path::new("/cache"), options);
        assert!(check(StatVfsMountFlags::NOSUID).is_ok());
        let text = check(StatVfsMountFlags::NOEXEC).unwrap_err().to_string();
        assert!(
            text.contains("cannot use /cache for builds: ") && text.contains("noexec"),
            "{text}"
        );
        assert!(text.ends_with("with --cache-dir"), "{text}");
    }

    #[test]
    fn digest_is_sha256() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("abc");
        std::fs::write(&path, "abc").unwrap();
        let (sha256, bytes) = digest(&path).unwrap();
        // Source: NIST, 2001, SHA-256 examples, one-block message "abc".
        assert_eq!(sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(bytes, 3);
    }
}
