//! CPU profiles of a run: folded stacks, compressed, one file for each profiled step.

use std::io::{Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use model::{Profile, RunRecord, StepRecord};

use crate::checksum::check_read;
use crate::error::ArchiveError;
use crate::experiment::ExperimentDir;
use crate::layout::PROFILE;
use crate::limits::{PROFILE_BYTES_MAX, PROFILE_TEXT_BYTES_MAX};
use crate::regular::{self, check_run_dir};
use crate::replace::replace;
use crate::run::{RunWriter, step_tag};
use crate::verify::Mismatch;

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
        read_profile(&self.run_dir(cell_id), index, step)
    }
}

/// Reads the profile of a step of a run; `None` when the step has none.
fn read_profile(dir: &Path, index: u32, step: &str) -> Result<Option<Profile>, ArchiveError> {
    let path = dir.join(step_tag(index, step, None) + PROFILE);
    let read = check_run_dir(dir).and_then(|()| regular::read(&path, PROFILE_BYTES_MAX));
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

/// The profiles of a run that were read, and what is wrong with others.
#[derive(Debug, Default)]
pub struct ProfileCheck {
    /// Profiles whose samples are those of the record.
    pub sound: usize,
    /// Each file that is damaged, absent or has other samples than the record.
    pub mismatches: Vec<Mismatch>,
}

/// Reads the profiles of a run, and compares their samples with the record.
pub fn check_profiles(run: &Path, record: &RunRecord) -> ProfileCheck {
    let mut check = ProfileCheck::default();
    for step in &record.steps {
        let path = run.join(step_tag(step.index, &step.step.name, None) + PROFILE);
        let found = match read_profile(run, step.index, &step.step.name) {
            Ok(Some(profile)) => wrong_samples(&profile, step),
            Ok(None) if step.profiles.iter().all(|one| one.refusal.is_some()) => continue,
            Ok(None) => Some("the record counts samples, and the profile is absent".to_owned()),
            // The path is named by the mismatch.
            Err(ArchiveError::Damaged(_, reason)) => Some(format!("it is damaged: {reason}")),
            Err(error) => Some(error.to_string()),
        };
        check.sound += usize::from(found.is_none());
        check.mismatches.extend(found.map(|what| Mismatch { path, what }));
    }
    check
}

/// Returns how the samples of a profile differ from its step's record; `None` where they do not.
pub fn wrong_samples(profile: &Profile, step: &StepRecord) -> Option<String> {
    step.profiles.iter().find_map(|one| {
        // The samples of a refused profile are not stored.
        let expected = if one.refusal.is_none() { one.samples } else { 0 };
        let (samples, name) = (profile.samples(one.target), one.target.name());
        (samples != expected).then(|| {
            format!("it has {samples} samples of the {name}, and the record counts {expected}")
        })
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use model::{Cell, Options, ProfileRecord, Settings, Step, StopRule, Variant};

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

    /// Returns the record of a run with one profiled step, of so many samples.
    fn record(samples: u64) -> RunRecord {
        let cell = Cell {
            id: "a.c1.r1".to_owned(),
            variant: "a".to_owned(),
            clients: 1,
            repetition: 1,
            seed: 1,
        };
        let variant = Variant {
            dsn: None,
            name: "a".to_owned(),
            build: "lmdb".parse().unwrap(),
            profile: None,
            options: Options::new(),
            settings: Settings::default(),
            is_control: false,
        };
        let mut record = RunRecord::begun("x", &cell, variant, String::new());
        let mut step = StepRecord::new(2, Step::new("get", StopRule::Operations(1)));
        step.profiles = vec![ProfileRecord { samples, ..ProfileRecord::default() }];
        record.steps.push(step);
        record
    }

    /// Goal: each way in which a profile differs from its record is named with the file.
    #[test]
    fn a_profile_that_is_damaged_absent_or_of_other_samples_is_a_mismatch() {
        let root = tempfile::tempdir().expect("a scratch directory");
        let run = root.path().join("run");
        let writer = RunWriter::create(run.clone()).expect("it is writable");
        let wrong = |samples: u64| {
            let found = check_profiles(&run, &record(samples));
            let file = run.join("2.get.profile.folded.gz");
            assert!(found.mismatches.iter().all(|one| one.path == file), "{found:?}");
            found.mismatches.into_iter().map(|one| one.what).collect::<Vec<_>>()
        };
        assert_eq!(wrong(12), ["the record counts samples, and the profile is absent"]);
        let profile = Profile::parse("worker;client;assay`load::client;a.so`get 12\n").unwrap();
        writer.write_profile(2, "get", &profile).unwrap();
        assert_eq!((wrong(12), check_profiles(&run, &record(12)).sound), (Vec::new(), 1));
        let other = "it has 12 samples of the worker, and the record counts 13";
        assert_eq!(wrong(13), [other]);
        let packed = |bytes: &[u8]| {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        };
        for (bytes, reason) in [
            (Vec::new(), "it is damaged: "),
            (packed(b""), "it has 0 samples of the worker, and the record counts 12"),
            (packed(b"worker;client;\xff 12\n"), "it is damaged: "),
        ] {
            fs::write(run.join("2.get.profile.folded.gz"), bytes).unwrap();
            let found = wrong(12);
            assert!(found.len() == 1 && found[0].starts_with(reason), "{found:?}");
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
