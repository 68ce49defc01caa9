//! Generator of procedure calls.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::Rows;
use model::sql::{CallMix, CallPolicy, Copies, Draw, Procedure};
use model::{Bounds, Call, Nanos, Op, OpKind};
use workload::random::{Stream, below};
use workload::{Generator, Group, Part, Position, Request, WorkloadError, WrongAnswer};

use crate::bounded::most_rows;
use crate::call_buffer::{CallBuffer, DrawInputs};
use crate::executable::check_application;
use crate::lockstep::Lockstep;
use crate::pauses::Pauses;
use crate::script::{OnceCall, Script, ScriptedCall};
use crate::source::{Source, text_bytes};
use crate::tables::{Ids, Tables};

/// Branches of a client's stream.
const CHOICES: u64 = 2;
const COPIES: u64 = 3;
const VALUES: u64 = 4;
const PAUSES: u64 = 5;
const HOLDS: u64 = 6;

/// Returns the generators of a group: one for each client, none when the group does nothing.
///
/// # Errors
/// As [`check_application`], and when a draw cannot be made.
pub fn generators(
    request: &Request<'_>,
    tables: &Tables,
) -> Result<Vec<Box<dyn Generator>>, WorkloadError> {
    let step = request.step;
    check_application(&tables.setup().application, step)?;
    let Some(traffic_spec) = tables.traffic_spec(&step.name) else { return Ok(Vec::new()) };
    let background = traffic_spec.background.as_ref();
    let (call_mix, connections, first_number) = match request.group {
        Group::Clients => (traffic_spec.clients.as_ref(), traffic_spec.connections, 0),
        Group::Writers => (
            background.map(|background| &background.call_mix),
            background.map(|background| background.connections).unwrap_or_default(),
            u64::from(step.clients),
        ),
    };
    let Some(call_mix) = call_mix else { return Ok(Vec::new()) };
    let groups = 1 + u64::from(background.is_some());
    let of_client = |client| {
        let member = Member {
            part: Part { client, clients: step.clients },
            stream: Stream::new(request.seed, &step.name, request.group, client),
            shared: Stream::new(request.seed, &step.name, request.group, u32::MAX),
            number: first_number + u64::from(client),
            numbers: groups * u64::from(step.clients),
        };
        let calls = match call_mix.connections(connections) {
            1 => vec![Calls::new(tables, call_mix, &member)?],
            count => Calls::each_apart(tables, call_mix, &member, count)?,
        };
        Ok(calls.into_iter().map(|calls| Box::new(calls) as Box<dyn Generator>))
    };
    let made: Result<Vec<_>, String> = (0..step.clients).map(of_client).collect();
    let made = made.map_err(|reason| WorkloadError::Step(step.name.clone(), reason))?;
    Ok(made.into_iter().flatten().collect())
}

/// Returns the kinds of operation of a step's group; none where it calls nothing.
pub fn kinds(request: &Request<'_>, tables: &Tables) -> BTreeSet<OpKind> {
    let traffic_spec = tables.traffic_spec(&request.step.name);
    let call_mix = traffic_spec.and_then(|spec| match request.group {
        Group::Clients => spec.clients.as_ref(),
        Group::Writers => spec.background.as_ref().map(|background| &background.call_mix),
    });
    let procedure = |position| tables.setup().application.procedure(position);
    let called = call_mix.into_iter().flat_map(CallMix::positions).filter_map(procedure);
    called.map(|procedure| procedure.kind).collect()
}

/// Returns the calls of one procedure by a single client, to try it out.
///
/// # Errors
/// When a draw cannot be made.
pub fn sample_calls(tables: &Tables, procedure: u16) -> Result<Box<dyn Generator>, WorkloadError> {
    let streams = [0, u32::MAX].map(|client| Stream::new(0, "sample", Group::Clients, client));
    let calls = single(tables, procedure, Part { client: 0, clients: 1 }, streams);
    calls.map_err(|reason| WorkloadError::Step("sample".to_owned(), reason))
}

/// The calls of the sessions that hold transactions open, one for each client, and for how long.
pub type Holders = (Vec<Box<dyn Generator>>, Nanos);

/// Returns the sessions of a step that hold transactions open; none where it has no `hold`.
///
/// # Errors
/// When a draw cannot be made.
pub fn holders(request: &Request<'_>, tables: &Tables) -> Result<Holders, WorkloadError> {
    let step = request.step;
    let Some(hold) = tables.traffic_spec(&step.name).and_then(|spec| spec.hold) else {
        return Ok((Vec::new(), Nanos(0)));
    };
    let one = |client| {
        let part = Part { client, clients: step.clients };
        let stream = |of| Stream::new(request.seed, &step.name, Group::Clients, of).branch(HOLDS);
        single(tables, hold.procedure, part, [client, u32::MAX].map(stream))
    };
    let made: Result<_, String> = (0..step.clients).map(one).collect();
    let made = made.map_err(|reason| WorkloadError::Step(step.name.clone(), reason))?;
    Ok((made, hold.time_ns))
}

/// Returns the calls of one procedure by the client that is `part` of its group.
///
/// The second stream is shared with the other clients.
fn single(
    tables: &Tables,
    procedure: u16,
    part: Part,
    [stream, shared]: [Stream; 2],
) -> Result<Box<dyn Generator>, String> {
    let (number, numbers) = (u64::from(part.client), u64::from(part.clients));
    let member = Member { part, stream, shared, number, numbers };
    Ok(Box::new(Calls::new(tables, &CallMix::InTurn(vec![procedure]), &member)?))
}

/// One client of a group.
struct Member {
    part: Part,
    stream: Stream,
    /// Randomness of calls that are counted over all clients.
    shared: Stream,
    /// Its number among all clients and writers of the step.
    number: u64,
    /// How many there are.
    numbers: u64,
}

/// The copy of the table that a call uses.
#[derive(Debug, Clone, Copy)]
enum CopyOf {
    /// The client's own.
    Own(u32),
    /// One of so many.
    Any(u32),
}

/// A procedure with its value sources.
struct Prepared {
    procedure: u16,
    name: String,
    kind: OpKind,
    copy: CopyOf,
    once: Box<[Source]>,
    row: Box<[Source]>,
    /// Rows of a call.
    rows: u32,
    /// By copy; nothing when the table assigns no ids.
    ids: Arc<[Arc<Ids>]>,
    /// Whether its rows get the next ids.
    is_inserting: bool,
    /// Whether its rows are those with the smallest ids.
    is_taking: bool,
    /// Most rows that can come back.
    most_rows: Option<u64>,
    policy: CallPolicy,
}

/// One client's calls.
///
/// Each call is a function of (seed, client, n) but for the ids in it, which are drawn from what
/// the copy's writers had done: see [`Tables`].
struct Calls {
    script: Script,
    procedures: Box<[Prepared]>,
    position: Position,
    buffer: CallBuffer,
    values: Stream,
    shared: Stream,
    choices: Stream,
    copies: Stream,
    /// Waits before the calls; `None` where no procedure has any.
    pauses: Option<Pauses>,
    draws_per_call: u64,
    number: u64,
    numbers: u64,
    step_index: u32,
    is_checked: bool,
    /// The call last returned: procedure and copy.
    last: Option<(usize, u32)>,
    /// Its place among the connections of the client, where there are several.
    lockstep: Option<Lockstep>,
}

impl Calls {
    /// Returns the calls of one client for each of its `count` connections.
    fn each_apart(
        tables: &Tables,
        call_mix: &CallMix,
        member: &Member,
        count: u32,
    ) -> Result<Vec<Self>, String> {
        let places = (0..).zip(Lockstep::places(count as usize));
        let one = |(at, place)| {
            let mut calls = Self::new(tables, call_mix, member)?;
            calls.script = Script::Lane(at, u64::from(count));
            calls.lockstep = Some(place);
            Ok(calls)
        };
        places.map(one).collect()
    }

    /// Returns the calls of one client with this mix.
    fn new(tables: &Tables, call_mix: &CallMix, member: &Member) -> Result<Self, String> {
        let script = match call_mix {
            CallMix::Mix(weights) => Script::mix(weights.iter().map(|(_, weight)| *weight)),
            CallMix::InTurn(turns) => Script::InTurn(turns.len() as u64),
            CallMix::Once(turns) => once(tables, turns, member.part)?,
        };
        let mut procedures = Vec::new();
        let (mut arguments, mut bytes) = (0, 0);
        for at in call_mix.positions() {
            let procedure = procedure_of(tables, at)?;
            let rows = u64::from(procedure.rows);
            let room = |draws: &[Draw]| draws.iter().map(text_bytes).sum::<u64>();
            let count = |draws: &[Draw]| draws.len() as u64;
            arguments = arguments.max(count(&procedure.arguments) + rows * count(&procedure.row));
            bytes = bytes.max(room(&procedure.arguments) + rows * room(&procedure.row));
            // Calls that are counted over all clients walk the rows as one client would.
            let is_counted = matches!(call_mix, CallMix::Once(_)) && procedure.policy.calls > 0;
            let part = if is_counted { Part { client: 0, clients: 1 } } else { member.part };
            let ready = Prepared::new(tables, at, procedure, part);
            let name = |reason| format!("procedure `{}`: {reason}", procedure.name);
            procedures.push(ready.map_err(name)?);
        }
        let room = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
        let has_pauses = procedures.iter().any(|ready| ready.policy.has_pauses());
        Ok(Self {
            position: Position::new(member.stream, script.calls()),
            script,
            is_checked: procedures.iter().any(|ready| ready.most_rows.is_some()),
            procedures: procedures.into(),
            buffer: CallBuffer::with_room(room(arguments), room(bytes)),
            values: member.stream.branch(VALUES),
            shared: member.shared.branch(VALUES),
            choices: member.stream.branch(CHOICES),
            copies: member.stream.branch(COPIES),
            pauses: has_pauses.then(|| Pauses::new(member.stream.branch(PAUSES))),
            draws_per_call: arguments,
            number: member.number,
            numbers: member.numbers,
            step_index: tables.step_index(),
            last: None,
            lockstep: None,
        })
    }

    /// Draws the values of call `n`, and of its rows.
    #[inline]
    fn draw(&mut self, at: usize, copy: u32, n: u64, call: ScriptedCall) {
        let ready = &self.procedures[at];
        let ids = ready.ids.get(copy as usize);
        let bounds = ids.map_or_else(Bounds::default, |ids| ids.bounds());
        let first = match ids {
            Some(ids) if ready.is_taking => ids.take(ready.rows),
            Some(_) | None => bounds.first,
        };
        // Calls that are counted over all clients are the same from any client.
        let stream = if call.number.is_some() {
            self.shared.branch(u64::from(ready.procedure))
        } else {
            self.values
        };
        let own = n.wrapping_mul(self.numbers).wrapping_add(self.number);
        let n = call.number.unwrap_or(n);
        let mut inputs = DrawInputs {
            stream,
            word: n.wrapping_mul(self.draws_per_call),
            pick: n,
            number: call.number.unwrap_or(own),
            turn: call.turn,
            step_index: self.step_index,
            ids: bounds,
            first,
        };
        self.buffer.clear();
        self.buffer.draw(&ready.once, &inputs);
        if ready.row.is_empty() {
            return;
        }
        inputs.word = inputs.word.wrapping_add(ready.once.len() as u64);
        let rows = u64::from(ready.rows);
        (inputs.pick, inputs.number) = (n.wrapping_mul(rows), inputs.number.wrapping_mul(rows));
        for _ in 0..rows {
            self.buffer.draw(&ready.row, &inputs);
            inputs.word = inputs.word.wrapping_add(ready.row.len() as u64);
            inputs.pick = inputs.pick.wrapping_add(1);
            inputs.number = inputs.number.wrapping_add(1);
        }
    }
}

impl Prepared {
    fn new(tables: &Tables, at: u16, procedure: &Procedure, part: Part) -> Result<Self, String> {
        let setup = tables.setup();
        let table = setup.application.tables.get(usize::from(procedure.table));
        let table = table.ok_or_else(|| "its table is not in the application".to_owned())?;
        let sources = |draws: &[Draw]| {
            draws.iter().map(|draw| Source::new(draw, part)).collect::<Result<Box<[_]>, _>>()
        };
        let draws = || procedure.arguments.iter().chain(&procedure.row);
        Ok(Self {
            procedure: at,
            name: procedure.name.clone(),
            kind: procedure.kind,
            copy: match table.copies {
                Copies::PerClient => CopyOf::Own(part.client % setup.clients.max(1)),
                Copies::Fixed(count) => CopyOf::Any(count),
            },
            once: sources(&procedure.arguments)?,
            row: sources(&procedure.row)?,
            rows: procedure.rows,
            ids: tables.ids(procedure.table),
            is_inserting: procedure.kind == OpKind::Insert,
            is_taking: procedure.kind == OpKind::Delete
                && draws().any(|draw| matches!(draw, Draw::FirstId)),
            most_rows: most_rows(procedure, table),
            policy: procedure.policy,
        })
    }
}

/// Returns the procedure at a position.
fn procedure_of(tables: &Tables, at: u16) -> Result<&Procedure, String> {
    let procedures = &tables.setup().application.procedures;
    let missing = || format!("procedure {at} is not in the application");
    procedures.get(usize::from(at)).ok_or_else(missing)
}

/// Returns each procedure once for each copy of its table that falls to a client.
///
/// That is its own, and of copies beyond the clients every n-th of n clients. Before these, in
/// order, its n-th part of the calls of procedures that state how many there are.
fn once(tables: &Tables, called: &[u16], part: Part) -> Result<Script, String> {
    let mut calls = Vec::new();
    let (mut copies_max, mut per_copy) = (0, Vec::new());
    for (position, at) in called.iter().enumerate() {
        let procedure = procedure_of(tables, *at)?;
        let copies = tables.setup().copies(procedure.table);
        if procedure.policy.calls == 0 {
            copies_max = copies_max.max(copies);
            per_copy.push((position, copies));
            continue;
        }
        let own = (part.client..procedure.policy.calls).step_by(part.clients.max(1) as usize);
        let counted = own.map(|number| OnceCall {
            procedure: position,
            copy: Some(number % copies.max(1)),
            number: Some(u64::from(number)),
        });
        calls.extend(counted);
    }
    for copy in (0..copies_max).filter(|copy| copy % part.clients.max(1) == part.client) {
        let has_copy = per_copy.iter().filter(|(_, copies)| copy < *copies);
        calls.extend(has_copy.map(|(position, _)| OnceCall {
            procedure: *position,
            copy: Some(copy),
            number: None,
        }));
    }
    Ok(Script::Once(calls.into()))
}

impl Generator for Calls {
    #[inline]
    fn next(&mut self) -> Option<Op<'_>> {
        if let Some((at, copy)) = self.last.take() {
            // The loop requests the next operation when the last one is done.
            let ready = &self.procedures[at];
            if let Some(ids) = ready.ids.get(copy as usize).filter(|_| ready.is_inserting) {
                ids.inserted(ready.rows);
            }
            self.lockstep.iter().for_each(Lockstep::advance);
        }
        let n = self.position.advance()?;
        // Before an arrival is taken and the clock is read: the wait is in no operation's time.
        self.lockstep.iter().for_each(Lockstep::wait);
        let call = self.script.call(self.choices, n);
        let (at, n) = (call.procedure, call.n);
        let copy = call.copy.unwrap_or_else(|| match self.procedures[at].copy {
            CopyOf::Own(copy) => copy,
            #[expect(clippy::cast_possible_truncation, reason = "below a u32")]
            CopyOf::Any(count) => below(self.copies.word(n), u64::from(count)) as u32,
        });
        self.draw(at, copy, n, call);
        self.last = Some((at, copy));
        let ready = &self.procedures[at];
        let pause = match &mut self.pauses {
            Some(pauses) => pauses.before(&ready.policy, n),
            None => Nanos(0),
        };
        Some(Op::Call(Call {
            procedure: ready.procedure,
            kind: ready.kind,
            table: copy,
            arguments: &self.buffer.arguments,
            bytes: &self.buffer.bytes,
            pause,
        }))
    }

    fn end(&mut self) {
        self.lockstep.iter().for_each(Lockstep::end);
    }

    fn unchecked(&self) -> u64 {
        if self.is_checked { self.position.unchecked() } else { u64::MAX }
    }

    /// Checks how many rows came back: more than requested is a wrong answer.
    ///
    /// Fewer can be right, and lower the average.
    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        let Some((at, copy)) = self.last else { return Ok(0) };
        let ready = &self.procedures[at];
        let Some(most) = ready.most_rows else { return Ok(0) };
        if rows.count() <= most {
            return Ok(1);
        }
        Err(WrongAnswer {
            operation: format!("procedure `{}` on copy {}", ready.name, copy + 1),
            reason: format!("{} rows came back, of at most {most} requested", rows.count()),
        })
    }
}
