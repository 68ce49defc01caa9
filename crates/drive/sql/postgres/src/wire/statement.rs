//! A prepared statement and the message that executes it.

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::failure::Failure;

/// Bytes of a message's length field, which counts itself but not the tag.
const LENGTH_BYTES: usize = 4;
/// Position of the most rows in `Execute`: after the tag, the length, and the empty portal name.
///
/// Source: Postgres' documentation, "Message Formats", `Execute`.
const ROWS_AT: usize = 1 + LENGTH_BYTES + 1;
/// Bytes of the most rows.
const ROWS_BYTES: usize = 4;
/// Format code of a binary value; 0 is text.
///
/// Source: Postgres' documentation, "Message Formats", `Bind`.
const BINARY: i16 = 1;

/// A statement the server has prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Described {
    pub(super) name: String,
    /// Types of its parameters, in order.
    pub(super) parameters: Vec<u32>,
}

/// `Bind`, `Execute` and `Sync` without the values, sent in one write.
#[derive(Debug, Clone)]
pub(super) struct Bound {
    head: Vec<u8>,
    tail: Vec<u8>,
    /// Bytes of `tail` that belong to the first of its messages.
    bind_bytes: usize,
}

impl Bound {
    /// Returns the message for `statement`; `is_text` marks the parameters sent as text.
    ///
    /// Rows are returned as text when their columns are read, which have any type, else in binary.
    pub(super) fn new(
        statement: &Described,
        is_text: &[bool],
        is_read: bool,
    ) -> Result<Self, Failure> {
        let mut head = BytesMut::new();
        let all_alike = is_text.iter().all(|is_text| !is_text);
        let each = is_text.iter().map(|is_text| if *is_text { 0 } else { BINARY });
        // One format code applies to all.
        let formats: Vec<i16> = if all_alike { vec![BINARY] } else { each.collect() };
        let rows_format = if is_read { 0 } else { BINARY };
        let none = |(), _: &mut BytesMut| Ok(postgres_protocol::IsNull::Yes);
        frontend::bind("", &statement.name, formats, [(); 0], none, [rows_format], &mut head)
            .map_err(|_error| unsendable(statement))?;
        // `Bind` ends with its values (none yet) and the format of the rows: 2 numbers.
        let values = u16::try_from(is_text.len()).map_err(|_error| unsendable(statement))?;
        let bind_bytes = 4;
        let rows = head.split_off(head.len() - bind_bytes);
        let count_at = head.len() - 2;
        head[count_at..].copy_from_slice(&values.to_be_bytes());
        let mut tail = rows;
        frontend::execute("", 0, &mut tail).map_err(|_error| unsendable(statement))?;
        frontend::sync(&mut tail);
        Ok(Self { head: head.to_vec(), tail: tail.to_vec(), bind_bytes })
    }

    /// Appends the head of a request, which its values must follow; returns its start.
    #[inline]
    pub(super) fn begin(&self, out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.extend_from_slice(&self.head);
        start
    }

    /// Completes the request that began at `start`; fails when it is too long.
    ///
    /// The answer ends after `rows` rows; 0 is all.
    #[inline]
    pub(super) fn end(&self, out: &mut Vec<u8>, start: usize, rows: i32) -> Result<(), Failure> {
        let execute = out.len() + self.bind_bytes;
        let length = execute - start - 1;
        out.extend_from_slice(&self.tail);
        out[execute + ROWS_AT..][..ROWS_BYTES].copy_from_slice(&rows.to_be_bytes());
        let Ok(length) = i32::try_from(length) else {
            return Err(Failure::Rejected("values too long for one statement".to_owned()));
        };
        let at = start + 1;
        out[at..at + LENGTH_BYTES].copy_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

#[cold]
fn unsendable(statement: &Described) -> Failure {
    Failure::Rejected(format!(
        "statement {} has {} parameters: the protocol limit is {}; use fewer rows per statement",
        statement.name,
        statement.parameters.len(),
        u16::MAX
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_bytes_equal_the_codec_s() {
        let statement = Described { name: "s7".to_owned(), parameters: vec![] };
        let values: [&[u8]; 2] = [b"key", b""];
        for (is_text, rows) in [([false, false], 0), ([false, true], 7), ([true, true], i32::MAX)] {
            let mut expected = BytesMut::new();
            let formats: Vec<i16> = if is_text == [false, false] {
                vec![1]
            } else {
                is_text.iter().map(|is_text| i16::from(!is_text)).collect()
            };
            let write = |value: &[u8], out: &mut BytesMut| {
                out.extend_from_slice(value);
                Ok(postgres_protocol::IsNull::No)
            };
            let bound = frontend::bind("", "s7", formats, values, write, [1], &mut expected);
            assert!(bound.is_ok());
            frontend::execute("", rows, &mut expected).unwrap();
            frontend::sync(&mut expected);

            let bound = Bound::new(&statement, &is_text, false).unwrap();
            let mut out = b"before".to_vec();
            let start = bound.begin(&mut out);
            for value in values {
                out.extend_from_slice(&u32::try_from(value.len()).unwrap().to_be_bytes());
                out.extend_from_slice(value);
            }
            bound.end(&mut out, start, rows).unwrap();
            assert_eq!(out[6..].escape_ascii().to_string(), expected.escape_ascii().to_string());
        }
    }

    #[test]
    fn too_many_parameters_are_rejected() {
        let parameters = vec![25; 70_000];
        let statement = Described { name: "s".to_owned(), parameters };
        let failure = Bound::new(&statement, &vec![false; 70_000], false).unwrap_err();
        assert!(failure.to_string().contains("70000 parameters"), "{failure}");
    }
}
