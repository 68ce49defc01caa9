//! Hash, architecture, soname and exports of a library, read without loading it.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use object::elf::DT_SONAME;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};
use sha2::{Digest, Sha256};

use crate::error::SupplyError;

/// Bytes read of an ELF header.
const HEADER_BYTES: usize = 20;

/// Returns the SHA-256 of a file in hex, and its size in bytes.
pub(crate) fn digest(path: &Path) -> Result<(String, u64), SupplyError> {
    let mut file = File::open(path).map_err(SupplyError::io("read", path))?;
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

/// Returns bytes as lower-case hex digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks that a file is a shared library for this machine's architecture.
pub(crate) fn check_loadable(path: &Path) -> Result<(), SupplyError> {
    let mut file = File::open(path).map_err(SupplyError::io("read", path))?;
    let mut header = [0; HEADER_BYTES];
    let wrong = |reason: String| unloadable(path, &reason);
    match file.read_exact(&mut header) {
        Ok(()) => check_header(&header, std::env::consts::ARCH).map_err(wrong),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Err(wrong("it is not an ELF shared library".to_owned()))
        }
        Err(error) => Err(SupplyError::io("read", path)(error)),
    }
}

/// Returns the error for a file that this machine cannot load as a library.
fn unloadable(path: &Path, reason: &str) -> SupplyError {
    SupplyError::NotWorking(format!("{} cannot be loaded here: {reason}", path.display()))
}

/// Checks the first bytes of an ELF file against an architecture as Rust names it.
///
/// Source: Tool Interface Standard, 1995, Executable and Linking Format 1.2, "ELF Header"; machine
/// numbers from the ELF gABI registry.
fn check_header(header: &[u8; HEADER_BYTES], arch: &str) -> Result<(), String> {
    if !header.starts_with(b"\x7fELF") {
        return Err("it is not an ELF shared library".to_owned());
    }
    let pair = |at: usize| match header[5] {
        2 => u16::from_be_bytes([header[at], header[at + 1]]),
        _ => u16::from_le_bytes([header[at], header[at + 1]]),
    };
    if pair(16) != 3 {
        return Err("it is an ELF file, but not a shared library".to_owned());
    }
    let machine = match (pair(18), header[4]) {
        (3, _) => "x86",
        (21, _) => "powerpc64",
        (22, _) => "s390x",
        (40, _) => "arm",
        (62, 2) => "x86_64",
        (183, _) => "aarch64",
        (243, 2) => "riscv64",
        _ => "another architecture",
    };
    if machine == arch {
        return Ok(());
    }
    Err(format!("it was built for {machine}, this program for {arch}"))
}

/// Returns the soname of the library.
///
/// `None` when it has none: the loader then uses its file name.
pub(crate) fn soname(library: &Path) -> Result<Option<String>, SupplyError> {
    let image = std::fs::read(library).map_err(SupplyError::io("read", library))?;
    let elf = parse(library, &image)?;
    let table = elf.elf_dynamic_table().map_err(wrong(library))?;
    let Some(entry) = table.iter().find(|entry| entry.tag == DT_SONAME) else { return Ok(None) };
    let name = table.string(entry).map_err(wrong(library))?;
    Ok(Some(String::from_utf8_lossy(name).into_owned()))
}

/// Checks that the library exports functions named after the engine.
pub(crate) fn check_exports(library: &Path, engine: &str) -> Result<(), SupplyError> {
    let image = std::fs::read(library).map_err(SupplyError::io("read", library))?;
    let elf = parse(library, &image)?;
    let prefix = format!("{engine}_");
    let mut exported = elf.dynamic_symbols().filter(|symbol| symbol.is_definition());
    if exported.any(|symbol| symbol.name().is_ok_and(|name| name.starts_with(&prefix))) {
        return Ok(());
    }
    Err(SupplyError::NotWorking(format!(
        "{} is not {engine}: it has no function whose name begins with `{prefix}`",
        library.display()
    )))
}

fn parse<'i>(
    library: &Path,
    image: &'i [u8],
) -> Result<ElfFile64<'i, Endianness, &'i [u8]>, SupplyError> {
    ElfFile64::parse(image).map_err(wrong(library))
}

fn wrong(library: &Path) -> impl Fn(object::read::Error) -> SupplyError {
    |error| unloadable(library, &error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a little-endian header of 64 bits.
    fn header(kind: u8, machine: u8) -> [u8; HEADER_BYTES] {
        let mut header = [0; HEADER_BYTES];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        header[16] = kind;
        header[18] = machine;
        header
    }

    #[test]
    fn library_of_another_architecture_is_rejected_by_name() {
        assert_eq!(check_header(&header(3, 62), "x86_64"), Ok(()));
        let refusal = check_header(&header(3, 183), "x86_64").unwrap_err();
        assert_eq!(refusal, "it was built for aarch64, this program for x86_64");
    }

    #[test]
    fn programs_and_texts_are_rejected_as_libraries() {
        assert!(check_header(&header(2, 62), "x86_64").unwrap_err().contains("not a shared"));
        assert!(check_header(b"#!/bin/sh\necho hello", "x86_64").unwrap_err().contains("ELF"));
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
