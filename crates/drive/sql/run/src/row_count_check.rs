//! Row-count check: rows before, plus inserted, minus deleted.
//!
//! The worker counts the rows; here they are compared with the expected ones.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use engine::ApplicationSetup;
use model::record::{Finding, Severity};
use model::sql::{Part, Procedure, TrafficSpec};
use model::{OpKind, rule_code};

use crate::counted::{Calls, Tallies};

/// Most rows that are counted between two steps: a fraction of a second's work, and few pages.
///
/// Counting reads a table from end to end into the caches of the next step. Larger tables are
/// counted when the run's last step has ended. Our choice.
const COUNTED_BETWEEN_MAX: u64 = 1_000_000;
/// Share by which the rows that a procedure returns may differ from the expected ones.
const OTHER_SHARE: f64 = 0.01;
/// Standard deviations of chance below which there is no finding.
const CHANCE: f64 = 3.0;
/// Keywords of a statement that may change the number of rows.
const CHANGING: [&str; 5] = ["insert", "delete", "replace", "truncate", "merge"];

/// One copy of a table: its position among the tables, and its number.
pub type TableCopy = (u16, u32);

/// Effect of a procedure's calls on the number of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Each reported row is added.
    Adds,
    /// Each reported row is removed.
    Removes,
    /// None.
    Nothing,
    /// It cannot be known.
    Unknown,
}

/// Expected rows of one copy.
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
    /// Returns the least and the most rows possible.
    const fn range(&self) -> (u64, u64) {
        let expected = (self.before + self.inserted).saturating_sub(self.deleted);
        (expected.saturating_sub(self.slack), expected + self.slack)
    }

    const fn is_changed(&self) -> bool {
        self.inserted + self.deleted + self.failed > 0
    }
}

/// Expected row counts of one run.
#[derive(Debug)]
pub struct RowCountCheck {
    setup: ApplicationSetup,
    entries: BTreeMap<TableCopy, Entry>,
}

impl RowCountCheck {
    /// Returns a check without any table.
    pub const fn new(setup: ApplicationSetup) -> Self {
        Self { setup, entries: BTreeMap::new() }
    }

    /// Returns the application and its clients.
    pub const fn setup(&self) -> &ApplicationSetup {
        &self.setup
    }

    /// Returns the copies whose rows must be counted before the step.
    pub fn unknown(&self, step_spec: &TrafficSpec) -> Vec<TableCopy> {
        let called = self.setup.application.called(step_spec);
        let changing = called.filter(|it| matches!(effect(it), Effect::Adds | Effect::Removes));
        let copies = changing
            .flat_map(|it| (0..self.setup.copies(it.table)).map(move |copy| (it.table, copy)));
        let mut copies: Vec<_> = copies.filter(|copy| !self.entries.contains_key(copy)).collect();
        copies.sort_unstable();
        copies.dedup();
        copies
    }

    /// Notes the rows that a copy holds.
    pub fn counted(&mut self, copy: TableCopy, rows: u64) {
        self.entries.insert(copy, Entry { before: rows, ..Entry::default() });
    }

    /// Notes a step's calls.
    pub fn note(&mut self, tallies: &Tallies) {
        for ((at, copy), calls) in tallies {
            let procedure = self.setup.application.procedures.get(usize::from(*at));
            let Some(procedure) = procedure else { continue };
            let own = (procedure.table, *copy);
            let is_known = self.entries.get_mut(&own).is_none_or(|it| it.note(procedure, calls));
            if !is_known {
                self.entries.remove(&own);
            }
            if effect(procedure) != Effect::Unknown || calls.done + calls.failed == 0 {
                continue;
            }
            if procedure.reaches_other_copies() {
                let reached: Vec<_> = procedure.other_tables().chain([procedure.table]).collect();
                self.entries.retain(|(table, _), _| !reached.contains(table));
            } else {
                for other in procedure.other_tables() {
                    self.entries.remove(&(other, self.setup.reached(other, *copy)));
                }
            }
        }
    }

    /// Returns the copies to be counted now that a step has ended.
    pub fn due(&self, is_last: bool) -> Vec<TableCopy> {
        let changed = || self.entries.iter().filter(|(_, entry)| entry.is_changed());
        let rows: u64 = changed().map(|(_, entry)| entry.range().1).sum();
        let is_due = is_last || rows <= COUNTED_BETWEEN_MAX;
        changed().filter(|_| is_due).map(|(copy, _)| *copy).collect()
    }

    /// Compares a copy's rows with the expected ones, and continues from them.
    ///
    /// # Errors
    /// Names the table, the expected and the counted rows.
    pub fn check(&mut self, copy: TableCopy, found: u64) -> Result<(), String> {
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
    fn name(&self, (table, copy): TableCopy) -> String {
        let table = self.setup.application.tables.get(usize::from(table));
        table.map_or_else(String::new, |table| format!("{}{}", table.name, copy + 1))
    }

    /// Returns warnings about procedures that returned unexpected numbers of rows.
    pub fn warnings(&self, tallies: &Tallies) -> Vec<Finding> {
        let procedures = (0..).zip(&self.setup.application.procedures);
        let one = |(at, procedure): (u16, &Procedure)| {
            let mut calls = Calls::default();
            tallies.range((at, 0)..=(at, u32::MAX)).for_each(|(_, of_copy)| calls.merge(of_copy));
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

/// Returns the effect of a procedure's calls on the number of rows.
///
/// What goes to which of several tables is not reported.
fn effect(procedure: &Procedure) -> Effect {
    let has_others = procedure.other_tables().next().is_some() || procedure.reaches_other_copies();
    match procedure.kind {
        OpKind::Insert | OpKind::Delete if has_others => Effect::Unknown,
        OpKind::Insert => Effect::Adds,
        OpKind::Delete => Effect::Removes,
        OpKind::Get
        | OpKind::Put
        | OpKind::Scan
        | OpKind::MultiGet
        | OpKind::Transaction
        | OpKind::Define
        | OpKind::PartialUpdate
        | OpKind::FieldRead
        | OpKind::Append
        | OpKind::ScanSequence => {
            let mut parts = procedure.statements.all().flat_map(|it| &it.parts);
            let is_changing = |part: &Part| {
                let Part::Text(text) = part else { return false };
                let text = text.to_ascii_lowercase();
                CHANGING.iter().any(|word| text.contains(word))
            };
            if parts.any(is_changing) { Effect::Unknown } else { Effect::Nothing }
        }
    }
}

/// Returns a warning when a procedure's calls returned an unexpected number of rows.
fn other_rows(procedure: &Procedure, calls: &Calls) -> Option<Finding> {
    let expected = procedure.rows_expected.filter(|rows| *rows > 0.0)?;
    if calls.done == 0 {
        return None;
    }
    let mean = calls.rows as f64 / calls.done as f64;
    // Rows found by chance are Poisson distributed.
    let chance = CHANCE * (expected / calls.done as f64).sqrt();
    if (mean - expected).abs() <= chance.max(OTHER_SHARE * expected) {
        return None;
    }
    let (than, remedy) = if mean < expected {
        (
            "fewer",
            "some of the queried rows are missing: load more rows, or check what deleted them",
        )
    } else {
        ("more", "correct `returns` in the application, or the values that the procedure draws")
    };
    let name = &procedure.name;
    Some(Finding {
        code: rule_code::A053.to_owned(),
        severity: Severity::Warning,
        evidence: format!(
            "{than} rows per query than expected: procedure `{name}` returned {mean:.2} rows per \
             call on average, and should return {expected}"
        ),
        remedy: remedy.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use model::sql::Statement;

    use super::*;
    use crate::testing::application;

    const COPY: TableCopy = (0, 1);

    fn row_counts() -> RowCountCheck {
        let mut application = application();
        let part = Part::Text("BEGIN; delete from t; INSERT INTO t".to_owned());
        let mut both = application.procedures[3].clone();
        both.kind = OpKind::Transaction;
        both.statements.mysql = vec![Statement { parts: vec![part], ..Statement::default() }];
        application.procedures.push(both);
        RowCountCheck::new(ApplicationSetup { application: Arc::new(application), clients: 2 })
    }

    /// Tallies in which a procedure was called on copy 1.
    fn called(procedure: u16, calls: Calls) -> Tallies {
        [((procedure, 1), calls)].into()
    }

    fn calls(done: u64, failed: u64, rows: u64) -> Calls {
        Calls { done, failed, rows }
    }

    #[test]
    fn only_copies_that_a_step_changes_are_counted_before_it_and_once() {
        let mut row_counts = row_counts();
        let unknown = |row_counts: &RowCountCheck, step: &str| {
            let step_spec = row_counts.setup.application.step(step).cloned().unwrap();
            row_counts.unknown(&step_spec)
        };
        assert_eq!(unknown(&row_counts, "index"), []);
        assert_eq!(unknown(&row_counts, "query"), [(0, 0), (0, 1)], "its writers do");
        row_counts.counted((0, 0), 7);
        assert_eq!(unknown(&row_counts, "churn"), [(0, 1)]);
        assert!(row_counts.due(true).is_empty(), "nothing was changed");
    }

    #[test]
    fn rows_found_are_compared_with_those_inserted_and_deleted() {
        let mut row_counts = row_counts();
        row_counts.counted(COPY, 100);
        row_counts.note(&called(0, calls(5, 0, 50)));
        row_counts.note(&called(1, calls(2, 0, 20)));
        assert_eq!(row_counts.due(false), [COPY]);
        assert_eq!(row_counts.check(COPY, 130), Ok(()));
        assert!(row_counts.due(true).is_empty(), "counted");
        row_counts.note(&called(0, calls(1, 0, 10)));
        let reason = row_counts.check(COPY, 130).unwrap_err();
        assert!(reason.starts_with("table `pi2` holds 130 rows, and 140 are expected"), "{reason}");
    }

    #[test]
    fn a_failed_statement_allows_for_its_rows() {
        for (found, is_right) in [(140, true), (160, true), (139, false), (161, false)] {
            let mut row_counts = row_counts();
            row_counts.counted(COPY, 100);
            row_counts.note(&called(0, calls(5, 1, 50)));
            assert_eq!(row_counts.check(COPY, found).is_ok(), is_right, "{found}");
        }
        let mut row_counts = row_counts();
        row_counts.counted(COPY, 100);
        row_counts.note(&called(0, calls(0, 1, 0)));
        let reason = row_counts.check(COPY, 0).unwrap_err();
        assert!(reason.ends_with("1 failed statements allow for 10 more or fewer"), "{reason}");
    }

    #[test]
    fn a_table_with_unknown_effects_is_not_checked() {
        let mut row_counts = row_counts();
        row_counts.counted(COPY, 100);
        row_counts.note(&called(4, calls(1, 0, 3)));
        assert!(row_counts.due(true).is_empty());
        assert_eq!(row_counts.check(COPY, 5), Ok(()));
    }

    #[test]
    fn every_table_of_an_unknown_effect_is_unchecked() {
        let mut application = application();
        let mut both = application.procedures[0].clone();
        let parts = vec![Part::OtherTable(1)];
        both.statements.mysql = vec![Statement { parts, ..Statement::default() }];
        application.procedures.push(both);
        let other = model::sql::Table {
            copies: model::sql::Copies::Fixed(1),
            ..application.tables[0].clone()
        };
        application.tables.push(other);
        let setup = ApplicationSetup { application: Arc::new(application), clients: 2 };
        let mut row_counts = RowCountCheck::new(setup);
        row_counts.counted(COPY, 100);
        row_counts.counted((1, 0), 7);
        row_counts.note(&called(4, calls(1, 0, 3)));
        assert!(row_counts.entries.is_empty(), "the copy, and the other table's only one");
    }

    #[test]
    fn large_tables_are_counted_at_the_end_of_the_run() {
        let mut row_counts = row_counts();
        row_counts.counted(COPY, COUNTED_BETWEEN_MAX);
        row_counts.note(&called(0, calls(1, 0, 10)));
        assert!(row_counts.due(false).is_empty());
        assert_eq!(row_counts.due(true), [COPY]);
        assert_eq!(row_counts.check(COPY, COUNTED_BETWEEN_MAX + 10), Ok(()));
    }

    #[test]
    fn an_unexpected_row_count_beyond_chance_is_a_warning() {
        let row_counts = row_counts();
        let has_warning = |done: u64, rows: u64| {
            let warnings = row_counts.warnings(&called(2, calls(done, 0, rows)));
            !warnings.is_empty()
        };
        assert!(!has_warning(0, 0) && !has_warning(100_000, 396_500));
        assert!(has_warning(100_000, 395_000) && has_warning(100_000, 405_000));
        assert!(!has_warning(10, 25) && has_warning(10, 20));
    }
}
