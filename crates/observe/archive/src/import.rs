//! Brings an experiment from one file into the archive.

use std::fs;
use std::io;
use std::path::Path;

use trust::{Dir, Entries};

use crate::bundle::BundleFacts;
use crate::checksum::{CHECKSUMS, checksum_of, names};
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::results::Results;
use crate::scratch::ScratchDir;
use crate::unpack::unpack;

/// Start of the name of a directory in which an import is prepared; listings leave it out.
const PREPARED: &str = ".import-";

impl Results {
    /// Brings an experiment from one file into the archive, after checking it as a whole.
    ///
    /// A kill or an error leaves no experiment behind, only a hidden directory, which the next
    /// import removes. One that is there already, with the same files, stays as it is.
    ///
    /// # Errors
    /// When the file is damaged, or the experiment is there with other files, or cannot be written.
    pub fn import(&self, file: &Path) -> Result<(ExperimentDir, BundleFacts), ArchiveError> {
        let root = self.root();
        // Before a directory is made.
        fs::metadata(file).map_err(ArchiveError::read(file))?;
        Dir::create(root, Entries::Shared).map_err(ArchiveError::write(root))?;
        let prepared = ScratchDir::make(root, PREPARED).map_err(ArchiveError::write(root))?;
        let facts = unpack(file, prepared.path())?;
        let parent = root.join(&facts.experiment);
        let target = parent.join(&facts.id);
        Dir::create(&parent, Entries::Closed).map_err(ArchiveError::write(&parent))?;
        let place = prepared.path().join(&facts.experiment).join(&facts.id);
        if target.exists() {
            let is_same = is_part_of(&place, &target).map_err(ArchiveError::read(&target))?;
            return match is_same {
                true => Ok((ExperimentDir::open(&target)?, facts)),
                false => Err(ArchiveError::Exists(target)),
            };
        }
        fs::rename(place, &target).map_err(ArchiveError::write(&target))?;
        Ok((ExperimentDir::open(&target)?, facts))
    }
}

/// Returns whether every file of one experiment is in another with the same content.
fn is_part_of(one: &Path, other: &Path) -> io::Result<bool> {
    for name in names(one)?.iter().map(String::as_str).chain([CHECKSUMS]) {
        let there = other.join(name);
        if !there.exists() || checksum_of(&one.join(name))? != checksum_of(&there)? {
            return Ok(false);
        }
    }
    Ok(true)
}
