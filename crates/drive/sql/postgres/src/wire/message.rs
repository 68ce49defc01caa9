//! Messages of the server: their bytes, descriptions and rows.

use std::io::{self, Read};

use driver_sql::ReceiveBuffer;
use postgres_protocol::message::backend::Header;

/// Bytes per read: most answers are one read, and a scan few.
pub(super) const READ_BYTES: usize = 64 << 10;
/// Bytes of a message's tag and length.
pub(super) const HEADER_BYTES: usize = 5;
/// Longest message accepted, bytes: the server's own limit.
///
/// Source: Postgres' documentation, "Limits", field size.
const MESSAGE_BYTES_MAX: usize = 1 << 30;

/// One message, still in the buffer.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) tag: u8,
    /// The payload after tag and length.
    pub(super) body: &'a [u8],
}

/// Returns the next message, reading from `stream` as needed.
#[inline]
pub(super) fn next<'b>(
    receive_buffer: &'b mut ReceiveBuffer,
    stream: &mut impl Read,
) -> io::Result<Message<'b>> {
    receive_buffer.fetch(stream, HEADER_BYTES)?;
    let length = length(receive_buffer.unread())?;
    receive_buffer.fetch(stream, length)?;
    let message = receive_buffer.take(length);
    Ok(Message { tag: message[0], body: &message[HEADER_BYTES..] })
}

/// Parses the length of the next message with its header.
#[inline]
fn length(unread: &[u8]) -> io::Result<usize> {
    let header = Header::parse(unread)?;
    let length = header.and_then(|header| usize::try_from(header.len()).ok());
    match length {
        Some(length) if length < MESSAGE_BYTES_MAX => Ok(1 + length),
        _ => {
            let reason = "the server's message is too long: check that the server is Postgres";
            Err(io::Error::new(io::ErrorKind::InvalidData, reason))
        }
    }
}

/// Iterates over the columns of a data row; `None` is null. Allocates nothing.
///
/// A truncated row yields fewer columns.
#[inline]
pub(super) fn columns(row: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
    // The first two bytes are the number of columns.
    let mut rest = row.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let Ok(length) = usize::try_from(i32::from_be_bytes(*length)) else {
            rest = after;
            return Some(None);
        };
        let (column, after) = after.split_at_checked(length)?;
        rest = after;
        Some(Some(column))
    })
}

/// Parses the types of a parameter description.
pub(super) fn parameter_types(body: &[u8]) -> Vec<u32> {
    let types = body.get(2..).unwrap_or_default().as_chunks::<4>().0;
    types.iter().map(|oid| u32::from_be_bytes(*oid)).collect()
}

/// Bytes after a column's name in a row description: table, position, type, size and format.
///
/// Source: Postgres' documentation, "Message Formats", `RowDescription`.
const COLUMN_BYTES: usize = 18;

/// Iterates over the names of the columns in a row description.
pub(super) fn fields(body: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = body.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (name, after) = rest.split_at(end);
        rest = after.get(1 + COLUMN_BYTES..)?;
        Some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A reader of at most `step` bytes at a time.
    struct Slow<'a> {
        bytes: &'a [u8],
        step: usize,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let step = self.step.min(buffer.len()).min(self.bytes.len());
            let (now, later) = self.bytes.split_at(step);
            buffer[..step].copy_from_slice(now);
            self.bytes = later;
            Ok(step)
        }
    }

    fn message(tag: u8, body: &[u8]) -> Vec<u8> {
        let length = u32::try_from(body.len() + 4).unwrap();
        [&[tag], &length.to_be_bytes()[..], body].concat()
    }

    #[test]
    fn messages_are_reassembled_from_any_reads() {
        let long = vec![7; 3 * READ_BYTES + 11];
        let bytes =
            [message(b'2', b""), message(b'D', &long), message(b'Z', b"I"), message(b'D', &long)]
                .concat();
        for step in [1, 3, 4096, READ_BYTES, usize::MAX] {
            let mut stream = Slow { bytes: &bytes, step };
            let mut receive_buffer = ReceiveBuffer::new(READ_BYTES);
            for expected in [(b'2', &b""[..]), (b'D', &long), (b'Z', b"I"), (b'D', &long)] {
                let found = next(&mut receive_buffer, &mut stream).unwrap();
                assert_eq!((found.tag, found.body.len()), (expected.0, expected.1.len()));
                assert!(found.body == expected.1);
            }
            let end = next(&mut receive_buffer, &mut stream).unwrap_err();
            assert_eq!(end.kind(), io::ErrorKind::UnexpectedEof);
        }
    }

    #[test]
    fn foreign_protocol_is_rejected() {
        let mut receive_buffer = ReceiveBuffer::new(READ_BYTES);
        let error = next(&mut receive_buffer, &mut &b"HTTP/1.1 400 Bad Request"[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        let error = next(&mut receive_buffer, &mut &b"E\0\0\0\x01"[..]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }

    #[test]
    fn columns_are_split_and_null_is_none() {
        let row = b"\0\x03\0\0\0\x02ab\xff\xff\xff\xff\0\0\0\0";
        let found: Vec<_> = columns(row).collect();
        assert_eq!(found, [Some(&b"ab"[..]), None, Some(&b""[..])]);
        assert_eq!(columns(b"\0\x01\0\0\0\x09short").count(), 0);
    }

    #[test]
    fn types_and_names_are_read_from_descriptions() {
        assert_eq!(parameter_types(b"\0\x02\0\0\0\x11\0\0\0\x14"), [17, 20]);
        let about = |oid: u8| [&[0; 9][..], &[oid], &[0; 8]].concat();
        let body = [&b"\0\x02k\0"[..], &about(17), b"count\0", &about(20)].concat();
        assert!(fields(&body).eq([&b"k"[..], b"count"]));
        assert_eq!(fields(&body[..20]).count(), 0);
    }
}
