//! What the tables of an application must hold: rows before, and inserted, less those deleted.
//!
//! Nothing is asked of the engine here: the worker counts, and is told what it should find.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::ApplicationSetup;
use model::OpKind;
use model::record::{Finding, Severity};
use model::sql::{CallMix, Part, Procedure, TrafficSpec};

use crate::counted::{Calls, Tallies};

/// Most rows that are counted between two steps: a fraction of a second's work, and few pages.
///
/// Counting reads a table from end to end, and what it leaves in a cache the next step would
/// find there. Tables beyond it are counted when the run's last step has ended.
const COUNTED_BETWEEN_MAX: u64 = 1_000_000;
/// Share by which the rows that a procedure returns may differ from those it says.
const OTHER_SHARE: f64 = 0.01;
/// Standard deviations of chance that are no finding.
const CHANCE: f64 = 3.0;
/// Words of a statement that may change how many rows there are.
const CHANGING: [&str; 5] = ["insert", "delete", "replace", "truncate", "merge"];

/// One copy of a table: its position among the tables, and its number.
pub(crate) type Copy = (u16, u32);

/// What calls of a procedure do to the number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Each row it tells of is one more.
    Adds,
    /// Each row it tells of is one less.
    Removes,
    /// None.
    Nothing,
    /// Nobody knows.
    Unknown,
}

/// What one copy must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Entry {
    /// Rows when they were last counted.
    before: u64,
    inserted: u64,
    deleted: u64,
    /// Statements that failed since, and the rows they may have changed.
    failed: u64,
    slack: u64,
}

impl Entry {
    /// Returns the least and the most rows that can be there.
    const fn range(&self) -> (u64, u64) {
        let expected = (self.before + self.inserted).saturating_sub(self.deleted);
        (expected.saturating_sub(self.slack), expected + self.slack)
    }

    const fn is_changed(&self) -> bool {
        self.inserted + self.deleted + self.failed > 0
    }
}

/// The books of one run.
#[derive(Debug)]
pub(crate) struct Books {
    setup: ApplicationSetup,
    entries: BTreeMap<Copy, Entry>,
}

impl Books {
    /// Opens empty books.
    pub(crate) const fn open(setup: ApplicationSetup) -> Self {
        Self { setup, entries: BTreeMap::new() }
    }

    /// Returns what is asked.
    pub(crate) const fn setup(&self) -> &ApplicationSetup {
        &self.setup
    }

    /// Returns the application's step of that name.
    pub(crate) fn traffic_spec(&self, step: &str) -> Option<&TrafficSpec> {
        self.setup.application.step(step)
    }

    /// Returns the copies whose rows must be counted before the step, to know what it adds to.
    pub(crate) fn unknown(&self, traffic_spec: &TrafficSpec) -> Vec<Copy> {
        let called = called(traffic_spec).into_iter();
        let procedures = called.filter_map(|at| self.setup.application.procedures.get(at));
        let changing = procedures.filter(|it| matches!(effect(it), Effect::Adds | Effect::Removes));
        let copies = changing
            .flat_map(|it| (0..self.setup.copies(it.table)).map(move |copy| (it.table, copy)));
        let mut copies: Vec<_> = copies.filter(|copy| !self.entries.contains_key(copy)).collect();
        copies.sort_unstable();
        copies.dedup();
        copies
    }

    /// Notes the rows that a copy holds.
    pub(crate) fn counted(&mut self, copy: Copy, rows: u64) {
        self.entries.insert(copy, Entry { before: rows, ..Entry::default() });
    }

    /// Notes what a step has called.
    pub(crate) fn note(&mut self, tallies: &Tallies) {
        for (at, procedure) in self.setup.application.procedures.iter().enumerate() {
            for (copy, calls) in (0..).zip(tallies.of(at)) {
                let copy = (procedure.table, copy);
                let Some(entry) = self.entries.get_mut(&copy) else { continue };
                if !entry.note(procedure, calls) {
                    self.entries.remove(&copy);
                }
            }
        }
    }

    /// Returns the copies to be counted now that a step has ended.
    pub(crate) fn due(&self, is_last: bool) -> Vec<Copy> {
        let changed = || self.entries.iter().filter(|(_, entry)| entry.is_changed());
        let rows: u64 = changed().map(|(_, entry)| entry.range().1).sum();
        let is_due = is_last || rows <= COUNTED_BETWEEN_MAX;
        changed().filter(|_| is_due).map(|(copy, _)| *copy).collect()
    }

    /// Holds the rows found in a copy against the books, and goes on from them.
    ///
    /// # Errors
    /// Names the table, what was expected and what was found.
    pub(crate) fn check(&mut self, copy: Copy, found: u64) -> Result<(), String> {
        let Some(entry) = self.entries.get(&copy).copied() else { return Ok(()) };
        self.counted(copy, found);
        let (least, most) = entry.range();
        if (least..=most).contains(&found) {
            return Ok(());
        }
        let Entry { before, inserted, deleted, failed, slack } = entry;
        let expected = (before + inserted).saturating_sub(deleted);
        let mut reason = format!(
            "table `{}` holds {found} rows, and {expected} are expected: {before} before, \
             {inserted} inserted, {deleted} deleted",
            self.name(copy)
        );
        if failed > 0 {
            // Writing to a text does not fail.
            write!(reason, "; {failed} failed statements allow for {slack} more or fewer").ok();
        }
        Err(reason)
    }

    /// Returns a copy's name.
    fn name(&self, (table, copy): Copy) -> String {
        let table = self.setup.application.tables.get(usize::from(table));
        table.map_or_else(String::new, |table| format!("{}{}", table.name, copy + 1))
    }

    /// Returns the doubts about a step whose calls returned other numbers of rows than they should.
    pub(crate) fn doubts(&self, tallies: &Tallies) -> Vec<Finding> {
        let procedures = self.setup.application.procedures.iter().enumerate();
        let one = |(at, procedure): (usize, &Procedure)| {
            let mut calls = Calls::default();
            tallies.of(at).iter().for_each(|of_copy| calls.merge(of_copy));
            other_rows(procedure, &calls)
        };
        procedures.filter_map(one).collect()
    }
}

impl Entry {
    /// Notes calls; returns whether the rows are still known.
    fn note(&mut self, procedure: &Procedure, calls: &Calls) -> bool {
        let effect = effect(procedure);
        match effect {
            Effect::Adds => self.inserted += calls.rows,
            Effect::Removes => self.deleted += calls.rows,
            Effect::Nothing => return true,
            Effect::Unknown => return calls.done + calls.failed == 0,
        }
        self.failed += calls.failed;
        self.slack += calls.failed * u64::from(procedure.rows);
        calls.failed == 0 || procedure.rows > 0
    }
}

/// Returns the positions of the procedures that a step calls.
fn called(traffic_spec: &TrafficSpec) -> Vec<usize> {
    let background = traffic_spec.background.as_ref().map(|background| &background.call_mix);
    let positions = |call_mix: &CallMix| -> Vec<usize> {
        match call_mix {
            CallMix::Mix(weights) => weights.iter().map(|(at, _)| usize::from(*at)).collect(),
            CallMix::InTurn(turns) | CallMix::Once(turns) => {
                turns.iter().map(|at| usize::from(*at)).collect()
            }
        }
    };
    traffic_spec.clients.iter().chain(background).flat_map(positions).collect()
}

/// Returns what calls of `procedure` do to the number of rows.
fn effect(procedure: &Procedure) -> Effect {
    match procedure.kind {
        OpKind::Insert => Effect::Adds,
        OpKind::Delete => Effect::Removes,
        OpKind::Get
        | OpKind::Put
        | OpKind::Scan
        | OpKind::MultiGet
        | OpKind::Transaction
        | OpKind::Define => {
            let said = &procedure.statements;
            let parts = said.postgres.iter().chain(&said.mysql).flat_map(|it| &it.parts);
            let is_changing = |part: &Part| {
                let Part::Text(text) = part else { return false };
                let text = text.to_ascii_lowercase();
                CHANGING.iter().any(|word| text.contains(word))
            };
            if parts.clone().any(is_changing) { Effect::Unknown } else { Effect::Nothing }
        }
    }
}

/// Tells of a procedure whose calls returned another number of rows than it says.
#[expect(clippy::cast_precision_loss, reason = "counts of a step stay far below 2^53")]
fn other_rows(procedure: &Procedure, calls: &Calls) -> Option<Finding> {
    let expected = procedure.rows_expected.filter(|rows| *rows > 0.0)?;
    if calls.done == 0 {
        return None;
    }
    let mean = calls.rows as f64 / calls.done as f64;
    // Rows that come by chance come as often as a Poisson process has them.
    let chance = CHANCE * (expected / calls.done as f64).sqrt();
    if (mean - expected).abs() <= chance.max(OTHER_SHARE * expected) {
        return None;
    }
    let (than, remedy) = if mean < expected {
        ("fewer", "some of what it asks for is not there: load more rows, or see who deleted them")
    } else {
        ("more", "mend `returns` in the application, or the values that are drawn for it")
    };
    let name = &procedure.name;
    Some(Finding {
        code: "A053".to_owned(),
        severity: Severity::Warning,
        evidence: format!(
            "{than} rows per query than asked: `{name}` returned {mean:.2} a call on average, and \
             should return {expected}"
        ),
        remedy: remedy.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::sql::Statement;

    use super::*;
    use crate::toy::application;

    const COPY: Copy = (0, 1);

    fn books() -> Books {
        let mut application = application();
        let part = Part::Text("BEGIN; delete from t; INSERT INTO t".to_owned());
        let mut both = application.procedures[3].clone();
        both.kind = OpKind::Transaction;
        both.statements.mysql = vec![Statement { parts: vec![part] }];
        application.procedures.push(both);
        Books::open(ApplicationSetup { application: Arc::new(application), clients: 2 })
    }

    /// Tallies in which a procedure was called on copy 1.
    fn called(books: &Books, procedure: usize, calls: Calls) -> Tallies {
        let mut tallies = Tallies::new(books.setup());
        tallies.set(procedure, 1, calls);
        tallies
    }

    fn calls(done: u64, failed: u64, rows: u64) -> Calls {
        Calls { done, failed, rows }
    }

    #[test]
    fn only_copies_that_a_step_changes_are_counted_before_it_and_once() {
        let mut books = books();
        let unknown = |books: &Books, step: &str| {
            let traffic_spec = books.traffic_spec(step).cloned().unwrap();
            books.unknown(&traffic_spec)
        };
        assert_eq!(unknown(&books, "index"), []);
        assert_eq!(unknown(&books, "query"), [(0, 0), (0, 1)], "its writers do");
        books.counted((0, 0), 7);
        assert_eq!(unknown(&books, "churn"), [(0, 1)]);
        assert!(books.due(true).is_empty(), "nothing was changed");
    }

    #[test]
    fn rows_found_are_held_against_those_inserted_and_deleted() {
        let mut books = books();
        books.counted(COPY, 100);
        books.note(&called(&books, 0, calls(5, 0, 50)));
        books.note(&called(&books, 1, calls(2, 0, 20)));
        assert_eq!(books.due(false), [COPY]);
        assert_eq!(books.check(COPY, 130), Ok(()));
        assert!(books.due(true).is_empty(), "counted");
        books.note(&called(&books, 0, calls(1, 0, 10)));
        let reason = books.check(COPY, 130).unwrap_err();
        assert!(reason.starts_with("table `pi2` holds 130 rows, and 140 are expected"), "{reason}");
    }

    #[test]
    fn a_failed_statement_allows_for_its_rows() {
        for (found, is_right) in [(140, true), (160, true), (139, false), (161, false)] {
            let mut books = books();
            books.counted(COPY, 100);
            books.note(&called(&books, 0, calls(5, 1, 50)));
            assert_eq!(books.check(COPY, found).is_ok(), is_right, "{found}");
        }
        let mut books = books();
        books.counted(COPY, 100);
        books.note(&called(&books, 0, calls(0, 1, 0)));
        let reason = books.check(COPY, 0).unwrap_err();
        assert!(reason.ends_with("1 failed statements allow for 10 more or fewer"), "{reason}");
    }

    #[test]
    fn a_table_of_which_nobody_knows_is_not_checked() {
        let mut books = books();
        books.counted(COPY, 100);
        books.note(&called(&books, 4, calls(1, 0, 3)));
        assert!(books.due(true).is_empty());
        assert_eq!(books.check(COPY, 5), Ok(()));
    }

    #[test]
    fn large_tables_are_counted_at_the_end_of_the_run() {
        let mut books = books();
        books.counted(COPY, COUNTED_BETWEEN_MAX);
        books.note(&called(&books, 0, calls(1, 0, 10)));
        assert!(books.due(false).is_empty());
        assert_eq!(books.due(true), [COPY]);
        assert_eq!(books.check(COPY, COUNTED_BETWEEN_MAX + 10), Ok(()));
    }

    #[test]
    fn rows_that_come_by_chance_are_doubted_only_when_chance_cannot_explain_it() {
        let books = books();
        let is_doubted = |done: u64, rows: u64| {
            let doubts = books.doubts(&called(&books, 2, calls(done, 0, rows)));
            !doubts.is_empty()
        };
        assert!(!is_doubted(0, 0) && !is_doubted(100_000, 396_500));
        assert!(is_doubted(100_000, 395_000) && is_doubted(100_000, 405_000));
        assert!(!is_doubted(10, 25) && is_doubted(10, 20));
    }
}
