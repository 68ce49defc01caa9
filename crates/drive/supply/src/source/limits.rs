//! Limits of packages, checked before memory and disk are spent on what exceeds them.
//!
//! The publisher of a package under a known name decides what is in it. Each limit is far above the
//! packages of every known release.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use tar::{Header, PaxExtensions};

/// Most bytes that a package unpacks to. The largest known one has 250 MB.
const BYTES_MAX: u64 = 4 << 30;
/// Most members of a package. The largest known one has 1,100.
const MEMBERS_MAX: u64 = 50_000;
/// Largest header with a long name, or with several fields, in bytes: four paths.
///
/// Source: Linux, limits.h, `PATH_MAX`, 4096.
const LONG_HEADER_BYTES_MAX: u64 = 4 * 4096;
/// Largest jar, in bytes. The largest known one has 92 MB.
const JAR_BYTES_MAX: u64 = 512 << 20;
/// Largest directory of a jar, in bytes, which is held in memory. The largest known one has 30 KB.
const DIRECTORY_BYTES_MAX: u64 = 8 << 20;
/// Largest list of links of a package, in bytes, which is held in memory. The largest known one has
/// 2 KB.
pub(super) const LINKS_BYTES_MAX: u64 = 64 << 10;
/// Most memory to decompress xz, in KiB. Source: xz(1): its highest level takes 65 MiB.
pub(super) const XZ_MEMORY_KIB: u32 = 256 << 10;
/// Bytes of a header of tar. Source: POSIX.1-2017, pax, "ustar Interchange Format".
const BLOCK_BYTES: u64 = 512;

/// What a package may still unpack.
pub(crate) struct Allowance {
    members: u64,
    bytes: u64,
}

impl Default for Allowance {
    fn default() -> Self {
        Self { members: MEMBERS_MAX, bytes: BYTES_MAX }
    }
}

impl Allowance {
    /// Counts a member of so many bytes.
    fn count(&mut self, bytes: u64) -> io::Result<()> {
        let left = self.members.checked_sub(1);
        self.members = left.ok_or_else(|| beyond(&format!("more than {MEMBERS_MAX} members")))?;
        let left = self.bytes.checked_sub(bytes);
        self.bytes =
            left.ok_or_else(|| beyond(&format!("more than {} GiB unpacked", BYTES_MAX >> 30)))?;
        Ok(())
    }

    /// Copies a member that has so many bytes by the directory of its package.
    pub(crate) fn copy(
        &mut self,
        member: impl Read,
        bytes: u64,
        into: &mut impl Write,
    ) -> io::Result<()> {
        self.count(bytes)?;
        // One more than stated is enough to find a longer one.
        let copied = io::copy(&mut member.take(bytes.saturating_add(1)), into)?;
        match copied == bytes {
            true => Ok(()),
            false => Err(io::Error::other("a file has another size than the package states")),
        }
    }
}

/// Returns the error of a package that has `what`.
fn beyond(what: &str) -> io::Error {
    io::Error::other(format!(
        "a package with {what} is refused: choose another release, or add your build with \
         `assay engine add`"
    ))
}

/// Checks the size of a jar and of its directory, each entry of which takes memory.
pub(crate) fn check_jar(jar: &File) -> io::Result<()> {
    if jar.metadata()?.len() > JAR_BYTES_MAX {
        return Err(beyond(&format!("more than {} MiB", JAR_BYTES_MAX >> 20)));
    }
    check_directory(jar, DIRECTORY_BYTES_MAX)
}

/// Opens a jar and reads so many bytes at most, wherever its directory may be.
fn check_directory(jar: &File, bytes_max: u64) -> io::Result<()> {
    let mut left = bytes_max;
    let opened = zip::ZipArchive::new(Metered { file: jar, left: &mut left }).map(drop);
    match left {
        0 => Err(beyond(&format!("a directory of more than {bytes_max} bytes"))),
        _ => opened.map_err(io::Error::other),
    }
}

/// A file of which so many bytes are read, and then none.
struct Metered<'a> {
    file: &'a File,
    left: &'a mut u64,
}

impl Read for Metered<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.file.take(*self.left).read(buffer)?;
        *self.left -= bytes as u64;
        Ok(bytes)
    }
}

impl Seek for Metered<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

/// A tar archive whose headers are checked before its reader gets them.
///
/// The reader takes long names and extended headers into memory, whatever their size.
pub(super) struct CheckedTar<R> {
    inner: R,
    allowance: Allowance,
    /// A checked header, with the name or the fields that follow it.
    header: io::Cursor<Vec<u8>>,
    /// Bytes of content before the next header.
    content: u64,
}

impl<R: Read> CheckedTar<R> {
    pub(super) fn new(inner: R, allowance: Allowance) -> Self {
        Self { inner, allowance, header: io::Cursor::default(), content: 0 }
    }

    /// Reads the next header; none at the end, where the reader finds it.
    fn read_header(&mut self) -> io::Result<()> {
        let mut block = Vec::new();
        self.inner.by_ref().take(BLOCK_BYTES).read_to_end(&mut block)?;
        if block.len() as u64 == BLOCK_BYTES && block.iter().any(|byte| *byte != 0) {
            self.check(&mut block)?;
        }
        self.header = io::Cursor::new(block);
        Ok(())
    }

    /// Checks a header, and adds the name or the fields that follow it.
    fn check(&mut self, block: &mut Vec<u8>) -> io::Result<()> {
        let header = Header::from_byte_slice(block);
        let (kind, bytes) = (header.entry_type(), header.entry_size()?);
        self.allowance.count(bytes)?;
        let padded = bytes.next_multiple_of(BLOCK_BYTES);
        let is_pax = kind.is_pax_local_extensions() || kind.is_pax_global_extensions();
        if kind.is_gnu_sparse() {
            return Err(beyond("a file with holes"));
        }
        if !(is_pax || kind.is_gnu_longname() || kind.is_gnu_longlink()) {
            self.content = padded;
            return Ok(());
        }
        if bytes > LONG_HEADER_BYTES_MAX {
            return Err(beyond(&format!("a name of more than {LONG_HEADER_BYTES_MAX} bytes")));
        }
        self.inner.by_ref().take(padded).read_to_end(block)?;
        let fields = block.get(512..).unwrap_or_default();
        // Its reader would find the next header elsewhere.
        let has_size = |fields: &[u8]| {
            PaxExtensions::new(fields).flatten().any(|field| field.key_bytes() == b"size")
        };
        match is_pax && has_size(fields) {
            true => Err(beyond("a member with two sizes")),
            false => Ok(()),
        }
    }
}

impl<R: Read> Read for CheckedTar<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut bytes = self.header.read(buffer)?;
        if bytes == 0 && self.content == 0 {
            self.read_header()?;
            bytes = self.header.read(buffer)?;
        } else if bytes == 0 {
            bytes = self.inner.by_ref().take(self.content).read(buffer)?;
            self.content -= bytes as u64;
        }
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use tar::{Archive, Builder, EntryType};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    /// Returns what a member of that kind and content, which states a size, leads to.
    fn read(kind: EntryType, content: &[u8], stated: u64) -> Result<Vec<String>, String> {
        let mut builder = Builder::new(Vec::new());
        for (name, kind, content, stated) in [
            ("first", EntryType::Regular, &b"text"[..], 4),
            ("second", kind, content, stated),
            ("third", EntryType::Regular, b"text", 4),
        ] {
            let mut header = Header::new_gnu();
            header.set_path(name).unwrap();
            header.set_entry_type(kind);
            header.set_size(stated);
            header.set_cksum();
            builder.append(&header, content).unwrap();
        }
        let archive = builder.into_inner().unwrap();
        let allowance = Allowance { members: 5, bytes: 100_000 };
        let mut archive = Archive::new(CheckedTar::new(archive.as_slice(), allowance));
        let entries = archive.entries().unwrap();
        let names = entries.map(|entry| Ok(entry?.path()?.display().to_string()));
        names.collect::<io::Result<_>>().map_err(|error| error.to_string())
    }

    #[test]
    fn members_beyond_the_limits_are_refused_before_they_are_read() {
        let plain = read(EntryType::Regular, &[b'x'; 5_000], 5_000).unwrap();
        assert_eq!(plain, ["first", "second", "third"]);
        let long = "x/".repeat(200);
        let named = read(EntryType::GNULongName, long.as_bytes(), 400).unwrap();
        assert_eq!(named, ["first", &long]);
        let fields = format!("410 path={long}\n");
        let length = fields.len() as u64;
        assert_eq!(length, 410);
        assert_eq!(read(EntryType::XHeader, fields.as_bytes(), length).unwrap(), ["first", &long]);
        let huge = vec![b'x'; 20_000];
        for kind in [
            EntryType::GNULongName,
            EntryType::GNULongLink,
            EntryType::XHeader,
            EntryType::XGlobalHeader,
        ] {
            let error = read(kind, &huge, 20_000).unwrap_err();
            assert!(error.contains("a name of more than 16384 bytes"), "{error}");
            let error = read(kind, b"", 1 << 40).unwrap_err();
            assert!(error.contains("more than 4 GiB"), "{error}");
        }
        let error = read(EntryType::Regular, b"", 100_000).unwrap_err();
        assert!(error.contains("4 GiB") && error.contains("choose another release"), "{error}");
        let error = read(EntryType::GNUSparse, b"", 0).unwrap_err();
        assert!(error.contains("a file with holes"), "{error}");
        let error = read(EntryType::XHeader, b"12 size=512\n", 12).unwrap_err();
        assert!(error.contains("two sizes"), "{error}");
    }

    #[test]
    fn more_members_than_any_release_has_are_refused() {
        let mut builder = Builder::new(Vec::new());
        for number in 0..6 {
            let mut header = Header::new_gnu();
            header.set_size(0);
            builder.append_data(&mut header, number.to_string(), &b""[..]).unwrap();
        }
        let archive = builder.into_inner().unwrap();
        let allowance = Allowance { members: 5, bytes: 0 };
        let mut archive = Archive::new(CheckedTar::new(archive.as_slice(), allowance));
        let last = archive.entries().unwrap().last().unwrap();
        let error = last.err().expect("the sixth is refused").to_string();
        assert!(error.contains("more than 50000 members"), "{error}");
    }

    /// Goal: the directory of a jar is bounded, and a member has the size that it states.
    #[test]
    fn a_jar_with_a_large_directory_or_a_false_size_is_refused() {
        let mut zip = ZipWriter::new(tempfile::tempfile().unwrap());
        for number in 0..100 {
            zip.start_file(number.to_string(), SimpleFileOptions::default()).unwrap();
        }
        let jar = zip.finish().unwrap();
        check_jar(&jar).unwrap();
        let error = check_directory(&jar, 2_000).unwrap_err().to_string();
        assert!(error.contains("a directory of more than 2000 bytes"), "{error}");
        jar.set_len(JAR_BYTES_MAX + 1).unwrap();
        let error = check_jar(&jar).unwrap_err().to_string();
        assert!(error.contains("more than 512 MiB"), "{error}");
        let mut allowance = Allowance { members: 5, bytes: 10 };
        let mut copied = Vec::new();
        allowance.copy(&b"text"[..], 4, &mut copied).unwrap();
        assert_eq!(copied, b"text");
        for (text, stated, reason) in [
            (&b"text"[..], 2, "another size"),
            (b"", 1, "another size"),
            (b"text", 4, "more than 4 GiB"),
        ] {
            let error = allowance.copy(text, stated, &mut io::sink()).unwrap_err().to_string();
            assert!(error.contains(reason), "{error}");
        }
    }
}
