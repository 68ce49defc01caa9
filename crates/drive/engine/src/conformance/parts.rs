//! Checks of operations on parts of values, and of reads by sequence number.

use model::{Op, OpKind};

use super::client::{Client, compare, describe};
use super::stream::{SEED, SplitMix};
use super::subject::{Subject, close, fresh_dir, open_oracle, with_client};
use crate::error::EngineError;
use crate::traits::Engine;
use crate::way::Way;

/// Keys of the random operations, few enough that most are present.
const KEYS: usize = 40;
/// Longest value of the random operations; appends may exceed it once.
const VALUE_BYTES: usize = 60;

/// Parts at the boundaries of a value, beyond them, and of absent keys.
pub(super) fn parts_of_values(subject: &Subject<'_>) -> Result<(), String> {
    with_client(subject, |engine, client| {
        let key: &[u8] = b"key";
        let field = |offset, length| Op::FieldRead { key, offset, length };
        let update = |offset, bytes| Op::PartialUpdate { key, offset, bytes };
        client.put(key, b"0123456789")?;
        let fields: [(_, _, &[u8]); 6] = [
            (0, 1, b"0"),
            (9, 1, b"9"),
            (3, 4, b"3456"),
            (0, 10, b"0123456789"),
            (4, 0, b""),
            (10, 0, b""),
        ];
        for (offset, length, bytes) in fields {
            client.expect(&field(offset, length), &[(key, bytes)])?;
        }
        let is_blind = is_blind(engine);
        let beyond =
            [field(9, 2), field(11, 0), field(u32::MAX, 1), update(9, b"ab"), update(11, b"")];
        for op in beyond.iter().filter(|op| !(is_blind && op.kind().is_write())) {
            match client.attempt(op) {
                Err(EngineError::Unsupported(text)) if text.contains("beyond") => {}
                other => {
                    return Err(format!(
                        "{}: expected the failure Unsupported (ASSAY_UNSUPPORTED) with the \
                     word \"beyond\", got {other:?}",
                        describe(op)
                    ));
                }
            }
        }
        let append = |bytes| Op::Append { key, bytes };
        let changes: [(_, &[u8]); 6] = [
            (update(0, b"a"), b"a123456789"),
            (update(9, b"z"), b"a12345678z"),
            (update(5, b""), b"a12345678z"),
            (update(0, b"ABCDEFGHIJ"), b"ABCDEFGHIJ"),
            (append(b""), b"ABCDEFGHIJ"),
            (append(b"xyz"), b"ABCDEFGHIJxyz"),
        ];
        for (op, value) in changes {
            client.execute(&op)?;
            client.expect(&Op::Get { key }, &[(key, value)])?;
        }
        if is_blind {
            // What does not fit is left out, and the row stays readable.
            client.execute(&update(12, b"ab"))?;
            client.expect(&Op::Get { key }, &[(key, b"ABCDEFGHIJxyz")])?;
        }
        let key: &[u8] = b"absent";
        let absent = [
            Op::FieldRead { key, offset: 0, length: 0 },
            Op::PartialUpdate { key, offset: 0, bytes: b"" },
            Op::Append { key, bytes: b"value" },
            Op::Get { key },
        ];
        for op in absent.iter().filter(|op| !(is_blind && op.kind().is_write())) {
            client.expect(op, &[])?;
        }
        Ok(())
    })
}

/// Returns whether the engine changes parts of values without reading the row.
fn is_blind(engine: &dyn Engine) -> bool {
    [OpKind::PartialUpdate, OpKind::Append].iter().any(|kind| engine.way(*kind) == Some(Way::Blind))
}

/// Random changes and reads of parts, compared with the oracle; then reads by sequence number.
pub(super) fn random_parts(subject: &Subject<'_>) -> Result<(), String> {
    let (dir, oracle_dir) = (fresh_dir()?, fresh_dir()?);
    let engine = subject.open(dir.path())?;
    let oracle_engine = open_oracle(oracle_dir.path())?;
    let (mut client, mut oracle) = (Client::new(&*engine)?, Client::new(&*oracle_engine)?);
    let mut random = SplitMix::new(SEED);
    let is_blind = is_blind(&*engine);
    for number in 0..subject.scaled(2_000) {
        let key = format!("key{}", random.below(KEYS)).into_bytes();
        let present = oracle.get(&key)?;
        // A blind change would make an absent row, which the oracle reports.
        let is_barred = is_blind && present.is_none();
        let value_bytes = present.map_or(0, |value| value.len());
        let offset = random.below(value_bytes + 1);
        let most = value_bytes - offset;
        let length = if random.below(4) == 0 { most } else { random.below(most + 1) };
        let (value, bytes) = (random.bytes(VALUE_BYTES), random.bytes(length));
        let start = u32::try_from(offset).map_err(|error| error.to_string())?;
        let part = u32::try_from(length).map_err(|error| error.to_string())?;
        let op = match random.below(10) {
            0 if subject.can(OpKind::Delete) => Op::Delete { key: &key },
            _ if is_barred => Op::Put { key: &key, value: &value },
            _ if value_bytes > VALUE_BYTES => Op::Put { key: &key, value: &value[..length % 9] },
            0 | 1 => Op::Put { key: &key, value: &value },
            2..5 => Op::PartialUpdate { key: &key, offset: start, bytes: &bytes },
            5..7 => Op::Append { key: &key, bytes: &value[..length % 30] },
            _ => Op::FieldRead { key: &key, offset: start, length: part },
        };
        for op in [op, Op::Get { key: &key }] {
            compare(&op, &oracle.execute(&op)?, &client.execute(&op)?)
                .map_err(|reason| format!("operation {number}: {reason}"))?;
        }
    }
    if subject.can(OpKind::ScanSequence) {
        for from in [0, 1, 500, 1_000, 1_300, 10_000] {
            for limit in [1, 7, u32::MAX] {
                let op = Op::ScanSequence { from, limit };
                compare(&op, &oracle.execute(&op)?, &client.execute(&op)?)?;
            }
        }
    }
    drop(client);
    close(engine)
}
