//! An application: its tables, procedures and steps.

use serde::{Deserialize, Serialize};

use crate::capability::OpKind;
use crate::number::whole;
use crate::sql::call_policy::CallPolicy;
use crate::sql::connections::{Connections, Hold};
use crate::sql::dialect::PerDialect;
use crate::sql::draw::Draw;
use crate::sql::query::{Check, Protocol, Statement};
use crate::step::{OpUnit, Step, StepRole};

/// Tables, procedures and steps, checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Application {
    /// Name, as written in experiment files: `ibench-2023`.
    pub name: String,
    /// What it is, in one sentence without a full stop.
    pub about: String,
    /// Bytes of one row's values on average, for estimates of space.
    pub row_bytes: u32,
    /// The tables.
    pub tables: Vec<Table>,
    /// The procedures, indexed by [`Call::procedure`](crate::Call::procedure).
    pub procedures: Vec<Procedure>,
    /// The steps a benchmark may name.
    pub steps: Vec<TrafficSpec>,
    /// Default step order, by name.
    pub order: Vec<String>,
    /// Conditions that hold after every run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<Check>,
    /// What its results must not be taken for; shown next to them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disclaimer: Option<String>,
}

/// A table, or several alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Table {
    /// Name prefix; a number from 1 follows: `pi` for `pi1`, `pi2`.
    pub name: String,
    /// How many there are.
    pub copies: Copies,
    /// Statements that create one of them; [`Part::Table`](crate::sql::Part::Table) stands for its
    /// name.
    pub create: PerDialect<Vec<Statement>>,
    /// Column of integers that the server assigns in ascending order.
    ///
    /// Without one, no values can be drawn from the existing rows.
    pub id: Option<String>,
}

/// How many tables of a kind there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Copies {
    /// One for each client, used by it alone.
    PerClient,
    /// That many, drawn uniformly for each call.
    Fixed(u32),
}

/// A statement, or a transaction of several, with its arguments.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Procedure {
    /// Its name.
    pub name: String,
    /// The kind of operation it counts as.
    pub kind: OpKind,
    /// Position of the table it works on in [`Application::tables`].
    pub table: u16,
    /// Whether the statements are one transaction; else each commits by itself.
    pub is_transaction: bool,
    /// The statements, in order.
    pub statements: PerDialect<Vec<Statement>>,
    /// Those for tables of `MyRocks`; empty where they are `MySQL`'s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub myrocks: Vec<Statement>,
    /// Values drawn once per call.
    pub arguments: Vec<Draw>,
    /// Values drawn for each row of [`Part::Rows`](crate::sql::Part::Rows).
    pub row: Vec<Draw>,
    /// Rows that a call writes or deletes ([`Part::Rows`](crate::sql::Part::Rows)); 0 when that
    /// varies.
    pub rows: u32,
    /// Rows that one call should return on average; `None` when that varies.
    pub rows_expected: Option<f64>,
    /// How its statements are sent, unless the variant states it.
    #[serde(default)]
    pub protocol: PerDialect<Option<Protocol>>,
    /// Pauses, retries and the limit of its calls.
    #[serde(default, skip_serializing_if = "CallPolicy::is_default")]
    pub policy: CallPolicy,
}

impl RowCount {
    /// Returns the number of rows given `loaded` rows, rounded up.
    pub fn of(&self, loaded: u64) -> u64 {
        whole((self.share * loaded as f64).ceil()).saturating_add(self.fixed)
    }
}

impl Procedure {
    /// Returns a procedure of the first table without statements, values or rows.
    pub fn new(name: impl Into<String>, kind: OpKind) -> Self {
        Self {
            name: name.into(),
            kind,
            table: 0,
            is_transaction: false,
            statements: PerDialect::default(),
            myrocks: Vec::new(),
            arguments: Vec::new(),
            row: Vec::new(),
            rows: 0,
            rows_expected: None,
            protocol: PerDialect::default(),
            policy: CallPolicy::default(),
        }
    }
}

impl Application {
    /// Returns an application without tables, procedures or steps, of rows of one byte.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            about: String::new(),
            row_bytes: 1,
            tables: Vec::new(),
            procedures: Vec::new(),
            steps: Vec::new(),
            order: Vec::new(),
            checks: Vec::new(),
            disclaimer: None,
        }
    }

    /// Returns the step of that name.
    pub fn step(&self, name: &str) -> Option<&TrafficSpec> {
        self.steps.iter().find(|step| step.name == name)
    }

    /// Returns the procedures that a step's sessions call.
    ///
    /// Those called by several, or several times, are repeated.
    pub fn called(&self, step: &TrafficSpec) -> impl Iterator<Item = &Procedure> {
        step.positions().filter_map(|position| self.procedure(position))
    }

    /// Returns the calls of a step that calls each procedure once.
    ///
    /// One for each copy of a procedure's table, or as many as it states; `None` for any other
    /// step.
    pub fn calls_once(&self, step: &TrafficSpec, clients: u32) -> Option<u64> {
        let Some(CallMix::Once(procedures)) = &step.clients else { return None };
        let copies = |procedure: &u16| {
            let procedure = self.procedures.get(usize::from(*procedure))?;
            if procedure.policy.calls > 0 {
                return Some(u64::from(procedure.policy.calls));
            }
            Some(match self.tables.get(usize::from(procedure.table))?.copies {
                Copies::PerClient => u64::from(clients),
                Copies::Fixed(count) => u64::from(count),
            })
        };
        Some(procedures.iter().filter_map(copies).sum())
    }

    /// Returns the mean rows per call of `call_mix`, always above 0.
    ///
    /// Rows inserted; without inserts, rows otherwise written; without writes, rows expected to
    /// return, and 1 where unspecified.
    pub fn rows_per_call(&self, call_mix: &CallMix) -> f64 {
        let called = call_mix.weights().into_iter();
        let called =
            called.filter_map(|(at, weight)| Some((self.procedure(at)?, f64::from(weight))));
        let called: Vec<_> = called.collect();
        let calls: f64 = called.iter().map(|(_, weight)| weight).sum();
        let rows_of = |rows: &dyn Fn(&Procedure) -> f64| {
            let all: f64 = called.iter().map(|(procedure, weight)| weight * rows(procedure)).sum();
            (all > 0.0).then_some(all / calls)
        };
        let rows = |procedure: &Procedure| f64::from(procedure.rows);
        let inserted = |procedure: &Procedure| {
            if procedure.kind == OpKind::Insert { rows(procedure) } else { 0.0 }
        };
        rows_of(&inserted)
            .or_else(|| rows_of(&rows))
            .or_else(|| rows_of(&|procedure| procedure.rows_expected.unwrap_or(0.0)))
            .unwrap_or(1.0)
    }

    /// Returns the calls of a step; `None` when it ends by duration.
    ///
    /// `rows` is the total loaded into all tables. 0 when the step has no clients.
    ///
    /// Each client does whole turns: at most one turn per client more than requested.
    pub fn calls(&self, step: &TrafficSpec, rows: u64, clients: u32) -> Option<u64> {
        let Some(call_mix) = &step.clients else { return Some(0) };
        if let Some(calls) = self.calls_once(step, clients) {
            return Some(calls);
        }
        let count = step.rows?;
        let wanted = count.of(rows) as f64;
        let turn = match call_mix {
            CallMix::InTurn(turns) => turns.len().max(1) as f64,
            CallMix::Mix(_) | CallMix::Once(_) => 1.0,
        };
        let each = wanted / f64::from(clients.max(1));
        let turns = (each / (self.rows_per_call(call_mix) * turn)).ceil();
        Some(whole(turns * turn) * u64::from(clients.max(1)))
    }

    /// Puts the statements for `MyRocks` in the place of `MySQL`'s.
    pub fn use_myrocks(&mut self) {
        let own = |procedure: &&mut Procedure| !procedure.myrocks.is_empty();
        for procedure in self.procedures.iter_mut().filter(own) {
            procedure.statements.mysql = std::mem::take(&mut procedure.myrocks);
        }
    }

    /// Returns the procedure at a position.
    pub fn procedure(&self, at: u16) -> Option<&Procedure> {
        self.procedures.get(usize::from(at))
    }
}

impl Step {
    /// Returns the role that its application or its name declares.
    pub fn role(&self, application: Option<&Application>) -> StepRole {
        let own = application.and_then(|application| application.step(&self.name));
        own.map_or_else(|| StepRole::of_key_value(&self.name), |own| own.role)
    }
}

/// Traffic of a step: its clients and background writers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TrafficSpec {
    /// The step's name.
    pub name: String,
    /// Description, one sentence without a full stop.
    pub about: String,
    /// What it does to the data.
    pub role: StepRole,
    /// Call mix of the clients; `None` for a step without calls.
    pub clients: Option<CallMix>,
    /// Connections of each client.
    #[serde(default, skip_serializing_if = "Connections::is_one")]
    pub connections: Connections,
    /// Each client's background writer.
    pub background: Option<Background>,
    /// The transaction that a session of each client holds open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hold: Option<Hold>,
    /// Rows after which it ends; `None` when it ends by duration.
    pub rows: Option<RowCount>,
    /// What counts as one operation when costs are divided.
    pub unit: OpUnit,
    /// Whether the server is brought to rest afterwards.
    pub settles: bool,
}

impl TrafficSpec {
    /// Returns a step without calls that ends by duration.
    pub fn new(name: impl Into<String>, role: StepRole) -> Self {
        Self {
            name: name.into(),
            about: String::new(),
            role,
            clients: None,
            connections: Connections::One,
            background: None,
            hold: None,
            rows: None,
            unit: OpUnit::Operation,
            settles: false,
        }
    }

    /// Returns the connections of each client, without those of its writers; 0 without clients.
    pub fn client_connections(&self) -> u32 {
        self.clients.as_ref().map_or(0, |mix| mix.connections(self.connections))
    }

    /// Returns the connections that each client has in this step, all kinds together.
    pub fn connections_per_client(&self) -> u32 {
        let clients = self.client_connections();
        let writers = self.background.as_ref().map_or(0, Background::connections_per_client);
        clients + writers + u32::from(self.hold.is_some())
    }

    /// Returns the positions of the procedures that all sessions of the step call.
    pub fn positions(&self) -> impl Iterator<Item = u16> + use<> {
        let background = self.background.as_ref().map(|background| &background.call_mix);
        let mixes: Vec<_> = self.clients.iter().chain(background).cloned().collect();
        let others = self.hold.map(|hold| hold.procedure);
        mixes.into_iter().flat_map(|mix| mix.positions()).chain(others)
    }
}

/// Number of rows: a share of those loaded plus a constant.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RowCount {
    /// Share of the experiment's rows.
    pub share: f64,
    /// Rows added to the share.
    pub fixed: u64,
}

/// Procedures and their order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallMix {
    /// Each call is drawn: procedure and weight.
    Mix(Vec<(u16, u32)>),
    /// One after the other, from the beginning again.
    InTurn(Vec<u16>),
    /// Each of them once, by the client whose table it is.
    Once(Vec<u16>),
}

impl CallMix {
    /// Returns the procedures with their weights; 1 where they are not drawn.
    pub fn weights(&self) -> Vec<(u16, u32)> {
        match self {
            Self::Mix(weights) => weights.clone(),
            Self::InTurn(list) | Self::Once(list) => list.iter().map(|at| (*at, 1)).collect(),
        }
    }

    /// Returns the positions of the procedures.
    pub fn positions(&self) -> impl Iterator<Item = u16> + use<> {
        self.weights().into_iter().map(|(position, _)| position)
    }

    /// Returns the connections that a client with this mix has.
    pub fn connections(&self, connections: Connections) -> u32 {
        match (connections, self) {
            (Connections::Own, Self::InTurn(list)) => u32::try_from(list.len()).unwrap_or(u32::MAX),
            (Connections::One | Connections::Own, _) => 1,
        }
    }

    /// Returns whether each procedure is called once.
    pub const fn is_once(&self) -> bool {
        matches!(self, Self::Once(_))
    }
}

/// Background writers: one per client and connection, on the same table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Background {
    /// Its call mix.
    #[serde(rename = "doing")]
    pub call_mix: CallMix,
    /// Rows per second for each client, inserted and deleted alike; evenly paced.
    pub rows_per_s: f64,
    /// Connections of each client's writers.
    #[serde(default, skip_serializing_if = "Connections::is_one")]
    pub connections: Connections,
}

impl Background {
    /// Returns the connections that each client's writers have.
    pub fn connections_per_client(&self) -> u32 {
        self.call_mix.connections(self.connections)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sql::{Part, Piece};

    #[test]
    fn rows_are_written_out_with_the_places_of_their_values() {
        let row = vec![
            Part::Text("(".to_owned()),
            Part::Argument(0),
            Part::Text(", ".to_owned()),
            Part::RowArgument(1),
            Part::Text(")".to_owned()),
        ];
        let text = Part::Text("INSERT INTO ".to_owned());
        let parts = vec![text, Part::Table, Part::Rows(row)];
        let statement = Statement { parts, ..Statement::default() };
        let procedure = Procedure {
            arguments: vec![Draw::FirstId],
            row: vec![Draw::Id, Draw::Id],
            rows: 2,
            ..Procedure::new("insert", OpKind::Insert)
        };
        let text: String = statement
            .pieces(&procedure)
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => (*text).to_owned(),
                Piece::Table(position) => format!("t{position} "),
                Piece::Argument(position) => format!("<{position}>"),
            })
            .collect();
        assert_eq!(text, "INSERT INTO t0 (<0>, <2>), (<0>, <4>)");
    }

    #[test]
    fn rows_are_rounded_up_to_whole_turns_of_every_client() {
        let procedure = |kind, rows, rows_expected| Procedure {
            rows,
            rows_expected,
            ..Procedure::new("", kind)
        };
        let application = Application {
            procedures: vec![
                procedure(OpKind::Insert, 50, None),
                procedure(OpKind::Delete, 50, None),
                procedure(OpKind::Scan, 0, Some(10.0)),
            ],
            ..Application::new("")
        };
        let calls = |call_mix, share, fixed, clients| {
            let step = TrafficSpec {
                clients: Some(call_mix),
                rows: Some(RowCount { share, fixed }),
                unit: OpUnit::Row,
                ..TrafficSpec::new("", StepRole::Write)
            };
            application.calls(&step, 1_000, clients)
        };
        assert_eq!(calls(CallMix::InTurn(vec![0]), 1.0, 0, 1), Some(20));
        assert_eq!(calls(CallMix::InTurn(vec![0, 1]), 1.0, 0, 1), Some(40));
        // 334 rows for each client: seven turns of two calls.
        assert_eq!(calls(CallMix::InTurn(vec![0, 1]), 0.0, 1_000, 3), Some(42));
        assert_eq!(calls(CallMix::InTurn(vec![1]), 0.1, 0, 1), Some(2));
        assert_eq!(calls(CallMix::InTurn(vec![2]), 0.1, 0, 1), Some(10));
        assert_eq!(calls(CallMix::Mix(vec![(0, 1), (2, 4)]), 1.0, 0, 2), Some(100));
    }

    #[test]
    fn a_once_step_calls_each_procedure_once_per_table() {
        let table = |copies| Table {
            name: "t".to_owned(),
            copies,
            create: PerDialect::default(),
            id: None,
        };
        let procedure = |table| Procedure { table, ..Procedure::new("index", OpKind::Define) };
        let step = |clients| TrafficSpec {
            clients: Some(clients),
            ..TrafficSpec::new("l.x", StepRole::Write)
        };
        let application = Application {
            tables: vec![table(Copies::PerClient), table(Copies::Fixed(3))],
            procedures: vec![procedure(0), procedure(1)],
            ..Application::new("a")
        };
        let calls = |call_mix| application.calls_once(&step(call_mix), 4);
        assert_eq!(calls(CallMix::Once(vec![0, 0, 1])), Some(11));
        assert_eq!(calls(CallMix::InTurn(vec![0])), None);
    }
}
