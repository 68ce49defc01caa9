//! Reads an experiment from one file, which may come from a stranger.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read, Seek as _};
use std::path::Path;

use flate2::bufread::GzDecoder;
use sha2::{Digest as _, Sha256};
use tar::{Archive, Entry, EntryType};

use crate::bundle::{BundleFacts, HEADER, INDEX, Index, Member};
use crate::checksum::hex;
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::{Content, content};
use crate::limits::{ContentLimits, INDEX_BYTES_MAX, MAP_VALUES};
use crate::pack::Hashed;
use crate::regular;
use crate::scratch::{ScratchDir, live};

/// Zeros at the end of a tar archive: two blocks.
///
/// Source: POSIX.1-2017, pax, "ustar Interchange Format".
const END_BYTES: u64 = 1024;
/// Longest name before its header: a run's directory, and a file in it.
const LONG_NAME_BYTES_MAX: u64 = 512;
/// First bytes of a library or program. Source: System V ABI, "ELF Header".
const LIBRARY: &[u8] = b"\x7fELF";
/// Disk space that must stay free, in bytes. Our choice.
const FREE_BYTES: u64 = 1 << 30;

/// Opens an experiment in one file, unpacked into a directory that lasts as long as the result.
pub(crate) fn open(file: &Path) -> Result<ExperimentDir, ArchiveError> {
    let place = ScratchDir::new()?;
    let facts = match unpack(file, place.path()) {
        // The remedy of the archive does not help here.
        Err(ArchiveError::Write(path, error)) => return Err(ArchiveError::Scratch(path, error)),
        unpacked => unpacked?,
    };
    ExperimentDir::unpacked(&place.path().join(facts.experiment).join(facts.id), place)
}

/// Unpacks a file into `place`, below the names of the experiment.
pub(crate) fn unpack(path: &Path, place: &Path) -> Result<BundleFacts, ArchiveError> {
    let damaged = |reason: String| ArchiveError::Damaged(path.to_path_buf(), reason);
    let unreadable = |error: io::Error| damaged(format!("it is not a result in one file: {error}"));
    let mut file = regular::open(path).map_err(ArchiveError::read(path))?;
    let file_bytes = file.metadata().map_err(ArchiveError::read(path))?.len();
    let mut header = HEADER.map(|_| 0);
    file.read_exact(&mut header).map_err(unreadable)?;
    if header != HEADER {
        return Err(unreadable(io::Error::other("its header is not the header of a result")));
    }
    file.rewind().map_err(ArchiveError::read(path))?;
    let mut tar = Archive::new(GzDecoder::new(BufReader::new(file)));
    // Raw: the library reads long names of any length into memory, and obeys other headers.
    let mut entries = tar.entries().map_err(unreadable)?.raw(true);
    let mut next = || entries.next().transpose().map_err(unreadable);
    let index = match next()? {
        Some(entry) => read_index(entry).map_err(damaged)?,
        None => return Err(damaged("it is empty".to_owned())),
    };
    index.check(file_bytes).map_err(damaged)?;
    check_room(place, index.bytes())?;
    let dir = place.join(&index.experiment).join(&index.id);
    let mut totals = Totals { limits: ContentLimits::of(file_bytes), values: 0, log_lines: 0 };
    for member in &index.files {
        let Some(mut entry) = next()? else {
            return Err(damaged(format!("{} is missing", member.name)));
        };
        // A name that its header does not hold comes before it.
        let mut name = None;
        if entry.header().entry_type() == EntryType::GNULongName {
            let mut long =
                read_whole(entry, "a name in it", LONG_NAME_BYTES_MAX).map_err(damaged)?;
            // GNU tar ends it with a zero.
            long.pop_if(|last| *last == 0);
            name = Some(long);
            entry = next()?.ok_or_else(|| damaged(format!("{} is missing", member.name)))?;
        }
        check_entry(&entry, &member.name, name.as_deref()).map_err(damaged)?;
        unpack_file(entry, member, &mut totals, &dir)?.map_err(damaged)?;
    }
    if next()?.is_some() {
        return Err(damaged("it contains files that its index does not list".to_owned()));
    }
    // Read to the end: the checksum of the compressed stream is there.
    let mut stream = tar.into_inner();
    let mut rest = Vec::new();
    stream.by_ref().take(END_BYTES + 1).read_to_end(&mut rest).map_err(unreadable)?;
    let is_end = rest.len() as u64 <= END_BYTES && rest.iter().all(|byte| *byte == 0);
    if !is_end || !stream.get_mut().fill_buf().map_err(unreadable)?.is_empty() {
        return Err(damaged("more bytes follow after its end".to_owned()));
    }
    let manifest = ExperimentDir::open(&dir)?.manifest()?;
    if (&manifest.plan.experiment.name, &manifest.id) != (&index.experiment, &index.id) {
        return Err(damaged("its index and its manifest name different experiments".to_owned()));
    }
    Ok(index.facts())
}

/// Reads the index, which is the first member.
fn read_index(entry: Entry<'_, impl Read>) -> Result<Index, String> {
    check_entry(&entry, INDEX, None)?;
    let text = read_whole(entry, INDEX, INDEX_BYTES_MAX)?;
    serde_json::from_slice(&text).map_err(|error| format!("{INDEX} cannot be parsed: {error}"))
}

/// Reads an entry of at most so many bytes into memory.
fn read_whole(entry: Entry<'_, impl Read>, what: &str, most: u64) -> Result<Vec<u8>, String> {
    if entry.size() > most {
        return Err(format!("{what} has more than {most} bytes"));
    }
    let mut bytes = Vec::new();
    let read = entry.take(most).read_to_end(&mut bytes);
    read.map_err(|error| format!("{what} cannot be read: {error}"))?;
    Ok(bytes)
}

/// Checks that an entry is the regular file of that name, which may stand before it.
fn check_entry(
    entry: &Entry<'_, impl Read>,
    name: &str,
    long_name: Option<&[u8]>,
) -> Result<(), String> {
    let own = entry.path_bytes();
    let found = long_name.unwrap_or(&own);
    if *found != *name.as_bytes() {
        return Err(format!("{:?} stands where {name} is due", String::from_utf8_lossy(found)));
    }
    let kind = entry.header().entry_type();
    if kind != EntryType::Regular {
        return Err(format!("{name} is not a regular file, but {kind:?}"));
    }
    Ok(())
}

/// What the files so far hold, of what they may.
struct Totals {
    limits: ContentLimits,
    values: u64,
    log_lines: u64,
}

impl Totals {
    /// Counts a part of a file; `is_first` when it is the first.
    fn add(&mut self, content: Content, part: &[u8], is_first: bool) -> Result<(), String> {
        let count = |bytes: &[u8]| part.iter().filter(|byte| bytes.contains(byte)).count() as u64;
        match content {
            // Each value but the first of a list follows a comma, and each list begins.
            Content::Json | Content::Lines => {
                self.values += count(b",[{") + MAP_VALUES * count(b"{");
            }
            Content::Log => self.log_lines += count(b"\n"),
            Content::Checksums | Content::Profile | Content::EngineText => {}
        }
        if self.values > self.limits.values || self.log_lines > self.limits.log_lines {
            let (values, lines) = (self.limits.values, self.limits.log_lines);
            return Err(format!(
                "its records have more than {values} values, or its histogram logs have more than \
                 {lines} lines: too many for a result file of this size"
            ));
        }
        match is_first && part.starts_with(LIBRARY) {
            true => Err("it contains a library in place of a text file".to_owned()),
            false => Ok(()),
        }
    }
}

/// Writes one file, whose size and checksum must be those of the index.
fn unpack_file(
    mut entry: Entry<'_, impl Read>,
    member: &Member,
    totals: &mut Totals,
    dir: &Path,
) -> Result<Result<(), String>, ArchiveError> {
    let name = &member.name;
    let Some(content) = content(name) else {
        return Ok(Err(format!("{name} is not a file of an experiment")));
    };
    if entry.size() != member.bytes {
        return Ok(Err(format!("{name} has {} bytes, not {}", entry.size(), member.bytes)));
    }
    let path = dir.join(name);
    let parent = path.parent().unwrap_or(dir);
    // A request to stop may have removed the directory, and would not do so again.
    let live = live();
    fs::create_dir_all(parent).map_err(ArchiveError::write(parent))?;
    let mut file = File::create_new(&path).map_err(ArchiveError::write(&path))?;
    drop(live);
    let mut source = Hashed { source: &mut entry, hasher: Sha256::new() };
    let mut part = vec![0; 1 << 16];
    let mut is_first = true;
    loop {
        let bytes = match source.read(&mut part) {
            Ok(0) => break,
            Ok(bytes) => bytes,
            Err(error) => return Ok(Err(format!("{name} cannot be read: {error}"))),
        };
        if let Err(reason) = totals.add(content, &part[..bytes], is_first) {
            return Ok(Err(format!("{reason} ({name})")));
        }
        is_first = false;
        io::Write::write_all(&mut file, &part[..bytes]).map_err(ArchiveError::write(&path))?;
    }
    if hex(&source.hasher.finalize()) != member.sha256 {
        return Ok(Err(format!("the checksum of {name} differs from the recorded checksum")));
    }
    Ok(Ok(()))
}

/// Refuses what would leave less than a GiB of disk space.
pub(crate) fn check_room(place: &Path, bytes: u64) -> Result<(), ArchiveError> {
    let disk =
        rustix::fs::statvfs(place).map_err(|errno| ArchiveError::write(place)(errno.into()))?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < bytes.saturating_add(FREE_BYTES) {
        let text = format!("the files need {} MiB, and 1 GiB must stay free", bytes >> 20);
        return Err(ArchiveError::write(place)(io::Error::other(text)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, GzBuilder};
    use tar::{Builder, Header};

    use super::*;
    use crate::bundle::FORMAT;

    /// An experiment's files: a manifest that is none, and a record.
    fn members() -> Vec<(Member, Vec<u8>)> {
        let member = |name: &str, text: &str| {
            let sha256 = crate::checksum::checksum(text.as_bytes());
            let bytes = text.len() as u64;
            (Member { name: name.to_owned(), bytes, sha256 }, text.as_bytes().to_vec())
        };
        vec![member("manifest.json", "{}"), member("runs/a/record.json", "abc")]
    }

    fn bundle(path: &Path, members: &[(Member, Vec<u8>)], kind: EntryType, extra: &[u8]) {
        let index = Index {
            format: FORMAT,
            experiment: "e".to_owned(),
            id: "1".to_owned(),
            assay_version: String::new(),
            files: members.iter().map(|(member, _)| member.clone()).collect(),
        };
        let file = File::create(path).unwrap();
        let mut tar = Builder::new(GzBuilder::new().write(file, Compression::best()));
        let mut append = |name: &str, content: &[u8], kind: EntryType| {
            let mut header = Header::new_gnu();
            header.set_entry_type(kind);
            header.set_size(content.len() as u64);
            // Set as a hostile program would: `append_data` refuses such names.
            header.as_gnu_mut().unwrap().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            tar.append(&header, content).unwrap();
        };
        append(INDEX, &serde_json::to_vec(&index).unwrap(), EntryType::Regular);
        members.iter().for_each(|(member, content)| append(&member.name, content, kind));
        let mut file = tar.into_inner().unwrap().finish().unwrap();
        io::Write::write_all(&mut file, extra).unwrap();
    }

    /// Returns why a bundle is refused; nothing is outside of its place.
    fn refusal(change: impl FnOnce(&mut Vec<(Member, Vec<u8>)>), kind: EntryType) -> String {
        let dir = tempfile::tempdir().unwrap();
        let (path, place) = (dir.path().join("x.assay"), dir.path().join("place"));
        fs::create_dir(&place).unwrap();
        let mut all = members();
        change(&mut all);
        all.sort();
        bundle(&path, &all, kind, b"");
        let refused = unpack(&path, &place).unwrap_err().to_string();
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "{refused}");
        refused
    }

    #[test]
    fn hostile_members_are_refused() {
        let named = |name: &'static str| {
            refusal(move |all| all[1].0.name = name.to_owned(), EntryType::Regular)
        };
        assert!(named("runs/../../x").contains("not a file of an experiment"));
        assert!(named("/etc/x").contains("not a file of an experiment"));
        for kind in [EntryType::Symlink, EntryType::Link, EntryType::Fifo, EntryType::Directory] {
            assert!(refusal(|_| (), kind).contains("not a regular file"), "{kind:?}");
        }
        let grown = refusal(|all| all[1].0.bytes = 1 << 20, EntryType::Regular);
        assert!(grown.contains("3 bytes, not 1048576"), "{grown}");
        let huge = refusal(|all| all[1].0.bytes = 2 << 30, EntryType::Regular);
        assert!(huge.contains("more than 8 MiB"), "{huge}");
        let other = refusal(|all| all[1].1[0] = b'x', EntryType::Regular);
        assert!(other.contains("the checksum of runs/a/record.json differs"), "{other}");
    }

    #[test]
    fn files_that_are_no_bundle_and_bytes_behind_one_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x.assay");
        for text in [&b""[..], b"no", b"\x1f\x8b\x08 and no more of it", &HEADER] {
            fs::write(&path, text).unwrap();
            let refused = unpack(&path, dir.path()).unwrap_err().to_string();
            assert!(refused.contains("not a result in one file"), "{refused}");
        }
        let place = dir.path().join("place");
        fs::create_dir(&place).unwrap();
        bundle(&path, &members(), EntryType::Regular, b"more");
        let refused = unpack(&path, &place).unwrap_err().to_string();
        assert!(refused.contains("more bytes follow after its end"), "{refused}");
    }
}
