//! Calls of a toy application: values, repeatability, shared ids.

mod connections;
mod kinds;

use std::collections::BTreeSet;
use std::convert::Infallible;
use std::sync::Arc;

use calls::{Tables, background_load, check_application, generators};
use engine::{ApplicationSetup, Rows};
use model::sql::{
    Background, CallMix, CallPolicy, Connections, Copies, Draw, PerDialect, Procedure, RowCount,
    Statement, TrafficSpec,
};
use model::sql::{Part, Table};
use model::{
    Application, Argument, Bounds, Call, DataShape, Load, Op, OpKind, OpUnit, Rate, Step, StepRole,
    StopRule,
};
use proptest::prelude::*;
use workload::{Generator, Group, Presence, Request, WorkloadError};

const DATA: DataShape =
    DataShape { rows: 1_000, key_bytes: 20, value_bytes: 8, compressible_to: 0.5 };

const INSERT: u16 = 0;
const DELETE: u16 = 1;
const POINTS: u16 = 2;
const RANGE: u16 = 3;
const INDEX: u16 = 4;
const FIXED: u16 = 5;
const FILL: u16 = 6;

fn integer(distribution: &str, from: i64, count: u64) -> Draw {
    Draw::Integer { distribution: distribution.to_owned(), from, count }
}

fn procedure(name: &str, kind: OpKind, text: &str) -> Procedure {
    let parts = vec![Part::Text(text.to_owned())];
    let statement = Statement { parts, ..Statement::default() };
    Procedure {
        statements: PerDialect { postgres: vec![statement.clone()], mysql: vec![statement] },
        ..Procedure::new(name, kind)
    }
}

fn table(name: &str, copies: Copies) -> Table {
    let id = Some("id".to_owned());
    Table { name: name.to_owned(), copies, create: PerDialect::default(), id }
}

fn traffic_spec(name: &str, clients: CallMix) -> TrafficSpec {
    TrafficSpec {
        about: "does it".to_owned(),
        clients: Some(clients),
        unit: OpUnit::Row,
        ..TrafficSpec::new(name, StepRole::Write)
    }
}

/// Tables like the Insert Benchmark's, one for each client, and four shared ones.
fn toy() -> Application {
    let row = vec![
        integer("uniform", 0, 1_000),
        integer("zipf:0.99", 100, 50),
        Draw::Real { below: 500.0, plus: Some(0), scale: 0.01 },
        Draw::Payload { bytes_min: 10, bytes_max: 20, random: 0.375 },
        Draw::Number,
    ];
    let insert = Procedure {
        arguments: vec![Draw::Moment { calls_per_second: 2 }],
        row,
        rows: 3,
        ..procedure("insert", OpKind::Insert, "INSERT")
    };
    let delete = Procedure {
        arguments: vec![Draw::FirstId],
        rows: 3,
        ..procedure("delete", OpKind::Delete, "DELETE")
    };
    let points = Procedure {
        arguments: vec![Draw::Id; 4],
        rows_expected: Some(4.0),
        ..procedure("points", OpKind::MultiGet, "SELECT data FROM t WHERE id IN (")
    };
    let range = Procedure {
        arguments: vec![Draw::Pattern("##-###".to_owned())],
        rows_expected: Some(10.0),
        ..procedure("range", OpKind::Scan, "SELECT data FROM t WHERE a >= x LIMIT 10")
    };
    let index = procedure("index", OpKind::Define, "CREATE INDEX");
    let fixed = Procedure {
        table: 1,
        arguments: vec![Draw::Id, Draw::Number],
        ..procedure("fixed", OpKind::Put, "UPDATE")
    };
    let fill = Procedure {
        table: 1,
        row: vec![integer("sequential", 0, 1_000), integer("uniform", 0, 1_000)],
        rows: 2,
        policy: CallPolicy { calls: 7, ..CallPolicy::default() },
        ..procedure("fill", OpKind::Insert, "INSERT")
    };
    let background = Background {
        call_mix: CallMix::InTurn(vec![INSERT, DELETE]),
        rows_per_s: 300.0,
        connections: Connections::One,
    };
    Application {
        about: "a toy".to_owned(),
        row_bytes: 50,
        tables: vec![table("pi", Copies::PerClient), table("sb", Copies::Fixed(4))],
        procedures: vec![insert, delete, points, range, index, fixed, fill],
        steps: vec![
            TrafficSpec {
                rows: Some(RowCount { share: 1.0, fixed: 0 }),
                ..traffic_spec("load", CallMix::InTurn(vec![INSERT]))
            },
            traffic_spec("index", CallMix::Once(vec![INDEX, RANGE])),
            traffic_spec("churn", CallMix::InTurn(vec![INSERT, DELETE])),
            TrafficSpec {
                background: Some(background),
                settles: true,
                ..traffic_spec("query", CallMix::Mix(vec![(POINTS, 3), (RANGE, 1)]))
            },
            traffic_spec("shared", CallMix::Mix(vec![(FIXED, 1)])),
            traffic_spec("fill", CallMix::Once(vec![FILL])),
        ],
        order: vec!["load".to_owned()],
        ..Application::new("toy")
    }
}

fn setup(clients: u32) -> ApplicationSetup {
    ApplicationSetup { application: Arc::new(toy()), clients }
}

fn tables_of(setup: &ApplicationSetup, bounds: Bounds) -> Tables {
    Tables::query::<Infallible>(setup, 2, |_, _| Ok(Some(bounds))).unwrap()
}

fn tables(clients: u32, first: i64, next: i64) -> Tables {
    tables_of(&setup(clients), Bounds { first, next })
}

fn step(name: &str, clients: u32) -> Step {
    Step { clients, ..Step::new(name, StopRule::Operations(1 << 40)) }
}

fn of(step: &Step, tables: &Tables, seed: u64, group: Group) -> Vec<Box<dyn Generator>> {
    let request = Request { step, data: &DATA, seed, presence: Presence::Some, group };
    generators(&request, tables).expect("the toy can be executed")
}

/// A call with values of its own.
#[derive(Debug, Clone, PartialEq)]
struct OwnedCall {
    procedure: u16,
    kind: OpKind,
    table: u32,
    arguments: Vec<Argument>,
    texts: Vec<String>,
}

fn owned(call: &Call<'_>) -> OwnedCall {
    let text = |argument: &Argument| String::from_utf8_lossy(call.text(*argument)).into_owned();
    OwnedCall {
        procedure: call.procedure,
        kind: call.kind,
        table: call.table,
        arguments: call.arguments.to_vec(),
        texts: call.arguments.iter().map(text).collect(),
    }
}

fn next(generator: &mut Box<dyn Generator>) -> Option<OwnedCall> {
    match generator.next() {
        Some(Op::Call(call)) => Some(owned(&call)),
        Some(_) => panic!("no call"),
        None => None,
    }
}

fn take(generator: &mut Box<dyn Generator>, count: usize) -> Vec<OwnedCall> {
    (0..count).map_while(|_| next(generator)).collect()
}

fn integers(call: &OwnedCall) -> Vec<i64> {
    let integer = |argument: &Argument| match argument {
        Argument::Integer(value) => Some(*value),
        Argument::Real(_) | Argument::Moment(_) | Argument::Text { .. } => None,
    };
    call.arguments.iter().filter_map(integer).collect()
}

#[test]
fn a_row_has_the_values_its_draws_describe() {
    let mut client = of(&step("load", 1), &tables(1, 1, 1), 9, Group::Clients).remove(0);
    let mut seconds = Vec::new();
    for n in 0..200 {
        let call = next(&mut client).unwrap();
        assert_eq!((call.procedure, call.kind, call.table), (INSERT, OpKind::Insert, 0));
        assert_eq!(call.arguments.len(), 1 + 3 * 5);
        let Argument::Moment(second) = call.arguments[0] else { panic!("{call:?}") };
        seconds.push(second);
        for (number, row) in (0..).zip(call.arguments[1..].chunks(5)) {
            let [
                Argument::Integer(customer),
                Argument::Integer(skewed),
                Argument::Real(price),
                Argument::Text { start, end },
                Argument::Integer(own),
            ] = *row
            else {
                panic!("{row:?}")
            };
            assert!((0..1_000).contains(&customer) && (100..150).contains(&skewed));
            let least = customer as f64 / 100.0;
            assert!((least..least + 5.0).contains(&price), "{customer} {price}");
            assert!((10..=20).contains(&(end - start)));
            assert_eq!(own, 3 * n + number);
        }
    }
    assert!(seconds.windows(2).all(|pair| (0..=1).contains(&(pair[1] - pair[0]))));
    assert_eq!(seconds[199] - seconds[0], 99, "two calls share a second");
}

#[test]
fn later_steps_draw_later_moments() {
    let moment = |index| {
        let bounds = |_, _| Ok::<_, Infallible>(None);
        let tables = Tables::query(&setup(1), index, bounds).unwrap();
        let mut client = of(&step("load", 1), &tables, 9, Group::Clients).remove(0);
        let call = next(&mut client).unwrap();
        let Argument::Moment(second) = call.arguments[0] else { panic!("{call:?}") };
        second
    };
    assert_eq!(moment(1) - moment(0), 30 * 24 * 3_600);
}

#[test]
fn each_client_uses_its_own_copy_and_its_own_values() {
    let tables = tables(3, 1, 100);
    let mut clients = of(&step("churn", 3), &tables, 9, Group::Clients);
    let calls: Vec<_> = clients.iter_mut().map(|client| take(client, 10)).collect();
    for (number, calls) in (0..).zip(&calls) {
        assert!(calls.iter().all(|call| call.table == number));
        let kinds: Vec<_> = calls.iter().map(|call| call.procedure).collect();
        assert_eq!(kinds, [INSERT, DELETE].repeat(5));
    }
    assert_ne!(calls[0][0].texts, calls[1][0].texts);
}

#[test]
fn a_queue_is_deleted_at_its_lower_end_and_read_between_its_ends() {
    let tables = tables(1, 10, 40);
    let mut churn = of(&step("churn", 1), &tables, 9, Group::Clients).remove(0);
    let mut query = of(&step("query", 1), &tables, 9, Group::Clients).remove(0);
    let (mut firsts, mut reads) = (Vec::new(), 0);
    for n in 0..60 {
        let call = next(&mut churn).unwrap();
        if call.kind == OpKind::Delete {
            firsts.push(integers(&call)[0]);
        }
        // The last call may still be under way: its inserts count when the next is requested.
        let (inserts, deletes) = ((n + 1) / 2, (n + 1) / 2);
        let bounds = Bounds { first: 10 + 3 * deletes, next: 40 + 3 * inserts };
        assert_eq!(tables.bounds(0, 0), Some(bounds));
        for call in take(&mut query, 5).iter().filter(|call| call.procedure == POINTS) {
            let ids = integers(call);
            assert_eq!(ids.len(), 4);
            assert!(ids.iter().all(|id| (bounds.first..bounds.next).contains(id)), "{ids:?}");
            reads += 1;
        }
    }
    assert!(reads > 60, "{reads}");
    assert_eq!(firsts, (10..).step_by(3).take(30).collect::<Vec<_>>());
}

#[test]
fn an_empty_table_is_queried_for_an_absent_id() {
    let tables = tables(1, 0, 0);
    let mut query = of(&step("query", 1), &tables, 9, Group::Clients).remove(0);
    let calls = take(&mut query, 20);
    let points = calls.iter().filter(|call| call.procedure == POINTS);
    let ids: Vec<_> = points.flat_map(integers).collect();
    assert!(ids.len() >= 4 && ids.iter().all(|id| *id == 0), "{ids:?}");
}

#[test]
fn a_procedure_called_once_runs_for_every_copy_of_its_client() {
    // More copies than clients: those of clients of other steps.
    let tables = tables_of(&setup(5), Bounds::default());
    let mut clients = of(&step("index", 2), &tables, 9, Group::Clients);
    let calls = |client: &mut Box<dyn Generator>| -> Vec<_> {
        take(client, 100).iter().map(|call| (call.procedure, call.table)).collect()
    };
    let first = [0, 2, 4].map(|copy| [(INDEX, copy), (RANGE, copy)]).concat();
    let second = [1, 3].map(|copy| [(INDEX, copy), (RANGE, copy)]).concat();
    assert_eq!([calls(&mut clients[0]), calls(&mut clients[1])], [first, second]);
}

#[test]
fn shared_tables_are_drawn_evenly_and_no_two_calls_draw_one_number() {
    let tables = tables(2, 1, 1_000);
    let mut numbers = std::collections::BTreeSet::new();
    let mut copies = [0u32; 4];
    for mut client in of(&step("shared", 2), &tables, 9, Group::Clients) {
        for call in take(&mut client, 10_000) {
            copies[call.table as usize] += 1;
            numbers.insert(integers(&call)[1]);
        }
    }
    assert_eq!(numbers.len(), 20_000);
    // 6 standard deviations.
    assert!(copies.iter().all(|count| count.abs_diff(5_000) < 370), "{copies:?}");
}

#[test]
fn too_many_rows_are_a_wrong_answer_and_too_few_are_not() {
    let tables = tables(1, 1, 1_000);
    let mut query = of(&step("query", 1), &tables, 9, Group::Clients).remove(0);
    assert_eq!(query.unchecked(), 0, "the first is checked");
    for _ in 0..20 {
        let most = match next(&mut query).unwrap().procedure {
            POINTS => 4,
            _ => 10,
        };
        let mut rows = Rows::new();
        (0..most).for_each(|_| rows.push(b"", b"row"));
        assert_eq!(query.check(&rows), Ok(1));
        assert_eq!(query.check(&Rows::new()), Ok(1));
        rows.push(b"", b"row");
        let wrong = query.check(&rows).unwrap_err().to_string();
        assert!(wrong.contains(&format!("{} rows came back", most + 1)), "{wrong}");
    }
    let load = of(&step("load", 1), &tables, 9, Group::Clients).remove(0);
    assert_eq!(load.unchecked(), u64::MAX, "an insert has no answer to check");
}

#[test]
fn the_background_s_rate_is_that_of_inserts_and_of_deletes() {
    let toy = toy();
    let load = |name| background_load(&toy, toy.step(name).unwrap(), 4);
    let Some(Load::Open(open)) = load("query") else { panic!("paced") };
    // 4 clients, 300 rows/s each, 3 rows a call; for each insert a delete.
    assert_eq!(open.rate, Rate::constant(800.0));
    assert_eq!(load("load"), None);
}

#[test]
fn steps_have_kinds_of_operations() {
    let toy = toy();
    let kinds = toy.called(toy.step("query").unwrap()).map(|procedure| procedure.kind);
    let needs = [OpKind::MultiGet, OpKind::Scan, OpKind::Insert, OpKind::Delete];
    assert_eq!(kinds.collect::<BTreeSet<_>>(), needs.into());
}

#[test]
fn impossible_draws_are_rejected_with_the_procedure_s_name() {
    let refused = |change: &dyn Fn(&mut Application)| {
        let mut toy = toy();
        change(&mut toy);
        let error = check_application(&toy, &step("query", 1)).unwrap_err();
        assert!(matches!(error, WorkloadError::Step(..)), "{error:?}");
        error.to_string()
    };
    let range = |toy: &mut Application, draw| toy.procedures[3].arguments = vec![draw];
    for (draw, word) in [
        (integer("zipfian", 0, 5), "zipf[:THETA]"),
        (integer("uniform", 0, 0), "must be 1 or more"),
        (Draw::Real { below: 1.0, plus: Some(0), scale: 1.0 }, "drawn earlier"),
        (Draw::Payload { bytes_min: 2, bytes_max: 1, random: 0.5 }, "a range up to"),
        (Draw::Payload { bytes_min: 0, bytes_max: 1, random: 1.5 }, "from 0 to 1"),
        (Draw::Moment { calls_per_second: 0 }, "at least 1 call"),
    ] {
        let reason = refused(&|toy| range(toy, draw.clone()));
        assert!(reason.contains(word) && reason.contains("`range`"), "{word}: {reason}");
    }
    assert!(refused(&|toy| toy.tables[0].id = None).contains("name its id column"));
    assert!(refused(&|toy| toy.procedures.truncate(3)).contains("no procedure 3"));
    let weightless = CallMix::Mix(vec![(POINTS, 0)]);
    assert!(refused(&|toy| toy.steps[3].clients = Some(weightless.clone())).contains("above 0"));
    let unknown = check_application(&toy(), &step("l.i9", 1)).unwrap_err().to_string();
    assert!(unknown.contains("load, index, churn"), "{unknown}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Goal: the same seed gives the same calls, whatever else is drawn.
    #[test]
    fn the_same_seed_gives_the_same_calls(seed: u64, clients in 1u32..4) {
        for name in ["load", "churn", "query", "shared"] {
            let once = || -> Vec<_> {
                let tables = tables(clients, 5, 500);
                let mut all = of(&step(name, clients), &tables, seed, Group::Clients);
                all.iter_mut().map(|client| take(client, 50)).collect()
            };
            prop_assert_eq!(once(), once());
            let tables = tables(clients, 5, 500);
            let mut alone = of(&step(name, clients), &tables, seed, Group::Clients);
            let last = alone.len() - 1;
            prop_assert_eq!(&take(&mut alone[last], 50), &once()[last]);
        }
    }

    /// Goal: a call without ids is a function of its number, not of the ids that other clients
    /// moved.
    #[test]
    fn values_without_ids_do_not_depend_on_the_tables(
        seed: u64,
        first in 0i64..99,
        count in 0i64..99,
    ) {
        let calls = |tables: Tables| {
            let mut client = of(&step("churn", 1), &tables, seed, Group::Clients).remove(0);
            let calls = take(&mut client, 40);
            calls.into_iter().filter(|call| call.kind == OpKind::Insert).collect::<Vec<_>>()
        };
        let inserts = calls(tables(1, 0, 0));
        prop_assert_eq!(inserts.len(), 20);
        prop_assert_eq!(inserts, calls(tables(1, first, first + count)));
    }

    #[test]
    fn ids_are_drawn_from_those_there_are(seed: u64, first: i32, count in 1i64..1_000) {
        let (first, next) = (i64::from(first), i64::from(first) + count);
        let mut query = of(&step("query", 1), &tables(1, first, next), seed, Group::Clients);
        let calls = take(&mut query[0], 50);
        let points: Vec<_> = calls.iter().filter(|call| call.procedure == POINTS).collect();
        prop_assert!(points.len() > 5, "{}", points.len());
        for call in points {
            prop_assert!(integers(call).iter().all(|id| (first..next).contains(id)));
        }
    }
}
