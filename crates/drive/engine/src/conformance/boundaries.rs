//! Checks of boundary keys, boundary values and start keys.

use model::{Direction, Op, OpKind};

use super::client::{Client, Row, compare, describe, start, text};
use super::stream::SplitMix;
use super::subject::{Subject, with_client};
use crate::traits::Engine;

/// Longest value tried; no benchmark reaches a limit beyond it.
const VALUE_BYTES_CAP: usize = 1 << 20;

/// Keys and values at their limits are stored whole, and come back in byte order.
pub(super) fn boundary_keys_and_values(subject: &Subject<'_>) -> Result<(), String> {
    let most = subject.key_bytes_max();
    let mut random = SplitMix::new(7);
    let mut keys: Vec<Vec<u8>> = vec![
        b"\x00".to_vec(),
        b"\x00\x00".to_vec(),
        b"\x00\xff".to_vec(),
        b"a".to_vec(),
        b"ab".to_vec(),
        b"ab\x00".to_vec(),
        b"ab\xff".to_vec(),
        b"abc".to_vec(),
        b"\x7f".to_vec(),
        b"\x80".to_vec(),
        b"\xff".to_vec(),
        b"\xff\xff".to_vec(),
        vec![b'k'; most],
        vec![0xff; most],
    ];
    keys.iter_mut().for_each(|key| key.truncate(most));
    keys.sort();
    keys.dedup();
    let sizes = [0, 1, 255, 256, 4_095, 4_096, 4_097, 65_535, 65_536];
    with_client(subject, |_, client| {
        let mut rows: Vec<Row> = Vec::new();
        for (index, key) in keys.iter().enumerate() {
            let bytes = sizes[index % sizes.len()].min(subject.value_bytes_max());
            rows.push((key.clone(), random.bytes(bytes)));
        }
        for at in [5, 0, 9, 3].into_iter().chain(0..rows.len()) {
            let (key, value) = &rows[at % rows.len()];
            client.put(key, value)?;
        }
        for (key, value) in &rows {
            client.expect(&Op::Get { key }, &[(key, value)])?;
        }
        for &direction in subject.directions() {
            let start = if direction == Direction::Forward { vec![0] } else { vec![0xff; most] };
            let found = client.all(&start, direction)?;
            compare(&Op::Scan { start: &start, limit: u32::MAX, direction }, &rows, &found)?;
            rows.reverse();
        }
        too_long_key_is_not_truncated(subject, client)?;
        too_long_value_is_not_truncated(subject, client)?;
        Ok(())
    })
}

/// A key beyond the stated limit is refused or stored whole, never truncated.
fn too_long_key_is_not_truncated(
    subject: &Subject<'_>,
    client: &mut Client<'_>,
) -> Result<(), String> {
    let most = subject.key_bytes_max();
    if subject.capabilities.key_bytes_max.and_then(|most| usize::try_from(most).ok()) != Some(most)
    {
        return Ok(());
    }
    let key = vec![b'k'; most + 1];
    let op = Op::Put { key: &key, value: b"too long" };
    if client.attempt(&op).is_ok() {
        client.expect(&Op::Get { key: &key }, &[(&key, b"too long")])?;
    }
    let prefix = &key[..most];
    match client.get(prefix)? {
        Some(value) if value != b"too long" => Ok(()),
        found => Err(format!(
            "{}: expected the row of the key's prefix to stay, got {}",
            describe(&op),
            found.map_or("no row".to_owned(), |value| format!("value {}", text(&value)))
        )),
    }
}

/// A value of the stated limit is stored whole; one beyond it too, or it is refused.
fn too_long_value_is_not_truncated(
    subject: &Subject<'_>,
    client: &mut Client<'_>,
) -> Result<(), String> {
    let Some(most) = subject.capabilities.value_bytes_max else { return Ok(()) };
    let most = usize::try_from(most).unwrap_or(usize::MAX).min(VALUE_BYTES_CAP);
    let longest = vec![b'v'; most];
    client.put(b"value", &longest)?;
    client.expect(&Op::Get { key: b"value" }, &[(b"value", &longest)])?;
    let longer = vec![b'w'; most + 1];
    let is_taken = client.attempt(&Op::Put { key: b"value", value: &longer }).is_ok();
    let stored = if is_taken { &longer } else { &longest };
    client.expect(&Op::Get { key: b"value" }, &[(b"value", stored)])
}

/// Reads of absent keys find nothing; deletes of them succeed; a deleted key is gone.
pub(super) fn missing_keys(subject: &Subject<'_>) -> Result<(), String> {
    with_client(subject, |_, client| {
        client.expect(&Op::Get { key: b"absent" }, &[])?;
        for &direction in subject.directions() {
            client.expect(&Op::Scan { start: b"absent", limit: 10, direction }, &[])?;
        }
        if subject.can(OpKind::MultiGet) {
            client.expect(&Op::MultiGet { keys: &[b"absent", b"gone"] }, &[])?;
        }
        client.put(b"first", b"1")?;
        client.put(b"other", b"2")?;
        if subject.can(OpKind::MultiGet) {
            let keys: &[&[u8]] = &[b"other", b"absent", b"first", b"other", b"z", b"other"];
            let (other, first) = ((&b"other"[..], &b"2"[..]), (&b"first"[..], &b"1"[..]));
            client.expect(&Op::MultiGet { keys }, &[other, first, other, other])?;
        }
        if subject.can(OpKind::Delete) {
            client.expect(&Op::Delete { key: b"absent" }, &[])?;
            client.expect(&Op::Delete { key: b"other" }, &[])?;
            client.expect(&Op::Delete { key: b"other" }, &[])?;
            client.expect(&Op::Get { key: b"other" }, &[])?;
        }
        client.expect(&Op::Get { key: b"first" }, &[(b"first", b"1")])?;
        Ok(())
    })
}

/// A start key, a limit, a direction and the expected keys.
type ScanCase<'a> = (&'a [u8], u32, Direction, &'a [&'a [u8]]);

/// Scans start at the right row for present and absent start keys.
pub(super) fn start_keys(subject: &Subject<'_>) -> Result<(), String> {
    use Direction::{Forward, Reverse};
    with_client(subject, |_, client| {
        for key in [b"dd", b"bb", b"ff"] {
            client.put(key, key)?;
        }
        let cases: &[ScanCase<'_>] = &[
            (b"bb", 1, Forward, &[b"bb"]),
            (b"bb", 1, Reverse, &[b"bb"]),
            (b"b", 2, Forward, &[b"bb", b"dd"]),
            (b"b", 2, Reverse, &[]),
            (b"bbb", 9, Forward, &[b"dd", b"ff"]),
            (b"bbb", 9, Reverse, &[b"bb"]),
            (b"bb\x00", 1, Forward, &[b"dd"]),
            (b"dd\xff", 2, Reverse, &[b"dd", b"bb"]),
            (b"e", 9, Forward, &[b"ff"]),
            (b"e", 9, Reverse, &[b"dd", b"bb"]),
            (b"\x00", 9, Forward, &[b"bb", b"dd", b"ff"]),
            (b"\x00", 9, Reverse, &[]),
            (b"ff", 9, Forward, &[b"ff"]),
            (b"ff\x00", 9, Forward, &[]),
            (b"\xff\xff\xff", 9, Forward, &[]),
            (b"\xff\xff\xff", 9, Reverse, &[b"ff", b"dd", b"bb"]),
            (b"\xff\xff\xff", u32::MAX, Reverse, &[b"ff", b"dd", b"bb"]),
        ];
        let offered = |case: &&ScanCase<'_>| subject.directions().contains(&case.2);
        for &(start, limit, direction, keys) in cases.iter().filter(offered) {
            let rows: Vec<_> = keys.iter().map(|&key| (key, key)).collect();
            client.expect(&Op::Scan { start, limit, direction }, &rows)?;
        }
        Ok(())
    })
}

/// Every client reads a new value as soon as it is written.
pub(super) fn overwrites_are_visible_at_once(subject: &Subject<'_>) -> Result<(), String> {
    with_client(subject, |engine, client| {
        let mut random = SplitMix::new(11);
        for bytes in [10, 10, 3_000, 0, 65_536, 1, 400] {
            let value = random.bytes(bytes.min(subject.value_bytes_max()));
            client.put(b"key", &value)?;
            client.expect(&Op::Get { key: b"key" }, &[(b"key", &value)])?;
            other_client_reads(engine, b"key", &value)?;
        }
        Ok(())
    })
}

fn other_client_reads(engine: &dyn Engine, key: &[u8], value: &[u8]) -> Result<(), String> {
    let read = || Client::new(engine)?.expect(&Op::Get { key }, &[(key, value)]);
    std::thread::scope(|scope| Ok(start(scope, read)?.join()))
        .and_then(|read| read.map_err(|_panic| "the other client panicked".to_owned()))?
        .map_err(|reason| format!("another client: {reason}"))
}
