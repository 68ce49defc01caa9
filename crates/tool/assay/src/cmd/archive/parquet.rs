//! `assay archive parquet`: writes the set of Parquet files of an archive.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;
use std::process::ExitCode;

use archive::{
    ArchiveError, ExperimentDir, HeldLocks, Part, PartExperiment, PartSetWriter, Results,
    changed_files, parallel_map,
};
use columns::{ColumnsError, ExperimentFacts, PartWriter, RunRows, StoredTable, Table};
use miette::{Result, miette};
use model::RunRecord;
use model::record::RunEnd;
use model::units::thousands;

use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::phase;
use crate::ui::Ui;

/// Sizes of parts in experiments, the largest first.
///
/// Our choice: at most 15 parts of each smaller size remain, and an experiment is copied twice.
const SIZES: [usize; 3] = [256, 16, 1];
/// Runs whose intervals are in memory at once.
const RUNS_AT_ONCE: usize = 64;

/// Arguments of `assay archive parquet`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay archive parquet
  assay archive parquet /srv/results

The files are written to DIR/.parquet: experiments-*.parquet has one row for each experiment,
runs-*.parquet for each step of each run, intervals-*.parquet for each interval. The columns are in
docs/reference/parquet.md, recipes for DuckDB, pandas and Polars in docs/guide/parquet.md.

The set is a cache: it may be deleted at any time, and is equal when it is written again. After a
new experiment only the parts with this experiment are written. `list`, `history` and `serve` use
the set for each experiment that did not change since.")]
pub(super) struct Args {
    /// Archive with the experiments [default: the archive of --results]
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
}

/// An experiment to write.
struct Source<'a> {
    dir: &'a ExperimentDir,
    directory: String,
    key: String,
    stamp: Option<String>,
}

/// What was done.
#[derive(Default)]
struct Written {
    parts: usize,
    experiments: usize,
    rows: [usize; Table::ALL.len()],
}

/// Writes the set, and prints what is in it.
pub(super) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for the Parquet files to be written");
    let root = args.directory.as_ref().unwrap_or(&environment.results);
    let results = Results::at(root);
    let dirs = results.newest();
    if dirs.is_empty() {
        return Err(miette!(
            help = "name the directory of an archive, as --results has it",
            "no experiment found in {}",
            root.display()
        ));
    }
    let writer = PartSetWriter::begin(results.part_set()).into_report()?;
    if let Some(error) = &writer.old().unreadable {
        ui.status(format_args!("warning: {error}; every part is written again"));
    }
    let sources = sources(&dirs, &writer, ui);
    let mut parts: Vec<Part> = Vec::new();
    let (mut written, mut begin) = (Written::default(), 0);
    for size in sizes(sources.len()) {
        let name = format!("{:06}-{:06}", begin + 1, begin + size);
        parts.push(part(&name, &sources[begin..begin + size], &writer, &mut written)?);
        begin += size;
    }
    let experiments = parts.iter().flat_map(|part| &part.experiments);
    experiments.flat_map(|one| &one.damaged).for_each(|damage| ui.status(damage));
    let place = writer.old().dir().display().to_string();
    let count = parts.len();
    writer.finish(parts).into_report()?;
    let [_, runs, intervals] = written.rows.map(|rows| thousands(rows as u64));
    ui.print(format_args!(
        "{place}: {} experiments in {} parts; written now: {} experiments in {} parts, {runs} rows \
         of runs and {intervals} rows of intervals",
        thousands(sources.len() as u64),
        count,
        thousands(written.experiments as u64),
        written.parts,
    ));
    Ok(ExitCode::SUCCESS)
}

/// Returns the experiments that can be read, oldest first; reports the others.
fn sources<'a>(dirs: &'a [ExperimentDir], writer: &PartSetWriter, ui: &Ui) -> Vec<Source<'a>> {
    let locks = HeldLocks::read();
    let source = |dir: &'a ExperimentDir| {
        // Before a record is read: a change in between makes the part stale.
        let (stamp, key) = (dir.stamp().filter(|_| locks.writer(dir).is_none()), dir.rows_key());
        dir.summary()?;
        let directory = writer.old().directory(dir);
        Ok(directory.zip(key).map(|(directory, key)| Source { dir, directory, key, stamp }))
    };
    let mut sources = Vec::new();
    for (dir, read) in dirs.iter().zip(parallel_map(dirs, source)) {
        match read {
            Ok(Some(source)) => sources.push(source),
            Ok(None) => ui.status(format_args!(
                "{} is left out: its name is not UTF-8, or its files cannot be listed",
                dir.path().display()
            )),
            Err::<_, ArchiveError>(error) => ui.status(error),
        }
    }
    let id = |source: &Source<'_>| source.dir.path().file_name().map(ToOwned::to_owned);
    sources.sort_by_cached_key(|source| (id(source), source.directory.clone()));
    sources
}

/// Returns the sizes of the parts of so many experiments: few large ones, then smaller ones.
fn sizes(mut experiments: usize) -> Vec<usize> {
    let mut sizes = Vec::new();
    for size in SIZES {
        sizes.resize(sizes.len() + experiments / size, size);
        experiments %= size;
    }
    sizes
}

/// A part of the old set with experiments that did not change.
struct StoredPart {
    name: String,
    experiments: Vec<PartExperiment>,
    tables: [StoredTable; Table::ALL.len()],
}

/// Returns the part of the old set that begins with the first of these experiments, and has no
/// others. A damaged one is written again.
fn stored(sources: &[Source<'_>], writer: &PartSetWriter) -> Option<StoredPart> {
    let is_same = |(one, source): (&PartExperiment, &Source<'_>)| {
        // A repaired file may not change the key.
        one.directory == source.directory && one.key == source.key && one.damaged.is_empty()
    };
    let is_it = |part: &&Part| {
        let experiments = &part.experiments;
        experiments.len() <= sources.len() && experiments.iter().zip(sources).all(is_same)
    };
    let part = writer.old().parts.iter().find(is_it)?;
    let [experiments, runs, intervals] = Table::ALL.map(|table| {
        let file = writer.old().open(part, table.name()).ok()?;
        StoredTable::open(table, file).ok()
    });
    let with_stamp = |(one, source): (&PartExperiment, &Source<'_>)| PartExperiment {
        stamp: one.stamp.as_ref().and(source.stamp.clone()),
        ..one.clone()
    };
    Some(StoredPart {
        name: part.name.clone(),
        experiments: part.experiments.iter().zip(sources).map(with_stamp).collect(),
        tables: [experiments?, runs?, intervals?],
    })
}

/// Returns the part of these experiments: the stored one, or a new one.
fn part(
    name: &str,
    sources: &[Source<'_>],
    writer: &PartSetWriter,
    written: &mut Written,
) -> Result<Part> {
    let file = |name: &str, table: Table| format!("{table}-{name}.parquet");
    let mut experiments = Vec::new();
    if let Some(old) = stored(sources, writer).filter(|old| old.experiments.len() == sources.len())
    {
        for table in Table::ALL {
            writer.link(&file(&old.name, table), &file(name, table)).into_report()?;
        }
        experiments = old.experiments;
    } else {
        let open = |table: Table| writer.create(&file(name, table)).map(BufWriter::new);
        let mut tables = PartWriter::begin(open).map_err(|error| failed(error, writer))?;
        while let Some(source) = sources.get(experiments.len()) {
            if let Some(old) = stored(&sources[experiments.len()..], writer) {
                tables.append(&old.tables).map_err(|error| failed(error, writer))?;
                experiments.extend(old.experiments);
            } else {
                experiments.push(add(source, &mut tables, writer)?);
                written.experiments += 1;
            }
        }
        let rows = tables.finish().map_err(|error| failed(error, writer))?;
        written.rows.iter_mut().zip(rows).for_each(|(all, rows)| *all += rows);
        written.parts += 1;
    }
    let tables = Table::ALL.map(Table::name);
    writer.part(name.to_owned(), experiments, &tables).into_report()
}

fn failed(error: ColumnsError, writer: &PartSetWriter) -> miette::Report {
    miette!(
        help = "the earlier set stays as it was; free disk space, then run the command again",
        "cannot write {}: {error}",
        writer.old().dir().display()
    )
}

/// Adds the rows of an experiment; damaged files of it are left out and named.
fn add(
    source: &Source<'_>,
    tables: &mut PartWriter<BufWriter<File>>,
    writer: &PartSetWriter,
) -> Result<PartExperiment> {
    let Source { dir, directory, key, stamp } = source;
    let (manifest, summary) = (dir.manifest().into_report()?, dir.summary().into_report()?);
    let (runs, errors): (Vec<_>, Vec<_>) =
        dir.each_run(&manifest).into_iter().partition(Result::is_ok);
    let runs: Vec<RunRecord> = runs.into_iter().flatten().collect();
    let mut damaged: Vec<ArchiveError> = errors.into_iter().filter_map(Result::err).collect();
    let facts = ExperimentFacts {
        directory,
        manifest: &manifest,
        summary: &serde_json::to_string(&summary).into_report()?,
        complete: summary.complete as u64,
        damaged: damaged.len() as u64,
    };
    tables.add_experiment(&facts).map_err(|error| failed(error, writer))?;
    for runs in runs.chunks(RUNS_AT_ONCE) {
        let read = parallel_map(runs, |run| dir.intervals(&run.cell.id));
        for (run, intervals) in runs.iter().zip(read) {
            let intervals = intervals.map_err(|error| damaged.push(error)).unwrap_or_default();
            let rows = RunRows { directory, manifest: &manifest, run, intervals: &intervals };
            tables.add_run(&rows).map_err(|error| failed(error, writer))?;
        }
    }
    let mut damaged: Vec<_> = damaged.iter().map(ToString::to_string).collect();
    let changed = changed_files().into_iter().filter(|file| file.starts_with(dir.path()));
    damaged.extend(changed.map(|file| format!("{} changed since the run", file.display())));
    let is_ended = runs.iter().all(|run| run.end != RunEnd::Running);
    let stamp = stamp.clone().filter(|_| is_ended && damaged.is_empty());
    Ok(PartExperiment { directory: directory.clone(), key: key.clone(), stamp, damaged })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: parts grow from the front, so that a new experiment is in a part of its own.
    #[test]
    fn new_experiments_are_in_small_parts_behind_the_large_ones() {
        assert!(sizes(0).is_empty());
        assert_eq!(sizes(3), [1, 1, 1]);
        assert_eq!(sizes(17), [16, 1]);
        assert_eq!(sizes(16 * 16 + 33), [256, 16, 16, 1]);
        assert_eq!(sizes(600), [&[256, 256][..], &[16; 5], &[1; 8]].concat());
        for experiments in 1..1_000 {
            let (before, now) = (sizes(experiments - 1), sizes(experiments));
            let same = before.iter().zip(&now).take_while(|(one, other)| one == other).count();
            assert!(now.len() - same == 1, "one part is new: {before:?} {now:?}");
            assert_eq!(now.iter().sum::<usize>(), experiments);
        }
    }
}
