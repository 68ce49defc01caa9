//! Operations sent ahead of their answers.

use std::collections::VecDeque;

use model::{Direction, Op, OpKind, Outcome};

use super::client::describe;
use super::subject::{Subject, close, fresh_dir};
use crate::rows::Rows;
use crate::traits::{PIPELINING, Pipeline};

/// Operations in flight at most.
const DEPTH: usize = 16;
/// Keys; every second of them has a row.
const KEYS: u32 = 128;
/// Bytes of a large value: four in flight are more than a socket holds.
const LARGE_BYTES: usize = 64 << 10;
/// Large operations sent before the first answer is asked for.
const LARGE_AHEAD: usize = 64;

/// What an operation must answer: its end, and the rows and bytes that come back.
type Expected = (Outcome, u64, u64);

/// Answers come in order, each to its operation; nothing is stuck when much is in flight.
pub(super) fn sent_ahead_is_answered_in_order(subject: &Subject<'_>) -> Result<(), String> {
    let dir = fresh_dir()?;
    let engine = subject.open(dir.path())?;
    let mut session = engine.session().map_err(|error| format!("session failed: {error}"))?;
    match (session.pipeline(), subject.capabilities.has(PIPELINING)) {
        (None, false) => {}
        (None, true) => {
            return Err("the session takes nothing ahead, as it said it does".to_owned());
        }
        (Some(_), false) => return Err("takes operations ahead, and does not say so".to_owned()),
        (Some(pipeline), true) => {
            small_ones(subject, &mut Line::new(pipeline))?;
            large_ones(subject, &mut Line::new(pipeline))?;
        }
    }
    drop(session);
    close(engine)
}

fn key(number: u32) -> Vec<u8> {
    format!("key {number:06}").into_bytes()
}

/// Returns a value whose length tells whose it is.
fn value(number: u32) -> Vec<u8> {
    vec![b'v'; 100 + number as usize]
}

fn small_ones(subject: &Subject<'_>, line: &mut Line<'_>) -> Result<(), String> {
    for number in (0..KEYS).step_by(2) {
        let (key, value) = (key(number), value(number));
        line.send(&Op::Put { key: &key, value: &value }, (Outcome::Done, 0, 0))?;
    }
    for number in 0..KEYS {
        let key = key(number);
        let bytes = (key.len() + value(number).len()) as u64;
        let found = (Outcome::Done, 1, bytes);
        let is_there = number % 2 == 0;
        let expected = if is_there { found } else { (Outcome::NotFound, 0, 0) };
        line.send(&Op::Get { key: &key }, expected)?;
        let all = [OpKind::Scan, OpKind::Delete].map(|kind| subject.can(kind));
        if all[0] && is_there {
            let scan = Op::Scan { start: &key, limit: 1, direction: Direction::Forward };
            line.send(&scan, found)?;
        }
        if all[1] && number % 32 == 0 {
            line.send(&Op::Delete { key: &key }, (Outcome::Done, 0, 0))?;
            line.send(&Op::Get { key: &key }, (Outcome::NotFound, 0, 0))?;
        }
    }
    line.drain()
}

/// Sends far more than sockets hold before it asks for an answer.
fn large_ones(subject: &Subject<'_>, line: &mut Line<'_>) -> Result<(), String> {
    let value = vec![b'x'; LARGE_BYTES.min(subject.value_bytes_max())];
    let (key, other) = (key(KEYS), key(KEYS + 1));
    let put = |key| Op::Put { key, value: &value };
    let found = (Outcome::Done, 1, (key.len() + value.len()) as u64);
    line.send(&put(&key), (Outcome::Done, 0, 0))?;
    line.send(&Op::Get { key: &key }, found)?;
    line.drain()?;
    line.depth = 2 * LARGE_AHEAD;
    for _ in 0..LARGE_AHEAD {
        line.send(&put(&other), (Outcome::Done, 0, 0))?;
        line.send(&Op::Get { key: &key }, found)?;
    }
    line.drain()
}

/// Operations in flight, with what each must answer.
struct Line<'a> {
    pipeline: &'a mut dyn Pipeline,
    depth: usize,
    flight: VecDeque<(String, Expected)>,
    rows: Rows,
}

impl<'a> Line<'a> {
    fn new(pipeline: &'a mut dyn Pipeline) -> Self {
        Self { pipeline, depth: DEPTH, flight: VecDeque::new(), rows: Rows::new() }
    }

    /// Sends an operation, or executes it where the session asks for that.
    fn send(&mut self, op: &Op<'_>, expected: Expected) -> Result<(), String> {
        if self.flight.len() == self.depth {
            self.take()?;
        }
        let failed = |error| format!("{} failed: {error}", describe(op));
        if self.pipeline.submit(op).map_err(failed)? {
            self.flight.push_back((describe(op), expected));
            return Ok(());
        }
        self.drain()?;
        self.rows.clear(false);
        let outcome = self.pipeline.execute(op, &mut self.rows).map_err(failed)?;
        self.compare(&describe(op), outcome, expected)
    }

    fn drain(&mut self) -> Result<(), String> {
        while !self.flight.is_empty() {
            self.take()?;
        }
        Ok(())
    }

    fn take(&mut self) -> Result<(), String> {
        let Some((described, expected)) = self.flight.pop_front() else { return Ok(()) };
        self.rows.clear(false);
        let outcome = self.pipeline.complete(&mut self.rows);
        let outcome = outcome.map_err(|error| format!("{described}, ahead, failed: {error}"))?;
        self.compare(&described, outcome, expected)
    }

    fn compare(&self, described: &str, outcome: Outcome, expected: Expected) -> Result<(), String> {
        let found = (outcome, self.rows.count(), self.rows.bytes());
        if found == expected {
            return Ok(());
        }
        Err(format!("{described}, sent ahead: expected {expected:?}, found {found:?}"))
    }
}
