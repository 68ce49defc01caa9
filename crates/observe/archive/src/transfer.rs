//! The files of one run as a stream, for an archive on another machine.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use tar::{Archive, Builder, EntryType, Header};

use crate::checksum::names;
use crate::error::ArchiveError;
use crate::layout::{RUN_DIRS, content};
use crate::limits::FILE_BYTES_MAX;
use crate::regular::{self, Names};

/// Largest number of files of a run.
const FILES_MAX: usize = 10_000;

/// Returns whether Assay writes a file of this name for a run.
fn is_file_of_run(name: &str) -> bool {
    content(&format!("{}/run/{name}", RUN_DIRS[0])).is_some()
}

/// Writes the files of a run to a stream, in the format of tar.
///
/// # Errors
/// When a file cannot be read, or the stream cannot be written.
pub fn pack_run(dir: &Path, to: impl Write) -> Result<(), ArchiveError> {
    let mut names = names(dir).map_err(ArchiveError::read(dir))?;
    names.insert(crate::layout::CHECKSUMS.to_owned());
    let mut tar = Builder::new(to);
    for name in names.iter().filter(|name| is_file_of_run(name)) {
        let path = dir.join(name);
        let file = match regular::open_below(dir, &path, Names::Several) {
            // A run that was stopped has no list of checksums.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            opened => opened.map_err(ArchiveError::read(&path))?,
        };
        let bytes = file.metadata().map_err(ArchiveError::read(&path))?.len();
        let mut header = Header::new_gnu();
        header.set_size(bytes);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, file.take(bytes)).map_err(ArchiveError::write(&path))?;
    }
    tar.into_inner().and_then(|mut to| to.flush()).map_err(ArchiveError::write(dir))
}

/// Reads the files of a run from a stream into a new directory, and syncs them.
///
/// # Errors
/// When the stream breaks off or has foreign files, or a file cannot be written.
pub fn unpack_run(from: impl Read, dir: &Path) -> Result<(), ArchiveError> {
    let damaged = |reason: String| ArchiveError::Damaged(dir.to_path_buf(), reason);
    let broken = |error: io::Error| damaged(format!("the files of the run break off: {error}"));
    fs::create_dir(dir).map_err(ArchiveError::write(dir))?;
    let mut tar = Archive::new(from);
    let entries = tar.entries().map_err(broken)?;
    for (number, entry) in entries.enumerate() {
        let mut entry = entry.map_err(broken)?;
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let is_sound = is_file_of_run(&name)
            && entry.header().entry_type() == EntryType::Regular
            && entry.size() <= FILE_BYTES_MAX
            && number < FILES_MAX;
        if !is_sound {
            return Err(damaged(format!("the stream has {name:?}, which is not a file of a run")));
        }
        let path = dir.join(&name);
        let parent = path.parent().unwrap_or(dir);
        // Only the last directory: `dir` may have been renamed, and would be made again.
        match fs::create_dir(parent) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made.map_err(ArchiveError::write(parent))?,
        }
        let mut file = File::create_new(&path).map_err(ArchiveError::write(&path))?;
        let copied = io::copy(&mut entry, &mut file).map_err(broken)?;
        if copied != entry.size() {
            return Err(damaged(format!("{name} breaks off")));
        }
        file.sync_all().map_err(ArchiveError::write(&path))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_arrives_with_its_files_alone() {
        let root = tempfile::tempdir().unwrap();
        let from = root.path().join("from");
        fs::create_dir_all(from.join("engine")).unwrap();
        for name in ["record.json", "intervals.jsonl", "engine/LOG", "stray", "record.json.new"] {
            fs::write(from.join(name), name).unwrap();
        }
        let mut stream = Vec::new();
        pack_run(&from, &mut stream).unwrap();
        let to = root.path().join("to");
        unpack_run(&stream[..], &to).unwrap();
        assert_eq!(fs::read(to.join("engine/LOG")).unwrap(), b"engine/LOG");
        assert!(to.join("record.json").exists() && to.join("intervals.jsonl").exists());
        assert!(!to.join("stray").exists() && !to.join("record.json.new").exists());
        for length in [0, 100, 600] {
            let broken = unpack_run(&stream[..length], &root.path().join(length.to_string()));
            assert_eq!(broken.is_ok(), length == 0, "an empty stream has no files");
        }
    }

    #[test]
    fn files_that_lead_elsewhere_are_refused() {
        let root = tempfile::tempdir().unwrap();
        for (number, name) in ["../x", "/tmp/x", "engine/../../x", "lock"].iter().enumerate() {
            let mut header = Header::new_gnu();
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_size(1);
            header.set_cksum();
            let mut tar = Builder::new(Vec::new());
            tar.append(&header, &b"x"[..]).unwrap();
            let stream = tar.into_inner().unwrap();
            let refused = unpack_run(&stream[..], &root.path().join(number.to_string()));
            assert!(refused.unwrap_err().to_string().contains("not a file of a run"), "{name}");
        }
    }
}
