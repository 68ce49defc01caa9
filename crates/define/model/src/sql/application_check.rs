//! Checks of an application's sizes and figures: those of the plan, and of files from elsewhere.

use std::collections::BTreeSet;

use crate::limits::{
    ATTEMPTS_MAX, CLIENTS_MAX, HOLD_SECONDS_MAX, PAUSE_MAX_MS, PROCEDURES_MAX, RETRY_MAX,
    STATEMENT_VALUES_MAX, STATEMENTS_MAX, TEXT_BYTES_MAX, WAIT_MAX_MS, check_number, check_share,
    check_time, is_sql_name,
};
use crate::sql::draw::Draw;
use crate::sql::{
    Application, CallMix, CallPolicy, Copies, Part, Procedure, Retry, Statement, Table, TrafficSpec,
};
use crate::units::Nanos;

/// Syllables that stand for digits.
const DIGITS: u64 = 10;

impl Application {
    /// Checks its sizes, names and figures, and that what it refers to is there.
    ///
    /// # Errors
    /// The field, its value, and what it may be.
    pub(crate) fn check(&self) -> Result<(), String> {
        check_number("row_bytes", u64::from(self.row_bytes), (1, u64::from(u32::MAX)))?;
        for (index, table) in self.tables.iter().enumerate() {
            table.check().map_err(|reason| format!("tables[{index}].{reason}"))?;
        }
        for (index, procedure) in self.procedures.iter().enumerate() {
            let checked = procedure.check(self.tables.len());
            checked.map_err(|reason| format!("procedures[{index}].{reason}"))?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            self.check_calls(step).map_err(|reason| format!("steps[{index}].{reason}"))?;
        }
        Ok(())
    }

    /// Checks the calls of a step.
    fn check_calls(&self, step: &TrafficSpec) -> Result<(), String> {
        let called: BTreeSet<u16> = step.positions().collect();
        check_number("procedures", called.len() as u64, (0, PROCEDURES_MAX as u64))?;
        let mut statements = 0;
        for at in called {
            let Some(procedure) = self.procedure(at) else {
                return Err(format!("procedure is {at}, which the application does not have"));
            };
            let written = &procedure.statements;
            statements += written.postgres.len().max(written.mysql.len());
        }
        check_number("statements", statements as u64, (0, STATEMENTS_MAX as u64))?;
        if let Some(hold) = &step.hold {
            check_time("hold", hold.time_ns, Nanos::from_secs(HOLD_SECONDS_MAX.into()))?;
        }
        if let Some(background) = &step.background {
            let rate = background.rows_per_s;
            if !(1.0..=f64::from(u32::MAX)).contains(&rate) {
                return Err(format!("background.rows_per_s is {rate:e}, not from 1 to 2^32"));
            }
        }
        if let Some(rows) = step.rows
            && !(rows.share >= 0.0 && rows.share.is_finite())
        {
            return Err(format!("rows.share is {:e}, not 0 or above", rows.share));
        }
        let mixes = step.clients.iter().chain(step.background.iter().map(|it| &it.call_mix));
        mixes.into_iter().try_for_each(check_mix)
    }
}

/// Checks that a list of calls is no longer than a client's connections may be many.
fn check_mix(mix: &CallMix) -> Result<(), String> {
    check_number("calls", mix.positions().count() as u64, (1, u64::from(CLIENTS_MAX)))
}

impl Table {
    fn check(&self) -> Result<(), String> {
        for name in [Some(&self.name), self.id.as_ref()].into_iter().flatten() {
            if !is_sql_name(name) {
                return Err(format!("name is {name:?}, not letters, digits and `_`"));
            }
        }
        match self.copies {
            Copies::PerClient => Ok(()),
            Copies::Fixed(count) => {
                check_number("copies", u64::from(count), (1, u64::from(CLIENTS_MAX)))
            }
        }
    }
}

impl Procedure {
    fn check(&self, tables: usize) -> Result<(), String> {
        check_position("table", self.table, tables)?;
        let in_order = self.arguments.iter().enumerate().chain(self.row.iter().enumerate());
        for (at, draw) in in_order {
            draw.check(at).map_err(|reason| format!("value {}: {reason}", at + 1))?;
        }
        for statement in self.statements.all().chain(&self.myrocks) {
            check_number("values", statement.values(self.rows), (0, STATEMENT_VALUES_MAX))?;
            let read = statement.reads.iter().map(|read| read.argument).chain(statement.copy);
            for position in read {
                check_position("reads", position, self.arguments.len())?;
            }
            for part in &statement.parts {
                self.check_part(part, tables)?;
            }
        }
        self.policy.check().map_err(|reason| format!("policy.{reason}"))
    }

    fn check_part(&self, part: &Part, tables: usize) -> Result<(), String> {
        match part {
            Part::Text(_) | Part::Table => Ok(()),
            Part::OtherTable(position) => check_position("other_table", *position, tables),
            Part::Argument(position) => check_position("argument", *position, self.arguments.len()),
            Part::RowArgument(position) => {
                check_position("row_argument", *position, self.row.len())
            }
            Part::Rows(parts) => parts.iter().try_for_each(|part| self.check_part(part, tables)),
        }
    }
}

impl Statement {
    /// Returns how many values it has, where a call writes so many rows.
    pub fn values(&self, rows: u32) -> u64 {
        let of_part = |part: &Part| match part {
            Part::Rows(row) => {
                let values = row.iter().filter(|part| part.is_value()).count();
                (values as u64).saturating_mul(u64::from(rows))
            }
            Part::Argument(_) | Part::RowArgument(_) => 1,
            Part::Text(_) | Part::Table | Part::OtherTable(_) => 0,
        };
        self.parts.iter().map(of_part).fold(0, u64::saturating_add)
    }
}

impl Part {
    const fn is_value(&self) -> bool {
        matches!(self, Self::Argument(_) | Self::RowArgument(_))
    }
}

impl Draw {
    /// Checks the figures of the value at position `at` among those drawn together.
    fn check(&self, at: usize) -> Result<(), String> {
        let counts = |field, count: u64| check_number(field, count, (1, i64::MAX.unsigned_abs()));
        match self {
            Self::Pattern(pattern) => check_text("pattern", pattern.len()),
            Self::Payload { bytes_max, .. } => {
                check_number("bytes_max", u64::from(*bytes_max), (0, u64::from(TEXT_BYTES_MAX)))
            }
            Self::Nurand { a, c, count, .. } => {
                counts("a", *a)?;
                check_number("c", *c, (0, *a))?;
                counts("count", *count)
            }
            Self::Chance(share) => check_share("chance", *share),
            Self::Part { of, divide, modulo, .. } => {
                counts("divide", *divide)?;
                counts("modulo", *modulo)?;
                check_position("of", *of, at)
            }
            Self::Syllables { syllables, of } => {
                check_number("syllables", syllables.len() as u64, (DIGITS, DIGITS))?;
                check_text("syllables", syllables.iter().map(String::len).sum())?;
                check_position("of", *of, at)
            }
            Self::Other { of, share, count, .. } => {
                check_share("share", *share)?;
                counts("count", *count)?;
                check_position("of", *of, at)
            }
            Self::Integer { count, .. } => counts("count", *count),
            Self::Real { .. }
            | Self::Moment { .. }
            | Self::Id
            | Self::FirstId
            | Self::Number
            | Self::Read(_) => Ok(()),
        }
    }
}

impl CallPolicy {
    fn check(&self) -> Result<(), String> {
        let most = Nanos::from_millis(WAIT_MAX_MS);
        check_time("keying", self.keying, most)?;
        check_time("think", self.think, most)?;
        check_time("limit", self.limit.unwrap_or_default(), most)?;
        self.retry.as_ref().map_or(Ok(()), Retry::check)
    }
}

impl Retry {
    fn check(&self) -> Result<(), String> {
        check_number("retry.attempts", u64::from(self.attempts), (2, u64::from(ATTEMPTS_MAX)))?;
        check_time("retry.pause_max", self.pause_max, Nanos::from_millis(PAUSE_MAX_MS))?;
        check_time("retry.pause", self.pause, self.pause_max)?;
        check_time("all pauses of retry", self.all_pauses(), RETRY_MAX)
    }

    /// Returns the time of all pauses of a call that fails each time.
    pub fn all_pauses(&self) -> Nanos {
        (2..=self.attempts).map(|attempt| self.pause_before(attempt)).fold(Nanos(0), Nanos::after)
    }
}

/// Checks that a position is one of so many.
fn check_position(field: &str, position: u16, count: usize) -> Result<(), String> {
    match usize::from(position) < count {
        true => Ok(()),
        false => Err(format!("{field} is {position}, but there are {count}")),
    }
}

/// Checks the length of a text.
fn check_text(field: &str, bytes: usize) -> Result<(), String> {
    check_number(field, bytes as u64, (0, u64::from(TEXT_BYTES_MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capability::OpKind;
    use crate::sql::{Background, Condition, Connections, Hold, PerDialect, RowCount};
    use crate::step::StepRole;

    /// Returns an application within the limits.
    fn sound() -> Application {
        let retry = Retry { attempts: 5, pause: Nanos(1), pause_max: Nanos(9) };
        let insert = Procedure {
            arguments: vec![Draw::Id, Draw::Part { of: 0, divide: 1, modulo: 3, add: 0 }],
            row: vec![Draw::Number],
            rows: 9,
            statements: PerDialect {
                postgres: vec![Statement {
                    parts: vec![
                        Part::Table,
                        Part::OtherTable(0),
                        Part::Argument(1),
                        Part::Rows(vec![Part::RowArgument(0)]),
                    ],
                    conditions: vec![Condition::Found(true)],
                    ..Statement::default()
                }],
                mysql: Vec::new(),
            },
            policy: CallPolicy { retry: Some(retry), ..CallPolicy::default() },
            ..Procedure::new("insert", OpKind::Insert)
        };
        let table = Table {
            name: "sale".to_owned(),
            copies: Copies::Fixed(2),
            create: PerDialect::default(),
            id: Some("id".to_owned()),
        };
        let step = TrafficSpec {
            clients: Some(CallMix::InTurn(vec![0])),
            hold: Some(Hold { procedure: 0, time_ns: Nanos::SECOND }),
            background: Some(Background {
                call_mix: CallMix::InTurn(vec![0]),
                rows_per_s: 100.0,
                connections: Connections::One,
            }),
            rows: Some(RowCount { share: 0.5, fixed: 0 }),
            ..TrafficSpec::new("fill", StepRole::Load)
        };
        Application {
            tables: vec![table],
            procedures: vec![insert],
            steps: vec![step],
            ..Application::new("sales")
        }
    }

    fn drawing(application: &mut Application, draw: Draw) {
        application.procedures[0].arguments[1] = draw;
    }

    fn part(application: &mut Application, part: Part) {
        application.procedures[0].statements.postgres[0].parts.push(part);
    }

    fn retry(application: &mut Application) -> &mut Retry {
        application.procedures[0].policy.retry.as_mut().expect("it retries")
    }

    type Change = fn(&mut Application);

    const BEYOND: [(&str, Change); 24] = [
        ("row_bytes is 0", |it| it.row_bytes = 0),
        ("tables[0].name is", |it| it.tables[0].name = "a; DROP".to_owned()),
        ("tables[0].name is", |it| it.tables[0].id = Some(String::new())),
        ("copies is 5000", |it| it.tables[0].copies = Copies::Fixed(5_000)),
        ("table is 7", |it| it.procedures[0].table = 7),
        ("values is 99002", |it| it.procedures[0].rows = 99_001),
        ("other_table is 1", |it| part(it, Part::OtherTable(1))),
        ("argument is 2", |it| part(it, Part::Argument(2))),
        ("row_argument is 1", |it| part(it, Part::Rows(vec![Part::RowArgument(1)]))),
        ("pattern is 2000000", |it| drawing(it, Draw::Pattern("#".repeat(2_000_000)))),
        ("chance is 2e0", |it| drawing(it, Draw::Chance(2.0))),
        ("modulo is 0", |it| drawing(it, Draw::Part { of: 0, divide: 1, modulo: 0, add: 0 })),
        ("of is 1", |it| drawing(it, Draw::Part { of: 1, divide: 1, modulo: 1, add: 0 })),
        ("c is 9", |it| drawing(it, Draw::Nurand { a: 7, c: 9, from: 0, count: 1 })),
        ("syllables is 1", |it| {
            drawing(it, Draw::Syllables { syllables: vec![String::new()], of: 0 });
        }),
        ("retry.attempts is 101", |it| retry(it).attempts = 101),
        ("retry.pause_max is", |it| retry(it).pause_max = Nanos::from_secs(11)),
        ("all pauses of retry", |it| {
            *retry(it) =
                Retry { attempts: 100, pause: Nanos::SECOND, pause_max: Nanos::from_secs(10) };
        }),
        ("policy.think is", |it| it.procedures[0].policy.think = Nanos::from_secs(601)),
        ("hold is", |it| {
            let time_ns = Nanos::from_secs(86_401);
            it.steps[0].hold = Some(Hold { procedure: 0, time_ns });
        }),
        ("procedure is 3", |it| it.steps[0].clients = Some(CallMix::Once(vec![3]))),
        ("calls is 0", |it| it.steps[0].clients = Some(CallMix::Mix(Vec::new()))),
        ("rows.share is NaN", |it| it.steps[0].rows.as_mut().expect("it ends").share = f64::NAN),
        ("background.rows_per_s is 1e-9", |it| {
            it.steps[0].background.as_mut().expect("a writer").rows_per_s = 1e-9;
        }),
    ];

    #[test]
    fn an_application_beyond_a_limit_is_refused_with_the_field() {
        assert_eq!(sound().check(), Ok(()));
        for (reason, change) in BEYOND {
            let mut application = sound();
            change(&mut application);
            let refused = application.check().expect_err(reason);
            assert!(refused.contains(reason), "{reason}: {refused}");
        }
    }
}
