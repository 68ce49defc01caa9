//! The format of an experiment in one file: an index, then the files it lists.
//!
//! A gzip-compressed tar archive: `tar tzf x.assay` lists it. It may come from a stranger, so every
//! name, kind and size is checked before a byte is written, and the order is fixed.

use serde::{Deserialize, Serialize};

use crate::checksum::CHECKSUMS;
use crate::experiment::MANIFEST;
use crate::name::check_name;

/// Extension of the file.
pub const BUNDLE: &str = "assay";
/// Version of the format.
pub(crate) const FORMAT: u32 = 1;
/// The first member: the [`Index`].
pub(crate) const INDEX: &str = "assay.json";
/// The header of the compressed stream, as RFC 1952 has it: no name, no time, best compression.
///
/// Written and compared as a whole: no checksum is over it.
pub(crate) const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 255];

/// Largest index, in bytes. Our choice, as the limits below: far beyond any experiment.
pub(crate) const INDEX_BYTES_MAX: u64 = 64 << 20;
/// Most files.
const FILES_MAX: usize = 200_000;
/// Largest file, in bytes: none is read that is larger.
const FILE_BYTES_MAX: u64 = 1 << 30;
/// Largest sum of all files, in bytes.
const BYTES_MAX: u64 = 16 << 30;
/// Most parts of a name.
const PARTS_MAX: usize = 8;

/// What a file holds.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Index {
    pub(crate) format: u32,
    /// Name of the experiment.
    pub(crate) experiment: String,
    /// Identifier of the experiment.
    pub(crate) id: String,
    /// Version of Assay that wrote it.
    pub(crate) assay_version: String,
    /// The files that follow, in this order.
    pub(crate) files: Vec<Member>,
}

/// A file of the experiment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Member {
    /// Name relative to the experiment's directory.
    pub(crate) name: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: String,
}

/// A written or read file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFacts {
    /// Name of the experiment.
    pub experiment: String,
    /// Identifier of the experiment.
    pub id: String,
    /// Files in it.
    pub files: usize,
    /// Their bytes, uncompressed.
    pub content_bytes: u64,
}

impl Index {
    /// Returns the facts of the file.
    pub(crate) fn facts(&self) -> BundleFacts {
        BundleFacts {
            experiment: self.experiment.clone(),
            id: self.id.clone(),
            files: self.files.len(),
            content_bytes: self.bytes(),
        }
    }

    /// Returns the bytes of all files.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).fold(0, u64::saturating_add)
    }

    /// Checks everything that is read of it; the error completes a sentence about the file.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.format != FORMAT {
            let format = self.format;
            return Err(format!("it has format {format}; this Assay reads {FORMAT}"));
        }
        check_name("experiment", &self.experiment)?;
        check_name("identifier", &self.id)?;
        if self.files.len() > FILES_MAX || self.bytes() > BYTES_MAX {
            let gib = BYTES_MAX >> 30;
            return Err(format!("it lists more than {FILES_MAX} files or {gib} GiB"));
        }
        if !self.files.is_sorted_by(|one, next| one.name < next.name) {
            return Err("its index lists a file twice, or in another order".to_owned());
        }
        self.files.iter().try_for_each(|file| {
            if file.bytes > FILE_BYTES_MAX {
                return Err(format!("it lists {:?} with more than 1 GiB", file.name));
            }
            check_member(&file.name)
        })
    }
}

/// Checks that a name is that of a file which an experiment has.
fn check_member(name: &str) -> Result<(), String> {
    let parts: Vec<&str> = name.split('/').collect();
    let is_known = match parts[..] {
        [MANIFEST | CHECKSUMS] => true,
        ["runs" | "attempts", _, _, ..] => parts.len() <= PARTS_MAX,
        _ => false,
    };
    if !is_known {
        return Err(format!("it lists {name:?}, which is no file of an experiment"));
    }
    parts.iter().try_for_each(|part| check_name("file", part))
}

/// Returns whether a file of an experiment's directory belongs into the bundle.
///
/// Caches, the page and the lock do not, and neither does what a kill left.
pub(crate) fn is_member(name: &str) -> bool {
    check_member(name).is_ok() && !crate::replace::is_replacement(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(names: &[&str]) -> Index {
        let member =
            |name: &&str| Member { name: (*name).to_owned(), bytes: 1, sha256: String::new() };
        Index {
            format: FORMAT,
            experiment: "e".to_owned(),
            id: "1".to_owned(),
            assay_version: String::new(),
            files: names.iter().map(member).collect(),
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        assert_eq!(index(&["checksums", "manifest.json", "runs/a/engine/0.txt"]).check(), Ok(()));
        for name in [
            "../x",
            "/etc/passwd",
            "runs/../x",
            "runs/a/../../../x",
            "runs/a",
            "runs//a",
            "lock",
            "runs/a/.",
            "runs/a/b\\c",
            "derived/x.json",
            "",
            "runs/a/b/c/d/e/f/g/h",
            "runs/a/\u{1b}",
        ] {
            let reason = index(&[name]).check().unwrap_err();
            assert!(reason.contains("it lists") || reason.contains("its file"), "{name}: {reason}");
        }
    }

    #[test]
    fn more_than_any_experiment_has_is_refused() {
        let mut huge = index(&["manifest.json"]);
        huge.files[0].bytes = FILE_BYTES_MAX + 1;
        assert!(huge.check().unwrap_err().contains("more than 1 GiB"));
        let twice = index(&["manifest.json", "manifest.json"]);
        assert!(twice.check().unwrap_err().contains("twice"));
        let newer = Index { format: FORMAT + 1, ..index(&[]) };
        assert!(newer.check().unwrap_err().contains("format"));
    }
}
