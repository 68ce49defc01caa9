//! Writes an experiment to one file.

use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::Path;

use flate2::{Compression, GzBuilder};
use sha2::{Digest as _, Sha256};
use tar::{Builder, Header};

use crate::bundle::{BundleFacts, FORMAT, INDEX, Index, Member};
use crate::checksum::{checksum_within_limit, hex, names};
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::{CHECKSUMS, content};
use crate::output::write_with;
use crate::regular::{self, Names};
use crate::replace::json;

impl ExperimentDir {
    /// Writes the experiment to one compressed file; the same experiment gives the same bytes.
    ///
    /// A kill or an error leaves no file of that name, or the one that was there.
    ///
    /// # Errors
    /// When a file of the experiment is not what was written, or changes meanwhile, or the file
    /// cannot be written.
    pub fn pack(&self, to: &Path) -> Result<BundleFacts, ArchiveError> {
        if let Some(found) = self.verify()?.mismatches.into_iter().next() {
            return Err(ArchiveError::Damaged(found.path, found.what));
        }
        let manifest = self.manifest()?;
        let mut files = names(self.path()).map_err(ArchiveError::read(self.path()))?;
        // Caches, the page, the lock, and what a kill left or another program wrote stay here.
        files.retain(|name| content(name).is_some());
        files.insert(CHECKSUMS.to_owned());
        let member = |name: String| {
            let path = self.path().join(&name);
            let opened = regular::open_below(self.path(), &path, Names::Several);
            let sum = opened.and_then(|file| {
                let bytes = file.metadata()?.len();
                Ok(Member { name, bytes, sha256: checksum_within_limit(file)? })
            });
            sum.map_err(ArchiveError::read(&path))
        };
        let index = Index {
            format: FORMAT,
            experiment: manifest.plan.experiment.name,
            id: manifest.id,
            assay_version: manifest.assay_version,
            files: files.into_iter().map(member).collect::<Result<_, ArchiveError>>()?,
        };
        write_with(to, |file| {
            write(self.path(), &index, file)?;
            // What no reader would take is not written.
            index.check(file.metadata()?.len()).map_err(io::Error::other)
        })?;
        Ok(index.facts())
    }
}

/// Writes the members and their index to a file.
fn write(dir: &Path, index: &Index, file: &mut File) -> io::Result<()> {
    let mut tar = Builder::new(GzBuilder::new().write(file, Compression::best()));
    let mut append = |name: &str, bytes: u64, content: &mut dyn Read| {
        let mut header = Header::new_gnu();
        header.set_size(bytes);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, content)
    };
    let text = json(index);
    append(INDEX, text.len() as u64, &mut text.as_slice())?;
    for member in &index.files {
        // By no link that another account, whose archive it may be, puts on the way meanwhile.
        let file = regular::open_below(dir, &dir.join(&member.name), Names::Several)?;
        let mut content = Hashed { source: file.take(member.bytes), hasher: Sha256::new() };
        append(&member.name, member.bytes, &mut content)?;
        if hex(&content.hasher.finalize()) != member.sha256 {
            let name = &member.name;
            return Err(io::Error::other(format!("{name} was changed while it was read")));
        }
    }
    tar.into_inner()?.finish()?.flush()
}

/// A source whose bytes are hashed as they are read.
pub(crate) struct Hashed<R> {
    pub(crate) source: R,
    pub(crate) hasher: Sha256,
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.source.read(buffer)?;
        self.hasher.update(&buffer[..bytes]);
        Ok(bytes)
    }
}
