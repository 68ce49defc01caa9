//! CPU profiles of a run: folded stacks, compressed, one file for each profiled step.

use std::io::{Read as _, Write as _};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use model::Profile;

use crate::checksum::check_read;
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::PROFILE;
use crate::limits::{PROFILE_BYTES_MAX, PROFILE_TEXT_BYTES_MAX};
use crate::regular::{self, check_run_dir};
use crate::replace::replace;
use crate::run::{RunWriter, step_tag};

impl RunWriter {
    /// Stores the profile of a step as `STEP-INDEX.STEP.profile.folded.gz`.
    ///
    /// # Errors
    /// When the file cannot be written, or the profile is larger than any that is read.
    ///
    /// # Panics
    /// Never: memory takes every text.
    pub fn write_profile(
        &self,
        index: u32,
        step: &str,
        profile: &Profile,
    ) -> Result<(), ArchiveError> {
        let path = self.dir().join(step_tag(index, step, None) + PROFILE);
        let text = profile.to_folded();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        let written = encoder.write_all(text.as_bytes()).and_then(|()| encoder.finish());
        let packed = written.expect("memory takes every text");
        if packed.len() as u64 > PROFILE_BYTES_MAX || text.len() as u64 > PROFILE_TEXT_BYTES_MAX {
            let reason = format!("the profile has {} bytes of text", text.len());
            return Err(ArchiveError::Unreadable(path, reason));
        }
        replace(&path, &packed)
    }
}

impl ExperimentDir {
    /// Reads the profile of a step; `None` when the step has none.
    ///
    /// # Errors
    /// When the file cannot be read, is damaged or unpacks to more than a profile has.
    pub fn profile(
        &self,
        cell_id: &str,
        index: u32,
        step: &str,
    ) -> Result<Option<Profile>, ArchiveError> {
        let dir = self.run_dir(cell_id);
        let path = dir.join(step_tag(index, step, None) + PROFILE);
        let read = check_run_dir(&dir).and_then(|()| regular::read(&path, PROFILE_BYTES_MAX));
        let packed = match read.map_err(ArchiveError::read(&path)) {
            Err(error) if error.is_absence() => return Ok(None),
            read => read?,
        };
        check_read(&path, &packed);
        let damaged = |reason: String| ArchiveError::Damaged(path.clone(), reason);
        let mut text = String::new();
        let mut decoder = GzDecoder::new(&packed[..]).take(PROFILE_TEXT_BYTES_MAX + 1);
        decoder.read_to_string(&mut text).map_err(|error| damaged(error.to_string()))?;
        if text.len() as u64 > PROFILE_TEXT_BYTES_MAX {
            return Err(damaged(format!("it has more than {PROFILE_TEXT_BYTES_MAX} bytes")));
        }
        Profile::parse(&text).map(Some).map_err(damaged)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_profile_is_read_as_it_was_written() {
        let root = tempfile::tempdir().expect("a scratch directory");
        fs::write(root.path().join("manifest.json"), "{}").expect("it is writable");
        let dir = ExperimentDir::open(root.path()).expect("it has a manifest");
        let writer = RunWriter::create(dir.run_dir("a.c1.r1")).expect("it is writable");
        let profile = Profile::parse("worker;client;assay`load::client;a.so`get 12\n").unwrap();
        assert!(matches!(dir.profile("a.c1.r1", 2, "get"), Ok(None)));
        writer.write_profile(2, "get", &profile).unwrap();
        assert_eq!(dir.profile("a.c1.r1", 2, "get").unwrap(), Some(profile));
        let path = dir.run_dir("a.c1.r1").join("2.get.profile.folded.gz");
        let packed = fs::read(&path).unwrap();
        for damage in [&b"worker 1\n"[..], &packed[..packed.len() / 2]] {
            fs::write(&path, damage).unwrap();
            let error = dir.profile("a.c1.r1", 2, "get").unwrap_err().to_string();
            assert!(error.contains(" is damaged: "), "{error}");
        }
    }

    #[test]
    fn a_file_that_unpacks_to_more_than_a_profile_is_refused() {
        let root = tempfile::tempdir().expect("a scratch directory");
        fs::write(root.path().join("manifest.json"), "{}").expect("it is writable");
        let dir = ExperimentDir::open(root.path()).expect("it has a manifest");
        let run = dir.run_dir("a.c1.r1");
        fs::create_dir_all(&run).unwrap();
        let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
        let part = [b' '; 1 << 16];
        for _ in 0..=PROFILE_TEXT_BYTES_MAX >> 16 {
            encoder.write_all(&part).unwrap();
        }
        fs::write(run.join("2.get.profile.folded.gz"), encoder.finish().unwrap()).unwrap();
        let error = dir.profile("a.c1.r1", 2, "get").unwrap_err().to_string();
        assert!(error.ends_with("it has more than 33554432 bytes"), "{error}");
    }
}
