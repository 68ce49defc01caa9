//! `assay verify`: files of the archive against their checksums, and records against their seconds.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use archive::{
    ArchiveError, ExperimentDir, Mismatch, Recount, Results, check_profiles, parallel_map,
    read_record,
};
use miette::{Result, miette};
use model::units::thousands;
use render::{Document, Format, Report, Style};
use serde::Serialize;
use serde_json::json;

use super::format::TextOrJson;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::ui::Ui;

/// Arguments of `assay verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay verify               every experiment
  assay verify quickstart    the newest experiment of that name
  assay verify --format json | jq .mismatches

`checksums` of a finished run has the SHA-256 of its files (sha256sum -c can check them too). The
figures of its steps are computed again from intervals and histogram logs, and its CPU profiles are
read and their samples counted. Runs that were killed
and runs of an older Assay may have no checksums. Then only the figures of their steps are checked.
`checksums` of an experiment lists its ended runs: an absent run is a mismatch.

Exit code: 0 if all checked files and figures match, 1 if not.")]
pub(crate) struct Args {
    /// Experiment (name, identifier or directory) [default: every experiment]
    experiment: Option<String>,
    #[command(flatten)]
    output: TextOrJson,
}

/// What was checked, over all experiments.
#[derive(Default)]
struct Verified {
    experiments: usize,
    files: usize,
    runs: usize,
    steps: usize,
    /// Stored CPU profiles that were read.
    profiles: usize,
    unchecked: usize,
    /// Experiments that do not list their ended runs.
    without_list: usize,
    mismatches: Vec<Mismatch>,
}

/// Prints what was checked, and each mismatch.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let results = Results::at(&environment.results);
    let dirs = match &args.experiment {
        Some(name) => vec![misplaced::find(&results, name)?],
        None => results.newest(),
    };
    let orphans = match &args.experiment {
        Some(_) => Vec::new(),
        None => results.without_manifest(),
    };
    if dirs.is_empty() && orphans.is_empty() {
        return Err(miette!(
            help = "name the archive with --results",
            "no experiment found in {}",
            environment.results.display()
        ));
    }
    let mut verified = Verified { experiments: dirs.len(), ..Verified::default() };
    for dir in &dirs {
        verified.add(dir).into_report()?;
    }
    let what = "the directory has runs and no manifest.json, so no command shows them";
    verified.miss(orphans, what);
    ui.report(&verified, args.output.format);
    let is_sound = verified.mismatches.is_empty();
    Ok(if is_sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Verified {
    /// Checks one experiment.
    fn add(&mut self, dir: &ExperimentDir) -> Result<(), ArchiveError> {
        let check = dir.verify()?;
        self.files += check.files;
        self.unchecked += check.unchecked.len();
        self.mismatches.extend(check.mismatches);
        self.without_list += usize::from(check.unlisted > 0);
        self.miss(check.absent, "the run has ended, and its directory is absent");
        let path = dir.path().join("manifest.json");
        if let Some(error) = dir.manifest().err()
            && self.mismatches.iter().all(|known| known.path != path)
        {
            self.mismatches.push(Mismatch { path, what: error.to_string() });
        }
        self.runs += check.sound.len();
        let unchecked = check.unchecked.iter().filter(|unchecked| *unchecked != dir.path());
        let runs: Vec<_> = check.sound.iter().chain(unchecked).collect();
        for recounted in parallel_map(runs, |run| recount(run)) {
            self.steps += recounted.steps;
            self.profiles += recounted.profiles;
            self.mismatches.extend(recounted.mismatches);
        }
        Ok(())
    }

    /// Adds directories that lack something.
    fn miss(&mut self, dirs: Vec<PathBuf>, what: &str) {
        let mismatch = |path| Mismatch { path, what: what.to_owned() };
        self.mismatches.extend(dirs.into_iter().map(mismatch));
    }

    fn line(&self) -> String {
        let count = |number: usize, what: &str| {
            let plural = if number == 1 { "" } else { "s" };
            format!("{} {what}{plural}", thousands(number as u64))
        };
        let of = count(self.without_list, "experiment");
        let absence = format!("whether runs are absent ({of} without a list of runs)");
        let unchecked = match (self.unchecked, self.without_list) {
            (0, 0) => "nothing".to_owned(),
            (0, _) => absence,
            (several, 0) => format!("{several} without checksums"),
            (several, _) => format!("{several} without checksums, and {absence}"),
        };
        let mut parts = vec![
            count(self.experiments, "experiment"),
            count(self.runs, "sound run"),
            count(self.files, "checksum") + " compared",
            count(self.steps, "step") + " counted again",
        ];
        if self.profiles > 0 {
            parts.push(count(self.profiles, "CPU profile") + " read");
        }
        parts.push(format!("mismatches: {}, not checked: {unchecked}", self.mismatches.len()));
        parts.join(", ")
    }
}

impl Report for Verified {
    fn document(&self, _: Format, _: Style) -> Document {
        let remedy = "restore it from a copy, or move the run's directory away and repeat the run \
                      (assay run --resume)";
        let mismatch = |one: &Mismatch| format!("{}: {}; {remedy}", one.path.display(), one.what);
        let mismatches = self.mismatches.iter().map(mismatch);
        Document::lines([self.line()].into_iter().chain(mismatches))
    }

    fn data(&self) -> impl Serialize {
        let mismatch =
            |one: &Mismatch| json!({ "path": one.path.display().to_string(), "what": one.what });
        let mismatches: Vec<_> = self.mismatches.iter().map(mismatch).collect();
        json!({
            "experiments": self.experiments,
            "sound_runs": self.runs,
            "checksums_compared": self.files,
            "steps_counted_again": self.steps,
            "profiles_read": self.profiles,
            "without_checksums": self.unchecked,
            "experiments_without_list_of_runs": self.without_list,
            "mismatches": mismatches,
        })
    }
}

/// What was counted again from the files of a run.
#[derive(Default)]
struct Recounted {
    steps: usize,
    profiles: usize,
    mismatches: Vec<Mismatch>,
}

/// Counts the steps of a run again, and reads its CPU profiles.
fn recount(run: &Path) -> Recounted {
    let mismatch = |what| Mismatch { path: run.join("record.json"), what };
    let counted = read_record(run)
        .and_then(|record| Ok((archive::recount(run, &record)?, check_profiles(run, &record))));
    match counted {
        Ok((Recount { steps, differing }, profiles)) => {
            let what = |step: String| format!("{step} than its intervals and histogram logs");
            let differing = differing.into_iter().map(what).map(mismatch);
            let mismatches = differing.chain(profiles.mismatches).collect();
            Recounted { steps, profiles: profiles.sound, mismatches }
        }
        // It was killed before its first step.
        Err(error) if error.is_absence() => Recounted::default(),
        Err(error) => {
            let what = format!("its steps cannot be counted again from its files: {error}");
            Recounted { mismatches: vec![mismatch(what)], ..Recounted::default() }
        }
    }
}

/// Warns of the files read whose checksum does not hold, once for each run.
pub(crate) fn warn_of_changes(ui: &Ui) {
    let mut by_run: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
    for path in archive::changed_files() {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        by_run.entry(path.parent().unwrap_or(&path).to_path_buf()).or_default().push(name);
    }
    for (run, names) in by_run {
        let has = if names.len() == 1 { "has" } else { "have" };
        ui.status(format_args!(
            "warning: {} of {} {has} changed since the run: figures may be wrong; check all files \
             with assay verify",
            names.join(", "),
            run.display()
        ));
    }
}
