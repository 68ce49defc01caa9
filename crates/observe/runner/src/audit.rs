//! The worker's part of an application's step: what is known of the tables before, and whether
//! they hold what they must after.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use engine::{Engine, EngineError};
use workload::Tables;

use crate::books::{Books, Copy};
use crate::counted::Counted;
use crate::message::{Message, StepEnd, StepEnds};
use crate::trial::At;
use crate::worker::Worker;

/// How often the parent hears that the worker lives while a table is counted.
const BEAT: Duration = Duration::from_millis(500);

impl<W: Write + Send> Worker<'_, W> {
    /// Executes one step, and keeps `books` on what it did when it is one of the application.
    ///
    /// # Errors
    /// When the parent is gone.
    pub(crate) fn kept_step(&self, at: &At<'_>, books: &mut Books) -> Result<StepEnds, String> {
        let Some(traffic) = books.traffic(&at.step.name) else { return self.step(at) };
        let unknown = books.unknown(traffic);
        let failed = |error: EngineError| {
            let end = StepEnd::Failed { reason: error.to_string() };
            StepEnds { index: at.index, end, ..StepEnds::default() }
        };
        for (copy, rows) in match self.count(at.engine, &unknown)? {
            Ok(counts) => counts,
            Err(error) => return Ok(failed(error)),
        } {
            books.counted(copy, rows);
        }
        let bounds = |table, copy| at.engine.bounds(table, copy);
        let tables = match Tables::ask(books.asked(), at.index, bounds) {
            Ok(tables) => tables,
            Err(error) => return Ok(failed(error)),
        };
        let counted = Counted::new(at.engine, books.asked());
        let mut ends = self.step(&At {
            engine: &counted,
            tables: Some(&tables),
            kinds: at.kinds.clone(),
            ..*at
        })?;
        let tallies = counted.tallies();
        books.note(&tallies);
        ends.findings = books.doubts(&tallies);
        Ok(ends)
    }

    /// Counts the tables that the steps so far have changed; returns `false` when one does not
    /// hold what it must, which has then been told.
    ///
    /// Called between two steps: nothing of it is in any measured span.
    ///
    /// # Errors
    /// When the parent is gone.
    pub(crate) fn audit(
        &self,
        engine: &dyn Engine,
        books: &mut Books,
        is_last: bool,
    ) -> Result<bool, String> {
        let due = books.due(is_last);
        let checked = match self.count(engine, &due)? {
            Ok(counts) => counts.into_iter().try_for_each(|(copy, rows)| books.check(copy, rows)),
            Err(error) => Err(format!("the rows of its tables could not be counted: {error}")),
        };
        match checked {
            Ok(()) => Ok(true),
            Err(reason) => self.say(&Message::Violated { reason }).map(|()| false),
        }
    }

    /// Counts the rows of copies, one after the other; those an engine does not tell are left out.
    ///
    /// # Errors
    /// When the parent is gone.
    fn count(
        &self,
        engine: &dyn Engine,
        copies: &[Copy],
    ) -> Result<Result<Vec<(Copy, u64)>, EngineError>, String> {
        if !copies.is_empty() {
            self.say(&Message::Stage { name: "count_rows".to_owned() })?;
        }
        let mut counts = Vec::new();
        for copy in copies {
            match self.count_one(engine, *copy)? {
                Ok(Some(rows)) => counts.push((*copy, rows)),
                Ok(None) => {}
                Err(error) => return Ok(Err(error)),
            }
        }
        Ok(Ok(counts))
    }

    /// Counts the rows of one copy, however long that takes.
    fn count_one(
        &self,
        engine: &dyn Engine,
        (table, copy): Copy,
    ) -> Result<Result<Option<u64>, EngineError>, String> {
        let (send, receive) = sync_channel(1);
        thread::scope(|scope| {
            scope.spawn(move || {
                // A send fails only when the parent is gone, and then so is this process.
                send.send(engine.count_rows(table, copy)).ok();
            });
            loop {
                match receive.recv_timeout(BEAT) {
                    Ok(counted) => return Ok(counted),
                    Err(RecvTimeoutError::Timeout) => {
                        self.say(&Message::Heartbeat { operations: 0 })?;
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        let reason = "the driver panicked while it counted rows".to_owned();
                        return Ok(Err(EngineError::Fatal(reason)));
                    }
                }
            }
        })
    }
}
