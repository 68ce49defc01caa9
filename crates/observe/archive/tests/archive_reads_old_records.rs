//! Old records stay readable; damaged files are reported by name.
//!
//! `data/schema-N` holds a real experiment (engine `memory`) as the Assay of that schema wrote it.
//! When the schema is raised, the directory of the old one stays and a new one is added.
//! `data/open-loop` holds an experiment of schema 1 with the fields added for open loops: a step at
//! a fixed rate whose worker was stopped for a moment, and the search for a rate.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use archive::{ArchiveError, ExperimentDir, Results, Summaries, read_intervals, read_record};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use model::record::{OpSummaries, RunEnd, SCHEMA, SERVER_WRITES_COUNTED};
use model::validity::{InvalidCause, LoadStatus, SearchRecord};
use model::{IntervalRecord, RunRecord, metric};

const CELL: &str = "memory.c1.r1";
const OPEN_CELL: &str = "server.c4.r1";

/// Returns the fixture of a schema.
fn fixture(schema: u32) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/data/schema-{schema}"))
}

/// Returns a copy of the newest fixture's experiment, to be damaged.
fn copy() -> (tempfile::TempDir, ExperimentDir) {
    let root = tempfile::tempdir().expect("a scratch directory");
    copy_dir(&fixture(SCHEMA), root.path()).expect("the fixture is readable");
    let dir = Results::at(root.path()).find("quick").expect("the fixture holds it");
    (root, dir)
}

fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_dir(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), place)?;
        }
    }
    Ok(())
}

/// Replaces a text in a file.
fn replace(path: &Path, old: &str, new: &str) {
    let text = fs::read_to_string(path).expect("a file of the copy");
    assert!(text.contains(old));
    fs::write(path, text.replacen(old, new, 1)).expect("a file of the copy");
}

/// Returns the operations done, by kind.
fn done(of: &OpSummaries) -> impl Iterator<Item = (String, u64)> {
    of.iter().map(|(kind, summary)| (kind.to_string(), summary.counts.done))
}

#[test]
fn every_schema_has_a_fixture_that_loads() {
    for schema in 1..=SCHEMA {
        let results = Results::at(&fixture(schema));
        let dir = results.find("quick").unwrap();
        let manifest = dir.manifest().unwrap();
        assert_eq!(manifest.schema, schema);
        let runs = dir.runs(&manifest).unwrap();
        assert_eq!(runs.len(), manifest.plan.cells.len());
        let names: Vec<_> = runs[0].steps.iter().map(|step| step.step.name.as_str()).collect();
        assert_eq!(names, ["filluniquerandom", "settle", "readwhilewriting"]);
        assert!(runs[0].end.is_complete() && runs[0].steps[1].settle.is_some());
        assert!(runs[0].steps[2].writer_bytes_per_s.is_some_and(|rate| rate > 0.0));
    }
}

/// Goal: the seconds of a step add up to its summary, so a report can be made from either.
#[test]
fn intervals_add_up_to_the_record() {
    let dir = Results::at(&fixture(1)).find("quick").unwrap();
    let record = dir.run(CELL).unwrap().unwrap();
    let mut sums = BTreeMap::new();
    for interval in dir.intervals(CELL).unwrap().iter().filter(|interval| !interval.is_warmup) {
        for (kind, count) in done(&interval.clients) {
            *sums.entry((interval.step_index, kind)).or_insert(0) += count;
        }
    }
    let of_steps = record.steps.iter().flat_map(|step| {
        done(&step.clients).map(|(kind, count)| ((step.index, kind), count)).collect::<Vec<_>>()
    });
    assert_eq!(sums, of_steps.collect());
}

/// Goal: any HdrHistogram tool reads the logs, and finds the operations the record counts.
/// Method: the log reader of the `hdrhistogram` crate, which is not ours.
#[test]
fn histogram_logs_are_standard_and_count_the_same_operations() {
    let dir = Results::at(&fixture(1)).find("quick").unwrap();
    let intervals = dir.intervals(CELL).unwrap();
    let mut wanted = BTreeMap::new();
    for interval in &intervals {
        for (group, summaries) in [("", &interval.clients), ("writer.", &interval.writers)] {
            for (kind, count) in done(summaries) {
                let tag = format!("{}.{}.{group}{kind}", interval.step_index, interval.step);
                *wanted.entry(tag).or_insert(0) += count;
            }
        }
    }
    for log in ["response.hlog", "service.hlog"] {
        assert_eq!(counts_of(&dir.run_dir(CELL).join(log)), wanted, "{log}");
    }
}

/// Returns the values in a histogram log, by tag.
fn counts_of(log: &Path) -> BTreeMap<String, u64> {
    let text = fs::read(log).expect("a log of the fixture");
    let mut counts = BTreeMap::new();
    for entry in IntervalLogIterator::new(&text) {
        let LogEntry::Interval(line) = entry.expect("a whole line") else { continue };
        let payload = STANDARD.decode(line.encoded_histogram()).expect("base64");
        let histogram: hdrhistogram::Histogram<u64> =
            Deserializer::new().deserialize(&mut payload.as_slice()).expect("a histogram");
        let tag = line.tag().expect("every line has a tag").to_string();
        *counts.entry(tag).or_insert(0) += histogram.len();
    }
    counts
}

/// Returns the experiment with open loops and its one record.
fn open_loop() -> (ExperimentDir, RunRecord) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/open-loop");
    let dir = Results::at(&root).find("honest").expect("the fixture holds it");
    let record = dir.run(OPEN_CELL).expect("a record").expect("a record");
    (dir, record)
}

/// Goal: the seconds of a step add up to its summary in open loops and searches too; the valid ones
/// add up to the part that counts.
#[test]
fn the_intervals_of_open_loops_and_of_searches_add_up_to_the_record() {
    let (dir, record) = open_loop();
    let intervals = dir.intervals(OPEN_CELL).unwrap();
    for step in &record.steps {
        let own: Vec<_> = intervals.iter().filter(|one| step.has_measured(one)).collect();
        let sum = |intervals: &[&IntervalRecord]| {
            let all = intervals.iter().flat_map(|interval| done(&interval.clients));
            all.map(|(_, count)| count).sum::<u64>()
        };
        let of = |summaries: &OpSummaries| done(summaries).map(|(_, count)| count).sum::<u64>();
        assert_eq!(sum(&own), of(&step.clients), "{}", step.step.name);
        let Some(invalid_intervals) = &step.invalid_intervals else { continue };
        let valid: Vec<_> = own.iter().filter(|one| one.invalid.is_none()).copied().collect();
        assert_eq!(sum(&valid), of(&invalid_intervals.valid));
        assert_eq!(own.len() - valid.len(), invalid_intervals.intervals as usize);
        let within: u64 = valid.iter().filter_map(|one| one.within_limit).sum();
        assert_eq!(invalid_intervals.within_limit, Some(within));
    }
}

#[test]
fn load_status_and_search_are_read_back() {
    let (dir, record) = open_loop();
    assert!(record.calibration.is_some() && record.invalid.is_none());
    let [_, open, searched] = &record.steps[..] else { panic!("three steps") };
    assert_eq!(open.load_status, Some(LoadStatus::Sustained));
    let causes = &open.invalid_intervals.as_ref().expect("a second was invalid").causes;
    assert_eq!(causes[..], [(InvalidCause::Paused, 1)]);
    let search = searched.search.as_ref().expect("a search");
    assert!(search.found.is_some() && search.confirmed().is_some());
    let file = dir.run_dir(OPEN_CELL).join("2.readrandom.search.json");
    let stored: SearchRecord = serde_json::from_slice(&fs::read(file).unwrap()).unwrap();
    assert_eq!(&stored, search);
}

#[test]
fn the_start_lag_log_holds_every_start_of_a_waiting_client() {
    let (dir, record) = open_loop();
    let counts = counts_of(&dir.run_dir(OPEN_CELL).join("start_lag.hlog"));
    let mut wanted = BTreeMap::new();
    for interval in dir.intervals(OPEN_CELL).unwrap() {
        let Some(start_lag) = interval.start_lag else { continue };
        let probe = interval.probe.map_or(String::new(), |number| format!(".probe{number}"));
        let tag = format!("{}.{}{probe}", interval.step_index, interval.step);
        *wanted.entry(tag).or_insert(0) += start_lag.count;
    }
    assert_eq!(counts, wanted);
    let arrivals = record.steps[1].arrivals.as_ref().expect("an open loop");
    assert!(counts["1.readrandom"] >= arrivals.start_lag.count, "the warm-up is in the log too");
}

/// Goal: wherever a kill tears the last line, the lines before it are read.
/// Method: the file is truncated at every byte of its last two lines.
#[test]
fn a_torn_last_line_is_left_out() {
    let (_root, dir) = copy();
    let run = dir.run_dir(CELL);
    let whole = dir.intervals(CELL).unwrap();
    let text = fs::read(run.join("intervals.jsonl")).unwrap();
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let ends: Vec<_> = ends.map(|(at, _)| at + 1).collect();
    for len in ends[ends.len() - 3]..text.len() {
        fs::write(run.join("intervals.jsonl"), &text[..len]).unwrap();
        let lines = text[..len].iter().filter(|byte| **byte == b'\n').count();
        assert_eq!(read_intervals(&run).unwrap(), whole[..lines], "truncated at {len}");
    }
}

#[test]
fn a_complete_line_that_is_not_an_interval_is_reported() {
    let (_root, dir) = copy();
    let path = dir.run_dir(CELL).join("intervals.jsonl");
    let lines = BufReader::new(File::open(&path).unwrap()).lines().count();
    File::options().append(true).open(&path).unwrap().write_all(b"{\"step\":\n").unwrap();
    let error = dir.intervals(CELL).unwrap_err();
    assert!(matches!(&error, ArchiveError::Damaged(found, _) if *found == path));
    assert!(error.to_string().contains(&format!("line {}", lines + 1)), "{error}");
}

/// Goal: a newer file is refused even where an older program could read its shape.
#[test]
fn a_newer_schema_is_rejected_with_the_reason() {
    let (root, dir) = copy();
    let newer = format!("\"schema\": {}", SCHEMA + 1);
    let record = dir.run_dir(CELL).join("record.json");
    replace(&record, &format!("\"schema\": {SCHEMA}"), &newer);
    let error = dir.run(CELL).unwrap_err();
    let is_it = matches!(&error, ArchiveError::Schema(path, found, known)
        if *path == record && *found == SCHEMA + 1 && *known == SCHEMA);
    assert!(is_it, "{error}");
    assert!(error.to_string().ends_with("use a newer Assay"), "{error}");
    replace(&dir.path().join("manifest.json"), &format!("\"schema\": {SCHEMA}"), &newer);
    assert!(matches!(dir.manifest(), Err(ArchiveError::Schema(..))));
    let listing = Results::at(root.path()).list(&Summaries::new());
    assert!(matches!(&listing.damaged[..], [ArchiveError::Schema(..)]), "{listing:?}");
    assert_eq!(listing.experiments, []);
}

/// Goal: an archive from a stranger leads to no directory outside of it.
#[test]
fn a_name_that_leads_elsewhere_is_rejected() {
    let (root, dir) = copy();
    let manifest = dir.path().join("manifest.json");
    let text = fs::read_to_string(&manifest).unwrap();
    let id = dir.manifest().unwrap().id;
    for (key, name) in [("id", CELL), ("id", id.as_str()), ("name", "filluniquerandom")] {
        let elsewhere = format!("\"{key}\": \"../../..\"");
        replace(&manifest, &format!("\"{key}\": \"{name}\""), &elsewhere);
        let error = dir.manifest().unwrap_err();
        assert!(matches!(&error, ArchiveError::Damaged(path, _) if *path == manifest), "{error}");
        assert!(error.to_string().contains("\"../../..\", which cannot"), "{error}");
        assert_eq!(Results::at(root.path()).list(&Summaries::new()).damaged.len(), 1);
        fs::write(&manifest, &text).unwrap();
    }
    replace(&dir.run_dir(CELL).join("record.json"), &format!("\"{CELL}\""), "\"../../..\"");
    let error = dir.run(CELL).unwrap_err();
    assert!(error.to_string().contains("cell.id is \"../../..\""), "{error}");
}

#[test]
fn a_plan_whose_cells_are_of_no_variant_is_rejected() {
    let (_root, dir) = copy();
    let manifest = dir.path().join("manifest.json");
    replace(&manifest, "\"variant\": \"memory\"", "\"variant\": \"gone\"");
    let error = dir.manifest().unwrap_err().to_string();
    assert!(error.ends_with("cells[0].variant is \"gone\", no variant of the plan"), "{error}");
}

#[test]
fn a_damaged_record_is_reported_and_never_skipped() {
    let (root, dir) = copy();
    let record = dir.run_dir(CELL).join("record.json");
    let text = fs::read_to_string(&record).unwrap();
    let cases = [
        text[..text.len() / 2].to_owned(),
        String::new(),
        "[]".to_owned(),
        text.replace("\"end\"", "\"ende\""),
        text.replace("\"schema\"", "\"scheme\""),
    ];
    for damaged in cases {
        fs::write(&record, damaged).unwrap();
        let mut listing = Results::at(root.path()).list(&Summaries::new());
        let listed = listing.damaged.pop().expect("the damaged record");
        for error in [dir.run(CELL).unwrap_err(), listed] {
            let is_it = matches!(&error, ArchiveError::Damaged(path, _) if *path == record);
            assert!(is_it, "{error}");
        }
        // It hides neither its experiment nor the others.
        let [only] = &listing.experiments[..] else { panic!("one experiment: {listing:?}") };
        assert_eq!((only.cells, only.complete, &only.damaged[..]), (1, 0, &[CELL.to_owned()][..]));
    }
}

#[test]
fn derived_values_are_cached_until_a_record_changes_or_the_cache_is_damaged() {
    let (root, dir) = copy();
    let results = Results::at(root.path());
    let complete = || results.list(&Summaries::new()).experiments[0].complete;
    let count = Cell::new(0);
    let compute = || {
        count.set(count.get() + 1);
        Ok(count.get())
    };
    assert_eq!(complete(), 1);
    assert_eq!([dir.cached("n", compute).unwrap(), dir.cached("n", compute).unwrap()], [1, 1]);
    let mut record = dir.run(CELL).unwrap().unwrap();
    record.end = RunEnd::OutOfMemory { step: "settle".to_owned(), reason: String::new() };
    dir.begin_run(CELL).unwrap().write_record(&record).unwrap();
    assert_eq!((complete(), dir.cached("n", compute).unwrap()), (0, 2));
    // A run without a record, a cache that is damaged, a cache that cannot be written.
    fs::create_dir_all(dir.run_dir("memory.c1.r2")).unwrap();
    assert_eq!(dir.cached("n", compute).unwrap(), 3);
    fs::write(dir.path().join("derived/n.json"), "{\"key\"").unwrap();
    assert_eq!(dir.cached("n", compute).unwrap(), 4);
    fs::remove_dir_all(dir.path().join("derived")).unwrap();
    fs::write(dir.path().join("derived"), "in the way").unwrap();
    assert_eq!([dir.cached("n", compute).unwrap(), dir.cached("n", compute).unwrap()], [5, 6]);
    assert_eq!(complete(), 0);
}

#[test]
fn a_failed_computation_is_returned_and_not_cached() {
    let (_root, dir) = copy();
    let unknown = ArchiveError::Unknown("n".to_owned(), PathBuf::new());
    assert!(dir.cached("n", || Err::<u32, _>(unknown)).is_err());
    assert_eq!(dir.cached("n", || Ok(7)).unwrap(), 7);
}

#[test]
fn a_run_without_a_record_counts_as_not_executed() {
    let (_root, dir) = copy();
    fs::remove_file(dir.run_dir(CELL).join("record.json")).unwrap();
    assert_eq!(dir.run(CELL).unwrap(), None);
    fs::remove_dir_all(dir.run_dir(CELL)).unwrap();
    assert_eq!(dir.run(CELL).unwrap(), None);
    assert_eq!(dir.intervals(CELL).unwrap(), []);
}

#[test]
fn an_experiment_killed_while_created_hides_no_older_one() {
    let (root, dir) = copy();
    let results = Results::at(root.path());
    fs::create_dir(root.path().join("quick/99991231T000000Z-0000")).unwrap();
    assert_eq!(results.find("quick").unwrap().path(), dir.path());
    assert_eq!(results.list(&Summaries::new()).experiments.len(), 1);
}

#[test]
fn an_earlier_attempt_is_moved_and_stored() {
    let (_root, dir) = copy();
    let first = dir.run(CELL).unwrap().unwrap();
    for _ in 0..2 {
        let writer = dir.begin_run(CELL).unwrap();
        assert_eq!(dir.run(CELL).unwrap(), None);
        writer.write_record(&first).unwrap();
    }
    let attempts = dir.path().join("attempts");
    for number in 1..=2 {
        let stored = read_record(&attempts.join(format!("{CELL}.{number}"))).unwrap();
        assert_eq!(stored, first);
    }
    assert!(dir.intervals(CELL).unwrap().is_empty());
}

#[test]
fn only_one_process_writes_an_experiment() {
    let (_root, mut first) = copy();
    let mut second = ExperimentDir::open(first.path()).unwrap();
    first.lock().unwrap();
    assert!(matches!(second.lock(), Err(ArchiveError::Busy(..))));
    drop(first);
    second.lock().unwrap();
}

/// Goal: a server's writes that were counted in part are unknown, not almost 0.
/// Method: the fixture with the readings and the fact that older versions wrote.
#[test]
fn writes_that_older_records_count_in_part_are_left_out() {
    let (_root, dir) = copy();
    let path = dir.run_dir(CELL).join("record.json");
    let of_server = r#""counters": {
        "server_reads": 5.0, "server_write_bytes": 0.0, "server_writes": 0.0,"#;
    replace(&path, r#""counters": {"#, of_server);
    let counted = || {
        let counters = read_record(&dir.run_dir(CELL)).unwrap().steps.remove(0).counters;
        [metric::SERVER_READS, metric::SERVER_WRITES, metric::SERVER_WRITE_BYTES]
            .map(|metric| counters.value(metric))
    };
    assert_eq!(counted(), [Some(5.0), Some(0.0), Some(0.0)], "control groups of version 2");
    let fact = format!(r#""facts": {{ "{SERVER_WRITES_COUNTED}": "direct and synced ones only""#);
    replace(&path, r#""facts": {}"#, &(fact + "}"));
    assert_eq!(counted(), [Some(5.0), None, None]);
}

#[test]
fn a_record_of_another_run_or_experiment_is_damaged() {
    let (_root, dir) = copy();
    let manifest = dir.manifest().unwrap();
    let record = dir.run_dir(CELL).join("record.json");
    let whole = fs::read_to_string(&record).unwrap();
    let error = || dir.runs(&manifest).unwrap_err().to_string();
    let id = format!("{}/{CELL}", manifest.id);
    replace(&record, &id, &format!("20260101T000000Z-0000/{CELL}"));
    assert!(error().contains("its record does not match the plan"), "{}", error());
    fs::write(&record, whole).unwrap();
    dir.runs(&manifest).unwrap();
    replace(&record, &format!("\"id\": \"{CELL}\""), "\"id\": \"memory.c1.r2\"");
    assert!(error().contains("its record belongs to the run \"memory.c1.r2\""), "{}", error());
}
