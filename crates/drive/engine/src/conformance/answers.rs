//! Random operations, each compared with the oracle.

use std::sync::mpsc::sync_channel;
use std::thread;

use model::{Direction, OpKind};

use super::client::{Client, Row, compare, start};
use super::stream::{KEYS, Request, SEED, SplitMix, Stream, after_all};
use super::subject::{Subject, close, fresh_dir, open_oracle};
use crate::traits::Engine;

/// Weight of each kind in the stream.
const MIX: [(OpKind, usize); 5] = [
    (OpKind::Put, 8),
    (OpKind::Get, 4),
    (OpKind::Scan, 4),
    (OpKind::Delete, 3),
    (OpKind::MultiGet, 3),
];

/// Checks random operations of two clients on two threads, taking turns.
pub(super) fn random_operations(subject: &Subject<'_>) -> Result<(), String> {
    let (dir, oracle_dir) = (fresh_dir()?, fresh_dir()?);
    let engine = subject.open(dir.path())?;
    let oracle_engine = open_oracle(oracle_dir.path())?;
    let mut oracle = Client::new(&*oracle_engine)?;
    take_turns(subject, &*engine, &mut oracle)?;
    let mut client = Client::new(&*engine)?;
    same_rows(subject, &mut client, &mut oracle)?;
    drop(client);
    close(engine)
}

fn take_turns(
    subject: &Subject<'_>,
    engine: &dyn Engine,
    oracle: &mut Client<'_>,
) -> Result<(), String> {
    let mut stream = Stream::new(SEED, kinds(subject), subject);
    let mut coin = SplitMix::new(!SEED);
    let operations = subject.scaled(2 * KEYS);
    thread::scope(|scope| {
        let (to_other, requests) = sync_channel::<Request>(1);
        let (answers, from_other) = sync_channel(1);
        start(scope, move || {
            let mut client = Client::new(engine);
            for request in requests {
                let answer = match &mut client {
                    Ok(client) => request.with(|op| client.execute(op)),
                    Err(error) => Err(error.clone()),
                };
                if answers.send(answer).is_err() {
                    break;
                }
            }
        })?;
        let mut client = Client::new(engine)?;
        for number in 0..operations {
            let request = stream.next();
            let expected = request.with(|op| oracle.execute(op))?;
            let found = if coin.below(2) == 0 {
                request.with(|op| client.execute(op))
            } else {
                to_other.send(request.clone()).map_err(|_gone| "the other client is gone")?;
                from_other.recv().map_err(|_gone| "the other client is gone")?
            };
            found
                .and_then(|found| request.with(|op| compare(op, &expected, &found)))
                .map_err(|reason| format!("operation {number}: {reason}"))?;
        }
        Ok(())
    })
}

/// Returns the kinds offered, each as often as its weight.
pub(super) fn kinds(subject: &Subject<'_>) -> Vec<OpKind> {
    let offered = MIX.iter().filter(|(kind, _)| subject.can(*kind));
    offered.flat_map(|&(kind, times)| std::iter::repeat_n(kind, times)).collect()
}

/// Compares all rows of engine and oracle, stored and counted, in both directions.
pub(super) fn same_rows(
    subject: &Subject<'_>,
    client: &mut Client<'_>,
    oracle: &mut Client<'_>,
) -> Result<(), String> {
    let most = subject.key_bytes_max();
    if subject.directions().is_empty() {
        return (0..KEYS).try_for_each(|index| {
            let request = Request::Get(super::stream::key(index, most));
            same_answer(&request, client, oracle)
        });
    }
    subject.directions().iter().try_for_each(|&direction| {
        let start = if direction == Direction::Forward { vec![0] } else { after_all(most) };
        let request = Request::Scan(start, u32::MAX, direction);
        same_answer(&request, client, oracle)?;
        request.with(|op| client.expect_counts(op, &oracle.execute(op)?))
    })
}

/// Compares the answers of engine and oracle to a request.
pub(super) fn same_answer(
    request: &Request,
    client: &mut Client<'_>,
    oracle: &mut Client<'_>,
) -> Result<(), String> {
    request.with(|op| {
        let expected: Vec<Row> = oracle.execute(op)?;
        compare(op, &expected, &client.execute(op)?)
    })
}
