//! Connections beyond one per client, and sessions that hold transactions.

use std::sync::Arc;

use calls::Tables;
use engine::ApplicationSetup;
use model::sql::{Connections, Hold};
use model::{Argument, Bounds, Nanos};
use workload::{Group, Presence, Request};

use super::{DATA, OwnedCall, RANGE, integers, next, of, step, tables, tables_of, take, toy};

#[test]
fn connections_of_their_own_make_the_calls_of_one_in_turn() {
    let whole = tables(2, 1, 1_000);
    let mut own = toy();
    own.steps.iter_mut().for_each(|step| step.connections = Connections::Own);
    let own = ApplicationSetup { application: Arc::new(own), clients: 2 };
    let own = tables_of(&own, Bounds { first: 1, next: 1_000 });
    let mut in_turn = of(&step("churn", 2), &whole, 9, Group::Clients);
    let mut apart = of(&step("churn", 2), &own, 9, Group::Clients);
    assert_eq!((in_turn.len(), apart.len()), (2, 4));
    for client in 0..2 {
        let expected = take(&mut in_turn[client], 40);
        let call = |n: usize| next(&mut apart[2 * client + n % 2]).unwrap();
        assert_eq!((0..40).map(call).collect::<Vec<_>>(), expected);
    }
    // A mix is drawn for one connection.
    assert_eq!(of(&step("query", 2), &own, 9, Group::Clients).len(), 2);
}

/// Goal: a connection does no more than eight calls beyond the other, and all that are left once
/// that has ended. Method: the last of these calls would never return.
#[test]
fn a_connection_waits_for_the_other_until_that_ends() {
    let mut own = toy();
    own.steps.iter_mut().for_each(|step| step.connections = Connections::Own);
    let own = ApplicationSetup { application: Arc::new(own), clients: 1 };
    let own = tables_of(&own, Bounds { first: 1, next: 1_000 });
    let mut apart = of(&step("churn", 1), &own, 9, Group::Clients);
    let mut inserter = apart.remove(0);
    assert_eq!(take(&mut inserter, 8).len(), 8);
    let deletes = std::thread::spawn(move || {
        let deletes = take(&mut apart[0], 3).len();
        apart[0].end();
        deletes
    });
    assert_eq!(take(&mut inserter, 20).len(), 20);
    assert_eq!(deletes.join().unwrap(), 3);
}

#[test]
fn holders_are_one_for_each_client_with_a_hold() {
    let mut toy = toy();
    let hold = Hold { procedure: RANGE, time_ns: Nanos::from_secs(3) };
    toy.steps.iter_mut().for_each(|step| step.hold = Some(hold));
    let setup = ApplicationSetup { application: Arc::new(toy), clients: 2 };
    let holding = tables_of(&setup, Bounds::default());
    let holders = |tables: &Tables| {
        let (presence, group) = (Presence::Some, Group::Clients);
        let step = step("query", 2);
        let request = Request { step: &step, data: &DATA, seed: 9, presence, group };
        calls::holders(&request, tables).unwrap()
    };
    let (mut sessions, time) = holders(&holding);
    assert_eq!((sessions.len(), time), (2, hold.time_ns));
    let calls: Vec<_> = sessions.iter_mut().map(|session| next(session).unwrap()).collect();
    assert!(calls.iter().all(|call| call.procedure == RANGE));
    assert_eq!([calls[0].table, calls[1].table], [0, 1]);
    assert!(holders(&tables(2, 1, 1)).0.is_empty());
}

#[test]
fn writers_are_one_for_each_client_and_draw_numbers_of_their_own() {
    let tables = tables(2, 1, 1_000);
    let mut writers = of(&step("query", 2), &tables, 9, Group::Writers);
    assert_eq!(writers.len(), 2);
    let calls: Vec<_> = writers.iter_mut().map(|writer| take(writer, 3)).collect();
    assert_eq!((calls[0][0].table, calls[1][0].table), (0, 1));
    let numbers =
        |call: &OwnedCall| -> Vec<_> { call.arguments[1..].chunks(5).map(|row| row[4]).collect() };
    // Two clients go before: of the call's four numbers these are the third and the fourth.
    assert_eq!(numbers(&calls[0][0]), [6, 7, 8].map(Argument::Integer));
    assert_eq!(numbers(&calls[1][0]), [9, 10, 11].map(Argument::Integer));
    assert!(of(&step("load", 2), &tables, 9, Group::Writers).is_empty());
}

/// Goal: rows that all clients load together are the same rows, however many clients load them.
#[test]
fn calls_counted_over_all_clients_do_not_depend_on_their_number() {
    let rows = |clients: u32| -> Vec<_> {
        let tables = tables(clients, 1, 1);
        let all = of(&step("fill", clients), &tables, 9, Group::Clients);
        let mut rows: Vec<_> = all.into_iter().flat_map(|mut one| take(&mut one, 100)).collect();
        rows.sort_by_key(integers);
        rows
    };
    let walked = |call: &OwnedCall| [integers(call)[0], integers(call)[2]];
    let numbers: Vec<_> = rows(1).iter().flat_map(walked).collect();
    assert_eq!(numbers, (0..14).collect::<Vec<_>>());
    assert_eq!([rows(2), rows(3)], [rows(1), rows(1)]);
}
