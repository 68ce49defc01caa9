//! Every step against a simple engine, and against corrupted answers.

#![expect(clippy::unwrap_used, reason = "a test's own helpers may panic like the test")]

use engine::memory::MemoryDriver;
use engine::{Driver, Engine, OpenSpec, Rows};
use model::{Bytes, DataShape, Nanos, OpKind, Settings, Step, StepInfo, StopRule};
use workload::{Group, Presence, Request, WorkloadError, WrongAnswer, catalog, generators};

const ROWS: u64 = 997;
/// Operations of a step that ends by duration, all clients together.
const OPERATIONS: u64 = 1000;

fn data() -> DataShape {
    DataShape { rows: ROWS, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 }
}

fn step(name: &str) -> Step {
    let info = catalog().into_iter().find(|info| info.name == name).unwrap();
    let count = match info.share_of_rows {
        Some(share) if share < 1.0 => ROWS / 10,
        Some(_) => ROWS,
        None => OPERATIONS,
    };
    Step {
        clients: if info.is_single_client { 1 } else { 3 },
        writer_bytes_per_s: info.has_writer.then_some(Bytes::MIB),
        field_bytes: 20,
        ..Step::new(name, StopRule::Operations(count))
    }
}

/// What a step did: operations, rows read and values verified.
#[derive(Debug, Default, PartialEq)]
struct Tally {
    operations: u64,
    rows: u64,
    verified: u64,
}

/// Executes one step, turn by turn over all clients and the writer; every answer is checked.
fn execute(engine: &dyn Engine, step: &Step, presence: Presence) -> Result<Tally, WrongAnswer> {
    let data = data();
    let request = Request { step, data: &data, seed: 11, presence, group: Group::Clients };
    let mut clients = generators(&request).unwrap();
    let mut writers = generators(&Request { group: Group::Writers, ..request }).unwrap();
    let mut session = engine.session().unwrap();
    let mut rows = Rows::new();
    let mut tally = Tally::default();
    while !clients.is_empty() {
        let mut ended = Vec::new();
        for (index, client) in clients.iter_mut().enumerate() {
            rows.clear(true);
            let Some(op) = client.next() else {
                ended.push(index);
                continue;
            };
            session.execute(&op, &mut rows).unwrap();
            tally.operations += 1;
            tally.rows += if op.kind().is_write() { 0 } else { rows.count() };
            tally.verified += client.check(&rows)?;
        }
        for index in ended.into_iter().rev() {
            drop(clients.remove(index));
        }
        for writer in &mut writers {
            rows.clear(false);
            session.execute(&writer.next().expect("a writer has no end"), &mut rows).unwrap();
        }
    }
    Ok(tally)
}

fn open(dir: &tempfile::TempDir) -> Box<dyn Engine> {
    let spec = OpenSpec::embedded(dir.path().to_owned(), Settings::default(), data());
    MemoryDriver.open(&spec).unwrap()
}

/// Executes steps one after the other; returns what each did.
fn run(steps: &[Step]) -> Vec<Tally> {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir);
    let mut presence = Presence::Some;
    let mut tallies = Vec::new();
    for step in steps {
        let tally = execute(engine.as_ref(), step, presence).unwrap_or_else(|e| panic!("{e}"));
        presence = workload::presence_after(&step.name, presence);
        tallies.push(tally);
    }
    tallies
}

/// Returns whether a step reads rows that are there.
fn finds(info: &StepInfo) -> bool {
    info.name != "readmissing" && info.needs.iter().any(|kind| !kind.is_write())
}

#[test]
fn every_step_gets_right_answers_from_the_oracle() {
    // Goal: no right answer is rejected. Method: fill, then every step, every answer
    // checked; reads of a full key space verify as many values as they read rows.
    for fill in ["fillseq", "filluniquerandom", "fillrandom"] {
        for info in catalog() {
            let tallies = run(&[step(fill), step(&info.name), step("readrandom")]);
            assert_eq!(tallies[0].operations, ROWS, "{fill}");
            assert_eq!(tallies[1].rows, tallies[1].verified, "{}", info.name);
            assert_eq!(tallies[1].rows > 0, finds(&info), "{}", info.name);
        }
    }
}

#[test]
fn every_distribution_works_with_every_kind_of_operation() {
    let distributions =
        ["sequential", "zipf:0.5", "zipf:1.2", "latest", "hotspot:64.512", "hotspot:8.64"];
    for distribution in distributions {
        for info in catalog() {
            let setup = Step { distribution: distribution.to_owned(), ..step(&info.name) };
            let tallies = run(&[step("fillseq"), setup]);
            assert_eq!(tallies[1].rows, tallies[1].verified, "{} {distribution}", info.name);
            let finds = finds(&info);
            assert_eq!(tallies[1].rows > 0, finds, "{} {distribution}", info.name);
            let has_clients = !info.needs.is_empty();
            assert_eq!(tallies[1].operations > 0, has_clients, "{} {distribution}", info.name);
        }
    }
}

#[test]
fn fills_write_every_row_once_whatever_the_number_of_clients() {
    // Goal: parts neither overlap nor leave a gap. Method: fill with n clients, then read
    // every row in key order; the operations are as many as the rows, so none was written twice.
    for fill in ["fillseq", "filluniquerandom"] {
        for clients in [1, 2, 3, 7, 64] {
            let fill = Step { clients, ..step(fill) };
            let count = StopRule::Operations(ROWS);
            let scan =
                Step { distribution: "sequential".to_owned(), stop: count, ..step("readrandom") };
            let tallies = run(&[fill, scan]);
            assert_eq!(tallies[0].operations, ROWS);
            assert_eq!(tallies[1], Tally { operations: ROWS, rows: ROWS, verified: ROWS });
        }
    }
}

#[test]
fn random_fills_leave_gaps_and_deletes_make_them() {
    let count = StopRule::Operations(ROWS);
    let scan = Step { distribution: "sequential".to_owned(), stop: count, ..step("readrandom") };
    let tallies = run(&[step("fillrandom"), scan.clone()]);
    // With replacement a row stays absent with probability 1/e; the standard deviation is 1 %.
    let share = tallies[1].rows as f64 / ROWS as f64;
    assert!((share - 0.632).abs() < 0.05, "{share}");
    let tallies = run(&[step("fillseq"), step("deleterandom"), scan]);
    let gone = ROWS - tallies[2].rows;
    assert!((80..=100).contains(&gone), "{gone} of {ROWS} rows are gone");
}

#[test]
fn a_step_by_count_is_divided_without_remainder() {
    for (clients, count) in [(1, 10), (3, 10), (7, 3), (64, 1000)] {
        let stop = StopRule::Operations(count);
        let tallies = run(&[step("fillseq"), Step { clients, stop, ..step("readrandom") }]);
        assert_eq!(tallies[1].operations, count);
    }
}

#[test]
fn a_step_by_duration_has_no_end_and_a_fill_ends_with_the_rows() {
    let endless = StopRule::Duration(Nanos::SECOND);
    let data = data();
    for (name, end) in [("overwrite", None), ("fillseq", Some(ROWS))] {
        let step = Step { clients: 1, stop: endless, ..step(name) };
        let (presence, group) = (Presence::Some, Group::Clients);
        let request = Request { step: &step, data: &data, seed: 1, presence, group };
        let mut client = generators(&request).unwrap().remove(0);
        let done = (0..10 * ROWS).take_while(|_| client.next().is_some()).count() as u64;
        assert_eq!(done, end.unwrap_or(10 * ROWS), "{name}");
    }
}

/// A row: key and value.
type Row = (Vec<u8>, Vec<u8>);
/// Makes a corrupted answer from the true one.
type Corruption = fn(&[Row], &mut Rows);

/// Returns the result of checking the first answer of `name` after `corrupt`.
fn check_corrupted(name: &str, presence: Presence, corrupt: Corruption) -> String {
    let dir = tempfile::tempdir().unwrap();
    let engine = open(&dir);
    execute(engine.as_ref(), &step("fillseq"), Presence::Some).unwrap();
    let (data, step) = (data(), Step { clients: 1, ..step(name) });
    let request = Request { step: &step, data: &data, seed: 5, presence, group: Group::Clients };
    let mut client = generators(&request).unwrap().remove(0);
    let mut rows = Rows::new();
    rows.clear(true);
    let op = client.next().unwrap();
    engine.session().unwrap().execute(&op, &mut rows).unwrap();
    let truth: Vec<_> = rows.stored().map(|(key, value)| (key.to_vec(), value.to_vec())).collect();
    rows.clear(true);
    corrupt(&truth, &mut rows);
    match client.check(&rows) {
        Ok(_) => "accepted".to_owned(),
        Err(wrong) => wrong.to_string(),
    }
}

fn push_all(truth: &[Row], rows: &mut Rows) {
    truth.iter().for_each(|(key, value)| rows.push(key, value));
}

#[test]
fn corrupted_points_are_found() {
    let all = |corrupt: Corruption| check_corrupted("readrandom", Presence::All, corrupt);
    assert_eq!(all(push_all), "accepted");
    assert!(all(|_, _| ()).contains("every row was written"));
    assert!(all(|truth, rows| (0..2).for_each(|_| push_all(truth, rows))).contains("2 rows"));
    let other = all(|truth, rows| rows.push(&[0; 20], &truth[0].1));
    assert!(other.contains("wrong answer to get of id") && other.contains("came back"), "{other}");
    let shortened = all(|truth, rows| rows.push(&truth[0].0, &truth[0].1[..99]));
    assert!(shortened.contains("99 bytes, not 100"), "{shortened}");
    let damaged = all(|truth, rows| {
        let mut value = truth[0].1.clone();
        value[50] ^= 1;
        rows.push(&truth[0].0, &value);
    });
    assert!(damaged.contains("damaged at byte 50"), "{damaged}");
    assert_eq!(check_corrupted("readrandom", Presence::Some, |_, _| ()), "accepted");
    let found = check_corrupted("readmissing", Presence::Some, |_, rows| rows.push(b"k", b"v"));
    assert!(found.contains("never written"), "{found}");
}

#[test]
fn corrupted_ranges_are_found() {
    for name in ["fwdrange", "revrange"] {
        let all = |corrupt: Corruption| check_corrupted(name, Presence::All, corrupt);
        let some = |corrupt: Corruption| check_corrupted(name, Presence::Some, corrupt);
        assert_eq!((all(push_all), some(push_all)), ("accepted".to_owned(), "accepted".to_owned()));
        assert!(all(|truth, rows| push_all(&truth[..9], rows)).contains("10 should have"));
        assert_eq!(some(|truth, rows| push_all(&truth[..9], rows)), "accepted");
        assert_eq!(some(|truth, rows| push_all(&truth[2..], rows)), "accepted");
        assert!(
            all(|truth, rows| {
                push_all(&truth[..8], rows);
                push_all(&truth[9..], rows);
                push_all(&truth[9..], rows);
            })
            .contains("left out")
        );
        let swapped = |truth: &[Row], rows: &mut Rows| {
            truth.iter().rev().for_each(|(key, value)| rows.push(key, value));
        };
        assert!(some(swapped).contains("out of order"));
        let twice = |truth: &[Row], rows: &mut Rows| {
            push_all(&truth[..1], rows);
            push_all(&truth[..1], rows);
        };
        assert!(some(twice).contains("out of order"));
        assert!(some(|truth, rows| (0..2).for_each(|_| push_all(truth, rows))).contains("20 rows"));
        assert!(
            some(|truth, rows| rows.push(b"alien", &truth[0].1)).contains("not the key of a row")
        );
        let moved = |truth: &[Row], rows: &mut Rows| {
            rows.push(&truth[1].0, &truth[0].1);
        };
        assert!(some(moved).contains("another row"));
        // The rows on the wrong side of the start are well-formed, and out of bounds.
        let end: Corruption = match name {
            "fwdrange" => |truth, rows| rows.push(&neighbour(&truth[0].0, -1), &truth[0].1),
            _ => |truth, rows| rows.push(&neighbour(&truth[0].0, 1), &truth[0].1),
        };
        assert!(some(end).contains("before the start"));
    }
}

fn neighbour(key: &[u8], distance: i64) -> Vec<u8> {
    let (id, padding) = key.split_first_chunk().unwrap();
    let id = u64::from_be_bytes(*id).wrapping_add_signed(distance);
    [&id.to_be_bytes()[..], padding].concat()
}

#[test]
fn corrupted_batches_are_found() {
    let all = |corrupt: Corruption| check_corrupted("multireadrandom", Presence::All, corrupt);
    assert_eq!(all(push_all), "accepted");
    let reversed = |truth: &[Row], rows: &mut Rows| {
        truth.iter().rev().for_each(|(key, value)| rows.push(key, value));
    };
    assert_eq!(all(reversed), "accepted", "an engine may answer in its own order");
    assert!(all(|truth, rows| push_all(&truth[1..], rows)).contains("every row was written"));
    let unrequested = |truth: &[Row], rows: &mut Rows| {
        push_all(truth, rows);
        push_all(&truth[..1], rows);
    };
    assert!(all(unrequested).contains("not requested"));
    let some = check_corrupted("multireadrandom", Presence::Some, |truth, rows| {
        push_all(&truth[3..], rows)
    });
    assert_eq!(some, "accepted");
}

#[test]
fn impossible_steps_are_rejected_by_name() {
    let refusal = |step: &Step, data: &DataShape| workload::check(step, data).unwrap_err();
    let unknown = Step { name: "readrandon".to_owned(), ..step("readrandom") };
    assert!(matches!(refusal(&unknown, &data()), WorkloadError::UnknownStep(..)));
    assert!(refusal(&unknown, &data()).to_string().contains("readrandom, readmissing"));
    let skewed = Step { distribution: "zipf:0".to_owned(), ..step("readrandom") };
    assert!(refusal(&skewed, &data()).to_string().contains("above 0 and at most 10"));
    let read = step("readrandom");
    for (data, word) in [
        (DataShape { rows: 0, ..data() }, "rows"),
        (DataShape { key_bytes: 7, ..data() }, "key_bytes"),
        (DataShape { compressible_to: 0.0, ..data() }, "compressible_to"),
        (DataShape { compressible_to: f64::NAN, ..data() }, "compressible_to"),
    ] {
        assert!(refusal(&read, &data).to_string().contains(word), "{word}");
    }
    let tight = DataShape { key_bytes: 8, ..data() };
    assert!(workload::check(&read, &tight).is_ok());
    assert!(refusal(&step("readmissing"), &tight).to_string().contains("at least 9"));
    for broken in [
        Step { clients: 0, ..read.clone() },
        Step { range_rows: 0, ..read.clone() },
        Step { batch_keys: 0, ..read.clone() },
        Step { field_bytes: 7, ..read.clone() },
        Step { field_bytes: 85, ..step("partialupdate") },
        Step { writer_bytes_per_s: Some(Bytes(0)), ..step("readwhilewriting") },
    ] {
        assert!(matches!(refusal(&broken, &data()), WorkloadError::Step(..)));
    }
    let kinds = catalog().into_iter().flat_map(|info| info.needs);
    let every = OpKind::KEY_VALUE.into_iter().chain([OpKind::ScanSequence]).collect();
    assert_eq!(kinds.collect::<std::collections::BTreeSet<_>>(), every);
}
