//! Names of the files of an experiment: writers take them from here, and readers know no other.
//!
//! A file is named here before it can be written, so `import` takes exactly what Assay writes.

use model::limits::{RUN_NAME_BYTES_MAX, is_name};

/// File of the manifest.
pub(crate) const MANIFEST: &str = "manifest.json";
/// File of the simulated crashes.
pub(crate) const CUTS: &str = "cuts.json";
/// File of the checksums of a directory.
pub(crate) const CHECKSUMS: &str = "checksums";
/// File of the run's record.
pub(crate) const RECORD: &str = "record.json";
/// File of the intervals, one line each.
pub(crate) const INTERVALS: &str = "intervals.jsonl";
/// Histogram logs of response times, service times, start lag, and ages of unserved arrivals.
pub(crate) const LOGS: [&str; 4] =
    ["response.hlog", "service.hlog", "start_lag.hlog", "censored.hlog"];
/// Ending of the file of a step's search: `STEP-INDEX.STEP.search.json`.
pub(crate) const SEARCH: &str = ".search.json";
/// Ending of the file of a step's profile: `STEP-INDEX.STEP.profile.folded.gz`.
pub(crate) const PROFILE: &str = ".profile.folded.gz";
/// Directory of a run for what the engine prints and writes.
pub(crate) const ENGINE: &str = "engine";
/// Directories of the runs, and of earlier attempts at them.
pub(crate) const RUN_DIRS: [&str; 2] = ["runs", "attempts"];

/// Endings of an engine's texts: statistics, logs, options in force, and job files of fio.
const ENGINE_ENDINGS: [&str; 5] = [".txt", ".log", ".cnf", ".conf", ".fio"];
/// Texts of `RocksDB` and `LevelDB` that have no ending.
const ENGINE_NAMES: [&str; 2] = ["LOG", "OPTIONS"];
/// Begin of the names of a worker that only loads.
const LOADING: &str = "load.";

/// What a file holds, as far as its limits depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content {
    /// One value of JSON.
    Json,
    /// A value of JSON in each line.
    Lines,
    /// Histograms.
    Log,
    /// Checksums.
    Checksums,
    /// Compressed stacks.
    Profile,
    /// A text of the engine, which no verb reads.
    EngineText,
}

/// Returns what a file of an experiment's directory holds; `None` when Assay writes none such.
pub(crate) fn content(name: &str) -> Option<Content> {
    let parts: Vec<&str> = name.split('/').collect();
    match parts[..] {
        [MANIFEST | CUTS] => Some(Content::Json),
        [CHECKSUMS] => Some(Content::Checksums),
        [dir, run, ref file @ ..] if RUN_DIRS.contains(&dir) => {
            is_name(run, RUN_NAME_BYTES_MAX).then(|| content_of_run(file))?
        }
        _ => None,
    }
}

/// Returns what a file of a run's directory holds.
fn content_of_run(parts: &[&str]) -> Option<Content> {
    match *parts {
        [RECORD] => Some(Content::Json),
        [INTERVALS] => Some(Content::Lines),
        [CHECKSUMS] => Some(Content::Checksums),
        [log] if LOGS.contains(&log) => Some(Content::Log),
        [search] if search.strip_suffix(SEARCH).is_some_and(is_step_file) => Some(Content::Json),
        [file] if file.strip_suffix(PROFILE).is_some_and(is_step_file) => Some(Content::Profile),
        [ENGINE, file] if is_engine_file(file) => Some(Content::EngineText),
        _ => None,
    }
}

/// Returns whether a text is `STEP-INDEX.STEP`.
fn is_step_file(text: &str) -> bool {
    let parts = text.split_once('.');
    parts.is_some_and(|(index, step)| {
        index.parse::<u32>().is_ok() && is_name(step, RUN_NAME_BYTES_MAX)
    })
}

/// Returns whether a file below `engine/` has a name of those that Assay writes there.
pub(crate) fn is_engine_file(name: &str) -> bool {
    let own = name.strip_prefix(LOADING).unwrap_or(name);
    let is_known = ENGINE_NAMES.contains(&own)
        || ENGINE_ENDINGS.iter().any(|ending| own.len() > ending.len() && own.ends_with(ending));
    is_known && is_name(name, RUN_NAME_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_assay_writes_are_members() {
        let run = |name: &str| content(&format!("runs/a.c1.r1/{name}"));
        for (name, expected) in [
            ("record.json", Content::Json),
            ("intervals.jsonl", Content::Lines),
            ("checksums", Content::Checksums),
            ("censored.hlog", Content::Log),
            ("2.readrandom.search.json", Content::Json),
            ("2.readrandom.profile.folded.gz", Content::Profile),
            ("engine/0.fillseq.malloc.txt", Content::EngineText),
            ("engine/load.stderr.txt", Content::EngineText),
            ("engine/load.OPTIONS", Content::EngineText),
            ("engine/LOG", Content::EngineText),
            ("engine/postgresql.conf", Content::EngineText),
            ("engine/1.randread-4k.fio", Content::EngineText),
        ] {
            assert_eq!(run(name), Some(expected), "{name}");
        }
        assert_eq!(content("attempts/a.c1.r1.2/record.json"), Some(Content::Json));
        for name in [
            "engine/x.so",
            "engine/LOG/x",
            "engine/.txt",
            "engine/-x.txt",
            "engine",
            "x.json",
            "report.html",
            "lock",
            ".search.json",
            "a.fill.search.json",
            "1.-x.search.json",
            ".profile.folded.gz",
            "engine/1.get.profile.folded.gz",
            "engine/a\u{202e}.txt",
            "record.json.new",
            "",
        ] {
            assert_eq!(run(name), None, "{name}");
        }
        for name in ["report.html", "lock", "derived/x.json", "foreign", "runs/x", "", "runs//a"] {
            assert_eq!(content(name), None, "{name}");
        }
    }
}
