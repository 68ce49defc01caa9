//! A check of parts of values that the tests of all SQL drivers share.

use engine::{EngineError, Rows, Session};
use model::{Op, Outcome};

const KEY: &[u8] = b"document";
const ABSENT: &[u8] = b"no document";

fn row(session: &mut dyn Session, op: &Op<'_>) -> Result<Option<Vec<u8>>, EngineError> {
    let mut rows = Rows::new();
    rows.clear(true);
    session.execute(op, &mut rows)?;
    Ok(rows.stored().next().map(|(_, value)| value.to_vec()))
}

/// Checks updates, reads and appends of parts of values: of one byte to the whole value, beyond the
/// end, of nothing, and of an absent key.
///
/// # Panics
/// When a part is not what was written.
///
/// # Errors
/// When a statement fails.
pub fn check_parts(session: &mut dyn Session) -> Result<(), EngineError> {
    let mut rows = Rows::new();
    // Longer than a page of any server, with bytes that are no text.
    let mut value: Vec<u8> = (0..20_000_u32).map(|at| at.to_le_bytes()[0]).collect();
    session.execute(&Op::Put { key: KEY, value: &value }, &mut rows)?;
    let parts: [(usize, &[u8]); 6] =
        [(0, b"\0"), (19_999, b"\xff"), (8_000, b"a'\\b\0?"), (4, b""), (20_000, b""), (7, b"?1")];
    for (at, bytes) in parts {
        let offset = u32::try_from(at).unwrap_or(u32::MAX);
        for _again in 0..2 {
            rows.clear(false);
            let update = Op::PartialUpdate { key: KEY, offset, bytes };
            assert_eq!(session.execute(&update, &mut rows)?, Outcome::Done, "{at}");
            assert_eq!((rows.count(), rows.bytes()), (1, (KEY.len() + bytes.len()) as u64));
        }
        value[at..at + bytes.len()].copy_from_slice(bytes);
        let length = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let read = row(session, &Op::FieldRead { key: KEY, offset, length })?;
        assert_eq!(read.as_deref(), Some(bytes), "{at}");
        assert_eq!(row(session, &Op::Get { key: KEY })?.as_ref(), Some(&value), "{at}");
    }
    check_append(session, &mut value)?;
    check_beyond(session, &value)?;
    check_absent(session)
}

/// Checks an append.
fn check_append(session: &mut dyn Session, value: &mut Vec<u8>) -> Result<(), EngineError> {
    session.execute(&Op::Append { key: KEY, bytes: b"\0more" }, &mut Rows::new())?;
    value.extend_from_slice(b"\0more");
    let whole = Op::FieldRead { key: KEY, offset: 0, length: 20_005 };
    for op in [Op::Get { key: KEY }, whole] {
        assert_eq!(row(session, &op)?.as_ref(), Some(&*value));
    }
    Ok(())
}

/// Checks parts that end beyond the value's end.
fn check_beyond(session: &mut dyn Session, value: &Vec<u8>) -> Result<(), EngineError> {
    for op in [
        Op::PartialUpdate { key: KEY, offset: 20_004, bytes: b"xy" },
        Op::PartialUpdate { key: KEY, offset: u32::MAX, bytes: b"xy" },
        Op::FieldRead { key: KEY, offset: 20_004, length: 2 },
        Op::FieldRead { key: KEY, offset: 20_006, length: 0 },
    ] {
        let error = row(session, &op);
        assert!(matches!(error, Err(EngineError::Unsupported(_))), "{op:?}: {error:?}");
    }
    assert_eq!(row(session, &Op::Get { key: KEY })?.as_ref(), Some(value));
    Ok(())
}

/// Checks that an absent key has no parts.
fn check_absent(session: &mut dyn Session) -> Result<(), EngineError> {
    let mut rows = Rows::new();
    for op in [
        Op::PartialUpdate { key: ABSENT, offset: 0, bytes: b"x" },
        Op::FieldRead { key: ABSENT, offset: 0, length: 1 },
        Op::Append { key: ABSENT, bytes: b"x" },
        Op::Get { key: ABSENT },
    ] {
        rows.clear(false);
        assert_eq!(session.execute(&op, &mut rows)?, Outcome::NotFound, "{op:?}");
        assert_eq!(rows.count(), 0, "{op:?}");
    }
    Ok(())
}
