//! The format of an experiment in one file: an index, then the files it lists.
//!
//! A gzip-compressed tar archive: `tar tzf x.assay` lists it. It may come from a stranger, so every
//! name, kind and size is checked before a byte is written, and the order is fixed.

use std::collections::BTreeSet;

use model::limits::{NAME_BYTES_MAX, check_name};
use serde::{Deserialize, Serialize};

use crate::layout::{Content, content};
use crate::limits::{
    CHECKSUMS_BYTES_MAX, ContentLimits, FILE_BYTES_MAX, FILES_MAX, JSON_BYTES_MAX,
    PROFILE_BYTES_MAX, RUNS_MAX,
};

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

    /// Checks everything that is read of it, for a file of that size.
    ///
    /// The error completes a sentence about the file.
    pub(crate) fn check(&self, file_bytes: u64) -> Result<(), String> {
        if self.format != FORMAT {
            let format = self.format;
            return Err(format!("the file has format {format}; this Assay reads {FORMAT}"));
        }
        check_name("its experiment", &self.experiment, NAME_BYTES_MAX)?;
        check_name("its id", &self.id, NAME_BYTES_MAX)?;
        if self.files.len() > FILES_MAX {
            return Err(format!("it lists more than {FILES_MAX} files"));
        }
        if !self.files.is_sorted_by(|one, next| one.name < next.name) {
            return Err("its index lists a file twice, or is not sorted by name".to_owned());
        }
        self.check_files(&ContentLimits::of(file_bytes))
    }

    /// Checks the names and sizes of the files.
    fn check_files(&self, limits: &ContentLimits) -> Result<(), String> {
        let (mut all, mut parsed, mut logs) = (0_u64, 0_u64, 0_u64);
        let mut runs = BTreeSet::new();
        for Member { name, bytes, .. } in &self.files {
            let Some(content) = content(name) else {
                let name: String = name.escape_default().take(NAME_BYTES_MAX).collect();
                return Err(format!("it lists \"{name}\", which is not a file of an experiment"));
            };
            let most = bytes_max(content);
            if *bytes > most {
                return Err(format!("its index lists {name} with more than {} MiB", most >> 20));
            }
            all = all.saturating_add(*bytes);
            match content {
                Content::Json | Content::Lines => parsed += bytes,
                Content::Log => logs += bytes,
                Content::Checksums | Content::Profile | Content::EngineText => {}
            }
            runs.extend(name.rsplit_once('/').map(|(dir, _)| dir.trim_end_matches("/engine")));
        }
        let sums = [
            ("files", all, limits.bytes),
            ("records and intervals", parsed, limits.parsed_bytes),
            ("histogram logs", logs, limits.log_bytes),
        ];
        for (what, bytes, most) in sums {
            if bytes > most {
                let mib = most >> 20;
                return Err(format!("its {what} have more than {mib} MiB, too much for this file"));
            }
        }
        match runs.len() <= RUNS_MAX {
            true => Ok(()),
            false => Err(format!("it has more than {RUNS_MAX} runs")),
        }
    }
}

/// Returns the most bytes of a file.
pub(crate) const fn bytes_max(content: Content) -> u64 {
    match content {
        Content::Json => JSON_BYTES_MAX,
        Content::Checksums => CHECKSUMS_BYTES_MAX,
        Content::Profile => PROFILE_BYTES_MAX,
        Content::Lines | Content::Log | Content::EngineText => FILE_BYTES_MAX,
    }
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
        let sound = index(&["checksums", "manifest.json", "runs/a/engine/0.txt"]);
        assert_eq!(sound.check(1), Ok(()));
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
            "runs/a/engine/x.so",
            "runs/a/\u{202e}/record.json",
            "attempts/-a/record.json",
        ] {
            let reason = index(&[name]).check(1).unwrap_err();
            assert!(reason.contains("it lists") && reason.is_ascii(), "{name}: {reason}");
        }
    }

    #[test]
    fn more_than_any_experiment_has_is_refused() {
        let refused = |name: &str, bytes: u64, file_bytes: u64| {
            let mut huge = index(&[name]);
            huge.files[0].bytes = bytes;
            huge.check(file_bytes).unwrap_err()
        };
        assert!(refused("manifest.json", JSON_BYTES_MAX + 1, 1).contains("more than 8 MiB"));
        assert!(refused("checksums", CHECKSUMS_BYTES_MAX + 1, 1).contains("more than 4 MiB"));
        let log = "runs/a/engine/LOG";
        assert!(refused(log, (128 << 20) + 1, 10 << 20).contains("its files have more"));
        assert!(refused(log, FILE_BYTES_MAX + 1, 1 << 40).contains("more than 1024 MiB"));
        let intervals = "runs/a/intervals.jsonl";
        assert!(refused(intervals, (32 << 20) + 1, 1).contains("its records and intervals have"));
        let times = "runs/a/service.hlog";
        assert!(refused(times, (16 << 20) + 1, 1).contains("its histogram logs have"));
        let mut allowed = index(&[intervals]);
        allowed.files[0].bytes = 100 << 20;
        assert_eq!(allowed.check(20 << 20), Ok(()), "a large file may have more");
        let twice = index(&["manifest.json", "manifest.json"]);
        assert!(twice.check(1).unwrap_err().contains("twice"));
        let newer = Index { format: FORMAT + 1, ..index(&[]) };
        assert!(newer.check(1).unwrap_err().contains("format"));
        let many: Vec<String> =
            (0..=FILES_MAX).map(|n| format!("runs/{n:06}/record.json")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(index(&many).check(1).unwrap_err().contains("more than 50000 files"));
        assert!(index(&many[..=RUNS_MAX]).check(1).unwrap_err().contains("more than 20000 runs"));
    }
}
