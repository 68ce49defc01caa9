//! Checks of pipelined operations.

use std::collections::VecDeque;

use model::{Direction, Op, OpKind, Outcome};

use super::client::describe;
use super::subject::{Subject, close, fresh_dir};
use crate::rows::Rows;
use crate::traits::{PIPELINING, Pipeline};

/// Maximum operations in flight.
const DEPTH: usize = 16;
/// Keys; every second one has a row.
const KEYS: u32 = 128;
/// Bytes of a large value: four in flight exceed a socket's buffer.
const LARGE_BYTES: usize = 64 << 10;
/// Large operations submitted before the first completion.
const LARGE_IN_FLIGHT: usize = 64;

/// Expected answer: outcome, rows and bytes.
type Expected = (Outcome, u64, u64);

/// Checks that pipelined operations complete in order, without deadlock.
pub(super) fn pipelined_operations_complete_in_order(subject: &Subject<'_>) -> Result<(), String> {
    let dir = fresh_dir()?;
    let engine = subject.open(dir.path())?;
    let mut session = engine.session().map_err(|error| format!("session failed: {error}"))?;
    match (session.pipeline(), subject.capabilities.has(PIPELINING)) {
        (None, false) => {}
        (Some(pipeline), true) => {
            small_ones(subject, &mut Queue::new(pipeline))?;
            large_ones(subject, &mut Queue::new(pipeline))?;
        }
        (pipeline, is_declared) => {
            let has_one = pipeline.is_some();
            return Err(format!(
                "pipelining is declared: {is_declared}; the session has a pipeline: {has_one}"
            ));
        }
    }
    drop(session);
    close(engine)
}

fn key(number: u32) -> Vec<u8> {
    format!("key {number:06}").into_bytes()
}

/// Returns a value of a length unique to the key.
fn value(number: u32) -> Vec<u8> {
    vec![b'v'; 100 + number as usize]
}

fn small_ones(subject: &Subject<'_>, queue: &mut Queue<'_>) -> Result<(), String> {
    for number in (0..KEYS).step_by(2) {
        let (key, value) = (key(number), value(number));
        queue.send(&Op::Put { key: &key, value: &value }, (Outcome::Done, 0, 0))?;
    }
    for number in 0..KEYS {
        let key = key(number);
        let bytes = (key.len() + value(number).len()) as u64;
        let found = (Outcome::Done, 1, bytes);
        let is_there = number % 2 == 0;
        let expected = if is_there { found } else { (Outcome::NotFound, 0, 0) };
        queue.send(&Op::Get { key: &key }, expected)?;
        let [can_scan, can_delete] = [OpKind::Scan, OpKind::Delete].map(|kind| subject.can(kind));
        if can_scan && is_there {
            let scan = Op::Scan { start: &key, limit: 1, direction: Direction::Forward };
            queue.send(&scan, found)?;
        }
        if can_delete && number % 32 == 0 {
            queue.send(&Op::Delete { key: &key }, (Outcome::Done, 0, 0))?;
            queue.send(&Op::Get { key: &key }, (Outcome::NotFound, 0, 0))?;
        }
    }
    queue.complete_all()
}

/// Submits far more than socket buffers hold before it waits for an answer.
fn large_ones(subject: &Subject<'_>, queue: &mut Queue<'_>) -> Result<(), String> {
    let value = vec![b'x'; LARGE_BYTES.min(subject.value_bytes_max())];
    let (key, other) = (key(KEYS), key(KEYS + 1));
    let put = |key| Op::Put { key, value: &value };
    let found = (Outcome::Done, 1, (key.len() + value.len()) as u64);
    queue.send(&put(&key), (Outcome::Done, 0, 0))?;
    queue.send(&Op::Get { key: &key }, found)?;
    queue.complete_all()?;
    queue.depth = 2 * LARGE_IN_FLIGHT;
    for _ in 0..LARGE_IN_FLIGHT {
        queue.send(&put(&other), (Outcome::Done, 0, 0))?;
        queue.send(&Op::Get { key: &key }, found)?;
    }
    queue.complete_all()
}

/// Operations in flight with their expected answers.
struct Queue<'a> {
    pipeline: &'a mut dyn Pipeline,
    depth: usize,
    in_flight: VecDeque<(String, Expected)>,
    rows: Rows,
}

impl<'a> Queue<'a> {
    fn new(pipeline: &'a mut dyn Pipeline) -> Self {
        Self { pipeline, depth: DEPTH, in_flight: VecDeque::new(), rows: Rows::new() }
    }

    /// Submits an operation, or executes it alone where the session requires that.
    fn send(&mut self, op: &Op<'_>, expected: Expected) -> Result<(), String> {
        if self.in_flight.len() == self.depth {
            self.complete()?;
        }
        let failed = |error| format!("{} failed: {error}", describe(op));
        if self.pipeline.submit(op).map_err(failed)? {
            self.in_flight.push_back((describe(op), expected));
            return Ok(());
        }
        self.complete_all()?;
        self.rows.clear(false);
        let outcome = self.pipeline.execute(op, &mut self.rows).map_err(failed)?;
        self.compare(&describe(op), outcome, expected)
    }

    fn complete_all(&mut self) -> Result<(), String> {
        while !self.in_flight.is_empty() {
            self.complete()?;
        }
        Ok(())
    }

    fn complete(&mut self) -> Result<(), String> {
        let Some((described, expected)) = self.in_flight.pop_front() else { return Ok(()) };
        self.rows.clear(false);
        let outcome = self.pipeline.complete(&mut self.rows);
        let outcome = outcome.map_err(|error| format!("pipelined {described} failed: {error}"))?;
        self.compare(&described, outcome, expected)
    }

    fn compare(&self, described: &str, outcome: Outcome, expected: Expected) -> Result<(), String> {
        let found = (outcome, self.rows.count(), self.rows.bytes());
        if found == expected {
            return Ok(());
        }
        Err(format!("pipelined {described}: expected {expected:?}, got {found:?}"))
    }
}
