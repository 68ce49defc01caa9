//! Procedures of the application: rendered per table, prepared and called.

use engine::{ApplicationSetup, Rows};
use model::sql::{Condition, Procedure, Protocol, Read};
use model::{Call, OpKind, Outcome};

use crate::command::Command;
use crate::config::Config;
use crate::connection::{Connection, Reply};
use crate::failure::Failure;
use crate::key_value::{ExpectedResult, InFlight, outcome};
use crate::read_back::ReadBack;
use crate::template::{Part, Template, Value};
use crate::{table_spec, tables};

/// How a server is used, and the application.
pub(crate) type Known<'a, C> =
    (&'a Config<<C as Connection>::Session>, Option<&'a ApplicationSetup>);

/// The procedures of an application per table copy, rendered on first call.
pub(crate) struct Calls<C: Connection> {
    /// Index of each procedure's first copy in `rendered`.
    starts: Vec<usize>,
    rendered: Vec<Option<RenderedProcedure<C>>>,
    begin: Command<C>,
    commit: Command<C>,
    read_back: ReadBack,
    /// Whether a transaction is held open.
    is_holding: bool,
}

/// A procedure rendered for one table.
pub(crate) struct RenderedProcedure<C: Connection> {
    /// One for each text: statements that differ in their values only share it.
    pub(crate) commands: Vec<Command<C>>,
    pub(crate) steps: Vec<StatementStep>,
    pub(crate) is_transaction: bool,
    is_read: bool,
    /// Positions of the values that results set; else empty.
    read_positions: Vec<usize>,
    /// Position of the statement that is executed, from 1; 0 at the commit.
    at: u32,
}

/// One statement of a procedure, as it is executed.
pub(crate) struct StatementStep {
    /// Position among the procedure's statements, from 1, of the first with its command.
    pub(crate) number: u32,
    /// Its command.
    pub(crate) command: usize,
    /// The argument of each of the command's values.
    pub(crate) positions: Vec<usize>,
    reads: Vec<Read>,
    conditions: Vec<Condition>,
    sets_found: bool,
    pub(crate) is_rollback: bool,
    /// Where a value chooses the copy of the table.
    copies: Option<ChosenCopy>,
}

/// The copies of a table that a statement reaches by a value of the call.
struct ChosenCopy {
    /// Position of the value: a number from 1.
    argument: usize,
    /// The command for each copy.
    commands: Vec<usize>,
}

impl StatementStep {
    /// Returns its commands: one for each copy of the table that it may reach.
    pub(crate) fn commands(&self) -> &[usize] {
        self.copies.as_ref().map_or(std::slice::from_ref(&self.command), |it| &it.commands)
    }

    /// Returns whether a value of the call chooses the copy of the table.
    pub(crate) const fn chooses_copy(&self) -> bool {
        self.copies.is_some()
    }

    /// Returns whether it is executed whatever happens, and nothing depends on its rows.
    const fn is_plain(&self) -> bool {
        self.reads.is_empty()
            && self.conditions.is_empty()
            && !self.is_rollback
            && self.copies.is_none()
    }

    /// Returns the command for the copy of the table that the call reaches.
    #[inline]
    fn command_for<E>(&self, values: &CallValues<'_>) -> Result<usize, Failure<E>> {
        let Some(copies) = &self.copies else { return Ok(self.command) };
        let number = values.integer(copies.argument);
        let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        let command = at.and_then(|at| copies.commands.get(at)).copied();
        command.ok_or_else(|| Failure::Unread(format!("the table has no copy {number}")))
    }
}

impl<C: Connection> Calls<C> {
    /// Reserves a slot per procedure and table.
    pub(crate) fn new(setup: Option<&ApplicationSetup>, config: &Config<C::Session>) -> Self {
        let mut starts = vec![0];
        let mut end = 0;
        for procedure in setup.iter().flat_map(|setup| &setup.application.procedures) {
            end += setup.map_or(0, |setup| setup.copies(procedure.table)) as usize;
            starts.push(end);
        }
        let of_begin =
            if C::SQL.is_begin_prepared { config.plain_protocol() } else { Protocol::Text };
        Self {
            starts,
            rendered: (0..end).map(|_| None).collect(),
            begin: Command::parse(C::SQL.begin, of_begin),
            commit: Command::parse("COMMIT", of_begin),
            read_back: ReadBack::default(),
            is_holding: false,
        }
    }

    /// Calls a procedure; rows that it returns or writes are counted in `rows`.
    ///
    /// Each statement is a round trip, and so are begin and commit, as for an application.
    #[inline]
    pub(crate) fn call(
        &mut self,
        connection: &mut C,
        (config, setup): Known<'_, C>,
        call: &Call<'_>,
        rows: &mut Rows,
    ) -> Reply<Outcome, C> {
        let index = self.index(call)?;
        let Self { rendered, begin, commit, read_back, .. } = self;
        let rendered = match &mut rendered[index] {
            Some(rendered) => rendered,
            none => none.insert(render::<C>((config, setup), call)?),
        };
        let is_transaction = rendered.is_transaction;
        let mut run = || {
            if is_transaction {
                begin.run(connection, |_| Value::Integer(0), |_, _| {})?;
            }
            let ended = rendered.execute(connection, &mut CallValues { call, read_back }, rows)?;
            rendered.at = 0;
            if ended == Flow::RolledBack {
                connection.run("ROLLBACK")?;
                // What was written is not there.
                rows.clear(rows.is_storing());
                return Ok(Outcome::RolledBack);
            }
            if is_transaction {
                commit.run(connection, |_| Value::Integer(0), |_, _| {})?;
            }
            Ok(if rendered.is_read { outcome(rows) } else { Outcome::Done })
        };
        run().map_err(|failure| roll_back(connection, is_transaction, failure))
    }

    /// Calls a procedure in a transaction with a snapshot, which is left open.
    pub(crate) fn hold(
        &mut self,
        connection: &mut C,
        known: Known<'_, C>,
        call: &Call<'_>,
        rows: &mut Rows,
    ) -> Reply<Outcome, C> {
        if std::mem::take(&mut self.is_holding) {
            connection.run("COMMIT")?;
        }
        for statement in C::SQL.hold {
            connection.run(statement)?;
        }
        let done = self.call(connection, known, call, rows);
        self.is_holding = done.is_ok();
        done.map_err(|failure| roll_back(connection, true, failure))
    }

    /// Queues a call; `None` when it is not a single prepared statement.
    #[inline]
    pub(crate) fn submit(
        &mut self,
        connection: &mut C,
        call: &Call<'_>,
    ) -> Reply<Option<InFlight>, C> {
        let index = self.index(call)?;
        let Some(RenderedProcedure { commands, steps, is_transaction: false, is_read, .. }) =
            &mut self.rendered[index]
        else {
            return Ok(None);
        };
        let ([command], [step]) = (&mut commands[..], &steps[..]) else { return Ok(None) };
        if !step.is_plain() {
            return Ok(None);
        }
        let expected = ExpectedResult::Call { is_read: *is_read, procedure: call.procedure };
        let queued = command.submit(connection, |at| Value::of(call, step.positions[at]))?;
        Ok(queued.map(|(bytes, is_text)| InFlight { expected, bytes, is_text }))
    }

    /// Returns the position of the statement that the last call executed, from 1; 0 for its commit.
    pub(crate) fn position(&self, call: &Call<'_>) -> u32 {
        let index = self.index(call).unwrap_or(usize::MAX);
        self.rendered.get(index).and_then(Option::as_ref).map_or(0, |rendered| rendered.at)
    }

    /// Returns the index of the call's procedure and table.
    #[inline]
    fn index(&self, call: &Call<'_>) -> Reply<usize, C> {
        let procedure = usize::from(call.procedure);
        match self.starts.get(procedure..procedure + 2) {
            Some(&[start, end]) if (call.table as usize) < end - start => {
                Ok(start + call.table as usize)
            }
            _ => Err(unknown(call)),
        }
    }
}

/// How the statements of a call ended.
#[derive(PartialEq, Eq)]
enum Flow {
    /// All were executed, but for those whose conditions did not hold.
    Done,
    /// One of them rolls back.
    RolledBack,
}

impl<C: Connection> RenderedProcedure<C> {
    /// Returns whether a statement is always executed, with values that are drawn.
    pub(crate) fn is_unconditional(&self, index: usize) -> bool {
        let StatementStep { conditions, positions, .. } = &self.steps[index];
        conditions.is_empty() && !positions.iter().any(|at| self.read_positions.contains(at))
    }

    /// Executes the statements whose conditions hold.
    #[inline]
    fn execute(
        &mut self,
        connection: &mut C,
        values: &mut CallValues<'_>,
        rows: &mut Rows,
    ) -> Reply<Flow, C> {
        let CallValues { call, read_back } = values;
        read_back.begin(if self.read_positions.is_empty() { 0 } else { call.arguments.len() });
        let mut found = false;
        rows.begin_statements();
        for step in &self.steps {
            if !step.conditions.iter().all(|condition| values.holds(*condition, found)) {
                continue;
            }
            if step.is_rollback {
                return Ok(Flow::RolledBack);
            }
            let is_unknown =
                |at: &&usize| self.read_positions.contains(at) && !values.read_back.is_known(**at);
            if let Some(at) = step.positions.iter().find(is_unknown) {
                return Err(unread(*at));
            }
            self.at = step.number;
            let command = &mut self.commands[step.command_for::<C::Error>(values)?];
            let has_found = execute(command, connection, step, values, rows)?;
            rows.end_statement(step.number);
            if step.sets_found {
                found = has_found;
            }
        }
        Ok(Flow::Done)
    }
}

/// The values of a call: as drawn, or as its statements have read them.
struct CallValues<'v> {
    call: &'v Call<'v>,
    read_back: &'v mut ReadBack,
}

impl CallValues<'_> {
    /// Returns the integer at a position of the call; 0 for any other value.
    #[inline]
    fn integer(&self, position: usize) -> i64 {
        let value = self.read_back.value(self.call, position);
        if let Value::Integer(value) = value { value } else { 0 }
    }

    /// Returns whether a condition holds.
    #[inline]
    fn holds(&self, condition: Condition, found: bool) -> bool {
        let integer = |argument: u16| self.integer(usize::from(argument));
        match condition {
            Condition::Found(is) => found == is,
            Condition::IsSet(argument, is) => (integer(argument) != 0) == is,
            Condition::Above(argument, number) => integer(argument) > i64::from(number),
        }
    }
}

/// Executes one statement; returns whether it found rows.
#[inline]
fn execute<C: Connection>(
    command: &mut Command<C>,
    connection: &mut C,
    step: &StatementStep,
    values: &mut CallValues<'_>,
    rows: &mut Rows,
) -> Reply<bool, C> {
    let CallValues { call, read_back } = values;
    let before = rows.count();
    if step.reads.is_empty() {
        let value = |at: usize| read_back.value(call, step.positions[at]);
        let (affected, bytes) = command.run(connection, value, |_, row| rows.push(b"", row))?;
        if affected > 0 {
            rows.wrote(affected, bytes);
        }
        return Ok(rows.count() > before);
    }
    let mut first = read_back.take_row();
    let value = |at: usize| read_back.value(call, step.positions[at]);
    let done = command.run(connection, value, |_, row| {
        if rows.count() == before {
            first.extend_from_slice(row);
        }
        rows.push(b"", row);
    });
    let is_found = rows.count() > before;
    let is_whole = match done {
        Ok((affected, bytes)) if is_found => {
            let fields = connection.fields(command.is_prepared(), &first);
            let is_whole = read_back.set(&step.reads, fields);
            // A statement that changes rows and returns them has moved each of them once.
            rows.wrote(0, if affected > 0 { bytes } else { 0 });
            is_whole.map_err(Failure::Unread)
        }
        Ok(_) => {
            read_back.forget(&step.reads);
            Ok(false)
        }
        Err(failure) => Err(failure),
    };
    read_back.put_back(first);
    is_whole
}

#[cold]
fn unread<E>(position: usize) -> Failure<E> {
    Failure::Unread(format!(
        "value {} of the call was not read, because the statement that reads the value found no \
         row: set `if = \"found\"` on the statements that need the value",
        position + 1
    ))
}

/// Rolls back a failed transaction; a loss meanwhile is the failure.
#[cold]
fn roll_back<C: Connection>(
    connection: &mut C,
    is_begun: bool,
    failure: Failure<C::Error>,
) -> Failure<C::Error> {
    if failure.is_loss() || !connection.is_in_transaction(is_begun) {
        return failure;
    }
    connection.run("ROLLBACK").err().filter(Failure::is_loss).unwrap_or(failure)
}

#[cold]
fn unknown<E>(call: &Call<'_>) -> Failure<E> {
    Failure::Rejected(format!(
        "no application was opened with procedure {} for table {}",
        call.procedure, call.table
    ))
}

/// Renders a procedure for the call's table.
#[cold]
pub(crate) fn render<C: Connection>(
    (config, setup): Known<'_, C>,
    call: &Call<'_>,
) -> Reply<RenderedProcedure<C>, C> {
    let found = setup.and_then(|setup| {
        let procedure = setup.application.procedures.get(usize::from(call.procedure))?;
        setup.application.tables.get(usize::from(procedure.table))?;
        Some((setup, procedure))
    });
    let (setup, procedure) = found.ok_or_else(|| unknown(call))?;
    let protocol = config.protocol_of(procedure, C::SQL.dialect);
    let mut templates: Vec<Template> = Vec::new();
    let mut steps: Vec<StatementStep> = Vec::new();
    for (number, statement) in (1..).zip(procedure.statements.by(C::SQL.dialect)) {
        let mut on_copy = |number| {
            let table = |position| table_spec::reached(setup, position, number);
            let mut template = Template::render(statement, procedure, table);
            if let [Part::Text(sql)] = &mut template.parts[..]
                && let Some(identified) = tables::identified::<C>(sql, &config.data_set)
            {
                *sql = identified;
            }
            let positions = template.renumber();
            let known = templates.iter().position(|known| *known == template);
            let command = known.unwrap_or_else(|| {
                templates.push(template);
                templates.len() - 1
            });
            (command, positions)
        };
        let (command, positions) = on_copy(call.table);
        let copies = statement.copy.map(|argument| ChosenCopy {
            argument: usize::from(argument),
            commands: (0..setup.copies(procedure.table)).map(|number| on_copy(number).0).collect(),
        });
        let first = steps.iter().find(|step| step.command == command && !step.is_rollback);
        steps.push(StatementStep {
            number: first.map_or(number, |first| first.number),
            command,
            positions,
            reads: statement.reads.clone(),
            conditions: statement.conditions.clone(),
            sets_found: statement.sets_found(),
            is_rollback: statement.is_rollback,
            copies,
        });
    }
    let reads = steps.iter().flat_map(|step| &step.reads);
    let read_positions = reads.map(|read| usize::from(read.argument)).collect();
    Ok(RenderedProcedure {
        commands: templates.into_iter().map(|text| Command::new(text, protocol)).collect(),
        steps,
        is_transaction: procedure.is_transaction,
        is_read: is_read(procedure),
        read_positions,
        at: 0,
    })
}

/// Returns whether a call without rows means not found.
const fn is_read(procedure: &Procedure) -> bool {
    matches!(procedure.kind, OpKind::Get | OpKind::Scan | OpKind::MultiGet)
}
