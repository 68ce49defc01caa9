//! Reads one result, up to `ReadyForQuery`.

use std::io::Read;

use driver_sql::ReceiveBuffer;
use postgres_protocol::message::backend::{
    COMMAND_COMPLETE_TAG, COPY_IN_RESPONSE_TAG, COPY_OUT_RESPONSE_TAG, DATA_ROW_TAG,
    ERROR_RESPONSE_TAG, PARAMETER_DESCRIPTION_TAG, READY_FOR_QUERY_TAG, ROW_DESCRIPTION_TAG,
};

use super::failure::{ErrorResponse, Failure};
use super::message;

/// Reads until the server is ready; returns the rows inserted, updated or deleted.
///
/// Rows and descriptions are passed to `on_message` with their tags.
///
/// `status` becomes that of the transaction: `I` idle, `T` open, `E` failed. The first error
/// response becomes the failure.
///
/// No allocation unless there is an error.
#[inline]
pub(super) fn read_answer(
    receive_buffer: &mut ReceiveBuffer,
    stream: &mut impl Read,
    status: &mut u8,
    mut on_message: impl FnMut(u8, &[u8]),
) -> Result<u64, Failure> {
    let mut changed: u64 = 0;
    let mut error_response = None;
    loop {
        let message = match message::next(receive_buffer, stream) {
            Ok(message) => message,
            Err(error) => return Err(lost(&error, error_response.as_ref())),
        };
        match message.tag {
            DATA_ROW_TAG | PARAMETER_DESCRIPTION_TAG | ROW_DESCRIPTION_TAG => {
                on_message(message.tag, message.body);
            }
            COMMAND_COMPLETE_TAG => {
                let sum = affected(message.body).and_then(|rows| changed.checked_add(rows));
                changed = sum.ok_or_else(uncountable)?;
            }
            READY_FOR_QUERY_TAG => {
                *status = message.body.first().copied().unwrap_or_default();
                break;
            }
            ERROR_RESPONSE_TAG => {
                error_response.get_or_insert_with(|| ErrorResponse::parse(message.body));
            }
            COPY_IN_RESPONSE_TAG | COPY_OUT_RESPONSE_TAG => {
                return Err(Failure::Lost("COPY is not supported".to_owned()));
            }
            _ => {}
        }
    }
    error_response
        .map_or(Ok(changed), |error_response| Err(Failure::Refused(Box::new(error_response))))
}

/// Returns the loss of a connection, with the server's last error if any.
#[cold]
fn lost(error: &std::io::Error, last: Option<&ErrorResponse>) -> Failure {
    Failure::Lost(last.map_or_else(|| error.to_string(), ToString::to_string))
}

#[cold]
fn uncountable() -> Failure {
    Failure::Lost("the server's answer cannot be read: it changed 2^64 rows or more".to_owned())
}

/// Parses the changed rows of a command tag: `INSERT 0 5`, `DELETE 3`, `SELECT 2`.
///
/// `None` for more than there can be.
///
/// Source: Postgres' documentation, "Message Formats", `CommandComplete`.
#[inline]
fn affected(tag: &[u8]) -> Option<u64> {
    let is_write = match tag.first() {
        Some(b'I') => tag.starts_with(b"INSERT "),
        Some(b'U') => tag.starts_with(b"UPDATE "),
        Some(b'D') => tag.starts_with(b"DELETE "),
        Some(b'M') => tag.starts_with(b"MERGE "),
        _ => false,
    };
    if !is_write {
        return Some(0);
    }
    let digits = tag.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let mut digits = digits.iter().take_while(|byte| byte.is_ascii_digit());
    digits.try_fold(0, |sum: u64, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))
}

#[cfg(test)]
mod tests {
    use super::message::READ_BYTES;
    use super::*;

    #[test]
    fn changed_rows_are_parsed_from_the_command_tag() {
        for (tag, rows) in [
            (&b"INSERT 0 50\0"[..], Some(50)),
            (b"DELETE 3\0", Some(3)),
            (b"UPDATE 0\0", Some(0)),
            (b"UPDATE 18446744073709551615\0", Some(u64::MAX)),
            (b"UPDATE 18446744073709551616\0", None),
            (b"SELECT 7\0", Some(0)),
            (b"DROP TABLE\0", Some(0)),
            (b"BEGIN\0", Some(0)),
            (b"", Some(0)),
        ] {
            assert_eq!(affected(tag), rows, "{}", tag.escape_ascii());
        }
    }

    #[test]
    fn result_is_read_up_to_ready_even_after_an_error() {
        let sent = b"2\0\0\0\x04D\0\0\0\x0b\0\x01\0\0\0\x01xC\0\0\0\x0dSELECT 1\0Z\0\0\0\x05I\
                     E\0\0\0\x13SERROR\0C40P01\0\0Z\0\0\0\x05E";
        let (mut receive_buffer, mut stream, mut status) =
            (ReceiveBuffer::new(READ_BYTES), &sent[..], 0);
        let mut rows = 0;
        let count = |tag, _: &[u8]| rows += usize::from(tag == DATA_ROW_TAG);
        read_answer(&mut receive_buffer, &mut stream, &mut status, count).unwrap();
        assert_eq!((status, rows), (b'I', 1));
        let failure =
            read_answer(&mut receive_buffer, &mut stream, &mut status, |_, _| {}).unwrap_err();
        assert!(matches!(failure, Failure::Refused(error_response) if error_response.is("40P01")));
        assert_eq!(status, b'E');
        let failure =
            read_answer(&mut receive_buffer, &mut stream, &mut status, |_, _| {}).unwrap_err();
        assert!(matches!(failure, Failure::Lost(_)));
        let tag = [&b"C\0\0\0\x20"[..], b"UPDATE 18446744073709551615\0"].concat();
        let twice = tag.repeat(2);
        let failure = read_answer(&mut receive_buffer, &mut &twice[..], &mut status, |_, _| {});
        assert!(failure.unwrap_err().to_string().contains("2^64 rows"));
    }
}
