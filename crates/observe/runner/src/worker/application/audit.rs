//! Row counting in the worker, before and after an application's steps.

use std::io::Write;
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use calls::Tables;
use engine::{Engine, EngineError};
use sql_run::{Counted, RowCountCheck, TableCopy};

use super::around::server_of;
use super::calls::Calls;
use crate::message::{Message, StepEnds};
use crate::worker::operations::StepContext;
use crate::worker::parent_link::Worker;

/// Interval of heartbeats while a table is counted.
const BEAT: Duration = Duration::from_millis(500);
/// Heartbeats until the server is queried whether it works on it: every 10 s.
///
/// Our choice: a connection each time is no load, and the watchdog is longer.
const BEATS_PER_CHECK: u32 = 20;

/// What a run waits for whose server does not work on its statement.
const NOT_BUSY: &str = "the server does not execute a statement that it has not answered";

impl<W: Write + Send> Worker<'_, W> {
    /// Executes one step, after a count of the rows that it changes if the application has it.
    ///
    /// # Errors
    /// When the server does not answer before the step.
    pub(super) fn application_step(
        &self,
        context: &StepContext<'_>,
        row_counts: &mut RowCountCheck,
    ) -> Result<StepEnds, EngineError> {
        let setup = row_counts.setup().clone();
        let Some(spec) = setup.application.step(&context.step.name) else {
            return Ok(self.step(context));
        };
        let unknown = row_counts.unknown(spec);
        for (copy, rows) in self.count(context.engine, &unknown)? {
            row_counts.counted(copy, rows);
        }
        let bounds = |table, copy| server_of(context.engine)?.bounds(table, copy);
        let tables = Tables::query(&setup, context.index, bounds)?;
        let counted =
            Counted::new(context.engine, &setup.application, self.clock, self.stop.clone());
        let mut ends = self.step(&StepContext {
            engine: &counted,
            operations: &Calls { tables: &tables, spec, counted: &counted },
            kinds: setup.application.called(spec).map(|procedure| procedure.kind).collect(),
            ..*context
        });
        let tallies = counted.tallies();
        row_counts.note(&tallies);
        ends.findings = row_counts.warnings(&tallies);
        // Those of a search are of the probe that confirmed.
        if ends.search.is_none() {
            ends.procedures = counted.procedures();
        }
        Ok(ends)
    }

    /// Counts the tables changed so far; returns `false` after a mismatch, which is reported.
    ///
    /// Called between two steps, outside any measured span.
    pub(super) fn audit(
        &self,
        engine: &dyn Engine,
        row_counts: &mut RowCountCheck,
        is_last: bool,
    ) -> bool {
        let due = row_counts.due(is_last);
        let checked = match self.count(engine, &due) {
            Ok(counts) => {
                counts.into_iter().try_for_each(|(copy, rows)| row_counts.check(copy, rows))
            }
            Err(error) => Err(format!("the rows of its tables could not be counted: {error}")),
        };
        let checked = checked.and_then(|()| match is_last {
            true => self.check_conditions(engine, row_counts.setup()),
            false => Ok(()),
        });
        let is_sound = checked.is_ok();
        if let Err(reason) = checked {
            self.send(&Message::Violated { reason });
        }
        is_sound
    }

    /// Counts the rows of copies, one after the other; unknown ones are left out.
    fn count(
        &self,
        engine: &dyn Engine,
        copies: &[TableCopy],
    ) -> Result<Vec<(TableCopy, u64)>, EngineError> {
        if !copies.is_empty() {
            self.send(&Message::stage("count_rows"));
        }
        let mut counts = Vec::new();
        for &(table, copy) in copies {
            let rows = self.patiently(engine, || server_of(engine)?.count_rows(table, copy))?;
            counts.extend(rows.map(|rows| ((table, copy), rows)));
        }
        Ok(counts)
    }

    /// Runs a query of the driver, however long the engine works on it.
    ///
    /// Where it does not, there are no heartbeats, and the watchdog ends the wait.
    pub(crate) fn patiently<T: Send>(
        &self,
        engine: &dyn Engine,
        query: impl FnOnce() -> Result<T, EngineError> + Send,
    ) -> Result<T, EngineError> {
        let (send, receive) = sync_channel(1);
        thread::scope(|scope| {
            let thread = thread::Builder::new().spawn_scoped(scope, move || {
                // A send fails only when the parent is gone, which ends this process.
                send.send(query()).ok();
            });
            thread
                .map_err(|error| EngineError::Fatal(format!("a query has no thread: {error}")))?;
            let mut is_busy = true;
            for beat in 1_u32.. {
                match receive.recv_timeout(BEAT) {
                    Ok(counted) => return counted,
                    Err(RecvTimeoutError::Timeout) => {
                        if beat.is_multiple_of(BEATS_PER_CHECK) {
                            is_busy = self.is_busy(engine);
                        }
                        if is_busy {
                            self.send(&Message::Heartbeat { operations: 0 });
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => {
                        let reason = "the driver panicked in a query".to_owned();
                        return Err(EngineError::Fatal(reason));
                    }
                }
            }
            unreachable!("a query ends")
        })
    }

    /// Returns whether the engine works on a statement; one that does not is reported.
    pub(crate) fn is_busy(&self, engine: &dyn Engine) -> bool {
        let is_busy = engine.is_busy();
        if !is_busy {
            self.lock_waits.report(NOT_BUSY);
        }
        is_busy
    }
}

#[cfg(test)]
mod tests {
    use crate::needs::Needs;
    use model::{metric, rule_code};
    use std::collections::BTreeMap;
    use std::io::BufReader;
    use std::net::Shutdown;
    use std::os::unix::net::UnixStream;

    use engine::Driver;
    use load::StepEnd;
    use malloc::Tunables;
    use model::record::{OpCounts, Severity};
    use model::{
        Address, Cell, DataShape, Endpoint, LoginOptions, Nanos, OpKind, Options, Settings, Step,
        StopRule, Variant,
    };

    use super::*;
    use crate::connection::{MessageReader, MessageWriter};
    use crate::message::{Command, Order, ServerOrder};
    use crate::work;
    use crate::worker::tests::toy::{CLEANING_US, Fault, Toy, application};

    /// A parent that lets the worker go on at once; returns all messages.
    fn parent(socket: UnixStream, order: Order) -> Vec<Message> {
        let mut commands = MessageWriter::new(socket.try_clone().unwrap());
        commands.send(&Command::Run(Box::new(order))).unwrap();
        let (mut reader, mut all) = (MessageReader::new(BufReader::new(socket)), Vec::new());
        while let Some(message) = reader.receive().unwrap() {
            let is_boundary = matches!(
                message,
                Message::MeasuringBegins { .. }
                    | Message::SettleBegins { .. }
                    | Message::StepEnds(_)
            );
            if is_boundary {
                commands.send(&Command::Go).unwrap();
            }
            all.push(message);
        }
        // A worker whose parent is gone would end this process.
        std::mem::forget(commands);
        all
    }

    fn order(steps: &[&str]) -> Order {
        let step = |name: &&str| {
            let application = application();
            let step_spec = application.step(name).unwrap();
            let calls = application.calls(step_spec, 400, 2);
            let end = StopRule::Duration(Nanos::from_millis(300));
            let stop = calls.map_or(end, StopRule::Operations);
            Step { clients: 2, unit: step_spec.unit, ..Step::new(*name, stop) }
        };
        Order {
            cell: Cell {
                id: "toy.c2.r1".to_owned(),
                variant: "toy".to_owned(),
                clients: 2,
                repetition: 1,
                seed: 3,
            },
            variant: Variant {
                name: "toy".to_owned(),
                build: "toy".parse().unwrap(),
                profile: None,
                options: Options::new(),
                settings: Settings::default(),
                dsn: None,
                is_control: false,
            },
            steps: steps.iter().map(step).collect(),
            range: (0, model::count(steps.len())),
            shared: None,
            data: DataShape { rows: 400, key_bytes: 8, value_bytes: 1, compressible_to: 1.0 },
            needs: Needs::default(),
            kinds: std::collections::BTreeMap::new(),
            library: None,
            server: Some(ServerOrder {
                endpoint: Endpoint {
                    address: Address::Socket("nowhere".into()),
                    user: String::new(),
                    password: None,
                    database: String::new(),
                    is_foreign: false,
                    login: LoginOptions::default(),
                },
                application: Some(application()),
                checked: Vec::new(),
            }),
            watchdog: Nanos::from_secs(120),
            dir: std::env::temp_dir(),
            allocator: None,
            member: None,
        }
    }

    /// Runs the steps on a toy with that fault; returns all messages of the worker.
    fn run(steps: &[&str], fault: Fault) -> Vec<Message> {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let order = order(steps);
        let parent = thread::spawn(move || parent(ours, order));
        let input = BufReader::new(theirs.try_clone().unwrap());
        let registry =
            move |_: &str, _: Option<&crate::Library>| Ok(Box::new(Toy(fault)) as Box<dyn Driver>);
        let output = theirs.try_clone().unwrap();
        work(input, output, &registry, &Tunables::default(), None).unwrap();
        theirs.shutdown(Shutdown::Write).unwrap();
        parent.join().unwrap()
    }

    fn ends(messages: &[Message]) -> Vec<&StepEnds> {
        let ends = messages.iter().filter_map(|message| {
            let Message::StepEnds(ends) = message else { return None };
            Some(&**ends)
        });
        ends.collect()
    }

    fn violation(messages: &[Message]) -> Option<&str> {
        messages.iter().find_map(|message| {
            let Message::Violated { reason } = message else { return None };
            Some(reason.as_str())
        })
    }

    const ALL: [&str; 4] = ["load", "index", "churn", "query"];

    /// Goal: inserts, deletes and background writers add up, over steps and copies.
    #[test]
    fn tables_of_a_correct_server_pass_the_check() {
        let messages = run(&ALL, Fault::None);
        assert_eq!(violation(&messages), None);
        let ends = ends(&messages);
        assert!(ends.iter().all(|ends| ends.end == StepEnd::Finished), "{ends:?}");
        let rows = |context: usize, wanted: OpKind| -> u64 {
            let counts = &ends[context].counts;
            let kinds = counts.clients.iter().chain(&counts.writers);
            kinds.filter(|(kind, _)| **kind == wanted).map(|(_, counts)| counts.rows).sum()
        };
        assert_eq!((rows(0, OpKind::Insert), rows(2, OpKind::Insert)), (400, 400));
        let done: u64 = ends[1].counts.clients.values().map(|counts| counts.done).sum();
        assert_eq!((rows(2, OpKind::Delete), done), (400, 2));
        assert!(rows(3, OpKind::Insert) > 0 && rows(3, OpKind::MultiGet) > 0);
        let settle = ends[2].settle.as_ref().unwrap();
        let stages: Vec<_> = settle.stages.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(stages, ["clean", "wait_idle", "wait_idle"], "what the toy has");
        assert!(ends.iter().all(|ends| ends.findings.is_empty()));
        assert!(matches!(messages.last(), Some(Message::Closed { .. })));
    }

    /// Goal: rows are counted outside the measured spans. Method: the order of messages.
    #[test]
    fn rows_are_counted_between_steps() {
        let messages = run(&["load", "churn"], Fault::None);
        let label = |message: &Message| {
            let is_count = matches!(message, Message::Stage { name, .. } if name == "count_rows");
            let labels = [
                (matches!(message, Message::StepBegins { .. }), "begins"),
                (matches!(message, Message::MeasuringBegins { .. }), "measures"),
                (matches!(message, Message::SettleBegins { .. }), "settles"),
                (matches!(message, Message::StepEnds(_)), "ends"),
                (is_count, "counts"),
            ];
            labels.into_iter().find(|(is_it, _)| *is_it).map(|(_, label)| label)
        };
        let labels: Vec<_> = messages.iter().filter_map(label).collect();
        let step = ["begins", "counts", "measures", "ends", "counts"];
        let known = ["begins", "measures", "settles", "ends", "counts"];
        assert_eq!(labels, [&step[..], &known].concat());
    }

    /// Goal: a settle's CPU is its own. Method: maintenance that burns CPU.
    #[test]
    fn settle_of_a_step_has_its_own_counters() {
        let messages = run(&["load", "churn"], Fault::None);
        let ends = ends(&messages)[1];
        let span = ends.settle.as_ref().unwrap().span.as_ref().unwrap();
        let cpu = |of: &model::Readings| of.sum(&metric::PROCESS_CPU_US).unwrap();
        assert!(cpu(&span.counters) >= CLEANING_US, "{span:?}");
        assert_eq!((span.after.is_idle, ends.after.is_idle), (Some(true), Some(true)));
    }

    /// Goal: inserter and deleter on two connections add up exactly, in steps that end by rows and
    /// in the background.
    #[test]
    fn rows_of_several_connections_add_up() {
        let messages = run(&["load", "apart", "hold"], Fault::None);
        assert_eq!(violation(&messages), None);
        let ends = ends(&messages);
        assert!(ends.iter().all(|ends| ends.end == StepEnd::Finished), "{ends:?}");
        let rows = |counts: &BTreeMap<OpKind, OpCounts>, wanted: OpKind| -> u64 {
            counts.get(&wanted).map_or(0, |counts| counts.rows)
        };
        let apart = &ends[1].counts.clients;
        assert_eq!([rows(apart, OpKind::Insert), rows(apart, OpKind::Delete)], [400, 400]);
        let own = rows(&ends[2].counts.clients, OpKind::Insert);
        assert_eq!(own, 0, "inserts of writers are none of clients");
        let writers = &ends[2].counts.writers;
        let (inserted, deleted) = (rows(writers, OpKind::Insert), rows(writers, OpKind::Delete));
        // Two clients, at most eight calls of ten rows apart, and one under way.
        assert!(inserted > 0 && inserted.abs_diff(deleted) <= 2 * 9 * 10, "{inserted} {deleted}");
    }

    /// Goal: transactions are held for their time, one after the other, by each client.
    #[test]
    fn transactions_held_open_are_recorded() {
        let messages = run(&["load", "hold"], Fault::None);
        let ends = ends(&messages);
        let holds = ends[1].holds.unwrap();
        // Of 50 ms at least, but for the last of each client, which the step's end ends.
        let most = 2 + holds.time_ns.0 / Nanos::from_millis(50).0;
        assert!((2..=most).contains(&holds.held), "{holds:?}");
        assert!(holds.longest_ns >= Nanos::from_millis(50) && holds.failed == 0, "{holds:?}");
        assert_eq!((ends[0].holds, &ends[1].end), (None, &StepEnd::Finished));
    }

    #[test]
    fn a_server_that_holds_nothing_fails_the_step() {
        let messages = run(&["load", "hold"], Fault::HoldsNothing);
        let StepEnd::Failed { reason } = &ends(&messages)[1].end else { panic!("it fails") };
        let expected =
            "a transaction cannot be held open (`hold` of the step): not supported: no snapshots";
        assert_eq!(reason, expected);
    }

    #[test]
    fn a_lost_row_ends_the_run_with_the_table_s_name() {
        let messages = run(&ALL, Fault::LosesRow);
        let reason = violation(&messages).unwrap();
        let table = if reason.contains("`pi1`") { "pi1" } else { "pi2" };
        let expected = format!(
            "table `{table}` holds 199 rows, and 200 are expected: 0 before, 200 inserted, 0 deleted"
        );
        assert_eq!(reason, expected);
        assert_eq!(ends(&messages).len(), 1, "nothing is run after it");
    }

    #[test]
    fn failed_statements_may_have_been_applied() {
        let messages = run(&["load", "churn"], Fault::FailsInserts);
        assert_eq!(violation(&messages), None);
        let ends = ends(&messages);
        let insert = &ends[0].counts.clients[&OpKind::Insert];
        assert_eq!((insert.failed, insert.done), (4, 36));
    }

    #[test]
    fn fewer_rows_than_expected_are_a_warning() {
        let messages = run(&["load", "query"], Fault::ReturnsFewer);
        let ends = ends(&messages);
        let [finding] = &ends[1].findings[..] else { panic!("{:?}", ends[1].findings) };
        assert_eq!((finding.code.as_str(), finding.severity), (rule_code::A053, Severity::Warning));
        assert!(finding.evidence.contains("`points` returned 3.00 rows per call"), "{finding:?}");
    }
}
