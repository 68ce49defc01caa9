//! Results: OK packet, error packet, or columns and rows.

use std::io::{Read, Write};

use super::failure::{ErrorPacket, Failure};
use super::packets::{Packets, WHOLE_BYTES};
use super::row::{Fields, length};
use super::typed::column_type;

/// First byte of an error packet.
pub(super) const ERR_HEADER: u8 = 0xff;
/// First byte of an end-of-rows or end-of-columns packet.
pub(super) const EOF_HEADER: u8 = 0xfe;
/// First byte of a file request (`LOAD DATA LOCAL`), never answered here.
const LOCAL_INFILE_HEADER: u8 = 0xfb;
/// Status: another result follows.
const MORE_RESULTS: u16 = 0x0008;
/// Most columns of a result. Source: MySQL's manual, "Limits on Table Column Count and Row Size".
const COLUMNS_MAX: u64 = 4096;
/// Longest end packet: a row that begins alike is longer.
const MARK_BYTES: usize = 9;

/// The result of a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Done {
    /// Rows inserted, deleted, or found by an update.
    affected: u64,
    /// Whether another result follows.
    is_more: bool,
}

/// The columns of a result, passed along with each row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    columns: usize,
    /// Whether rows are of the binary protocol.
    is_binary: bool,
}

impl Column {
    /// Returns the fields of a row of non-null texts.
    #[inline]
    pub(crate) fn fields(self, row: &[u8]) -> Fields<'_> {
        if self.is_binary { Fields::of_binary(row, self.columns) } else { Fields::of_text(row) }
    }
}

impl<S: Read + Write> Packets<S> {
    /// Reads all results of a statement and passes each row to `on_row`.
    ///
    /// Fields of binary rows are encoded by their types, others are text. Returns the sum of
    /// affected rows.
    #[inline]
    pub(super) fn answer(
        &mut self,
        is_binary: bool,
        mut on_row: impl FnMut(Column, &[u8]),
    ) -> Result<u64, Failure> {
        let mut affected: u64 = 0;
        loop {
            let done = self.one_result(is_binary, &mut on_row)?;
            let sum = affected.checked_add(done.affected);
            affected = sum.ok_or_else(|| malformed("it changed 2^64 rows or more"))?;
            if !done.is_more {
                return Ok(affected);
            }
        }
    }

    /// Reads the types of a result's columns, so that their values can be read.
    fn read_types(&mut self, columns: u64) -> Result<(), Failure> {
        self.types.clear();
        for _ in 0..columns {
            let kind = column_type(self.next()?);
            self.types.push(kind.ok_or_else(|| malformed("a column's description"))?);
        }
        Ok(self.skip(u64::from(!self.deprecates_eof))?)
    }

    #[inline]
    fn one_result(
        &mut self,
        is_binary: bool,
        on_row: &mut impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        let first = self.next()?;
        let columns = match first.first() {
            Some(0) => return done(first),
            Some(&ERR_HEADER) => return Err(error_packet(first)),
            Some(&LOCAL_INFILE_HEADER) | None => {
                return Err(malformed("neither a result nor an error"));
            }
            Some(_) => length(first).ok_or_else(|| malformed("a result without columns"))?.0,
        };
        if columns > COLUMNS_MAX {
            return Err(malformed("a result has more columns than the protocol permits"));
        }
        // Their descriptions.
        if self.stores_types {
            self.read_types(columns)?;
        } else {
            self.skip(columns + u64::from(!self.deprecates_eof))?;
        }
        let column = Column { columns: usize::try_from(columns).unwrap_or(usize::MAX), is_binary };
        let is_deprecated = self.deprecates_eof;
        let mark_bytes = if is_deprecated { WHOLE_BYTES } else { MARK_BYTES };
        loop {
            let packet = self.next()?;
            match packet.first() {
                Some(&EOF_HEADER) if packet.len() < mark_bytes => {
                    return if is_deprecated { done(packet) } else { Ok(ended(packet)) };
                }
                Some(&ERR_HEADER) => return Err(error_packet(packet)),
                Some(_) => on_row(column, packet),
                None => return Err(malformed("an empty row")),
            }
        }
    }
}

/// Parses an OK packet.
#[inline]
pub(super) fn done(packet: &[u8]) -> Result<Done, Failure> {
    let read = || {
        let (affected, rest) = length(packet.get(1..)?)?;
        let (_last_id, rest) = length(rest)?;
        let status = u16::from_le_bytes([*rest.first()?, *rest.get(1)?]);
        Some(Done { affected, is_more: status & MORE_RESULTS != 0 })
    };
    read().ok_or_else(|| malformed("a confirmation"))
}

/// Parses an EOF packet.
fn ended(packet: &[u8]) -> Done {
    let status = packet.get(3..5).map_or(0, |status| u16::from_le_bytes([status[0], status[1]]));
    Done { affected: 0, is_more: status & MORE_RESULTS != 0 }
}

/// Parses an error packet.
#[cold]
pub(super) fn error_packet(packet: &[u8]) -> Failure {
    let Some((&[_, low, high], message)) = packet.split_first_chunk::<3>() else {
        return malformed("an error");
    };
    let (state, message) = match message.split_first() {
        Some((b'#', rest)) => rest.split_at(rest.len().min(5)),
        _ => (&[][..], message),
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let number = u16::from_le_bytes([low, high]);
    Failure::Refused(ErrorPacket { number, state: text(state), message: text(message) })
}

/// Returns the failure of a connection with malformed data.
#[cold]
pub(super) fn malformed(what: &str) -> Failure {
    Failure::Lost(format!("the server's answer cannot be read: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::failure::number;
    use crate::wire::packets::tests::scripted;

    /// A description of a column of type `code`.
    fn column(code: u8) -> Vec<u8> {
        let mut packet = b"\x03def\x01d\x01t\x01t\x02id\x02id\x0c\x3f\0\x14\0\0\0".to_vec();
        packet.extend_from_slice(&[code, 0x20, 0, 0, 0, 0]);
        packet
    }

    /// Reads an answer, of a server that deprecates end packets or not.
    fn read(payloads: &[&[u8]], deprecates_eof: bool) -> (Result<u64, Failure>, Vec<Vec<u8>>) {
        let mut rows = Vec::new();
        let mut packets = scripted(payloads);
        packets.deprecates_eof = deprecates_eof;
        let answer = packets.answer(true, |_, row| rows.push(row.to_vec()));
        (answer, rows)
    }

    const OLD: bool = false;
    const NEW: bool = true;

    #[test]
    fn rows_end_as_old_and_new_servers_end_them() {
        let column = column(8);
        let rows: [&[u8]; 2] = [b"\0\0aaaaaaaa", b"\0\0bbbbbbbb"];
        let mark: &[u8] = b"\xfe\0\0\x02\0";
        let old = [b"\x01", column.as_slice(), mark, rows[0], rows[1], mark];
        let (answer, found) = read(&old, OLD);
        assert_eq!((answer, found.len()), (Ok(0), 2));
        let new = [b"\x01", column.as_slice(), rows[0], rows[1], b"\xfe\0\0\x02\0\0\0"];
        let (answer, found) = read(&new, NEW);
        assert_eq!(answer, Ok(0));
        assert_eq!(found, rows);
    }

    #[test]
    fn affected_rows_of_all_results_are_counted() {
        let more: &[u8] = b"\0\x02\0\x0a\0\0\0";
        let last: &[u8] = b"\0\xfc\x2c\x01\0\x02\0\0\0";
        let (answer, _) = read(&[more, last], OLD);
        assert_eq!(answer, Ok(302));
    }

    #[test]
    fn error_packets_have_number_state_and_message() {
        let (answer, _) = read(&[b"\xff\xbd\x04#40001Deadlock found"], NEW);
        let message = "Deadlock found".to_owned();
        let error_packet = ErrorPacket { number: 1213, state: "40001".to_owned(), message };
        assert_eq!(answer, Err(Failure::Refused(error_packet)));
        let column = column(8);
        let (answer, _) = read(&[b"\x01", &column, b"\0\0aaaaaaaa", b"\xff\x25\x05#70100no"], NEW);
        assert_eq!(number(&answer.unwrap_err()), Some(1317), "also after a row");
        let (answer, _) = read(&[b"\xff\x10\x04Too many connections"], NEW);
        assert_eq!(answer.unwrap_err().to_string(), "Too many connections (error 1040)");
    }

    #[test]
    fn malformed_packet_is_a_lost_connection() {
        const MANY: &[u8] = b"\xfe\xff\xff\xff\xff\xff\xff\xff\xff";
        let most = [b"\0", MANY, b"\0\x0a\0\0\0"].concat();
        for payloads in [
            &[&b""[..]][..],
            &[b"\xfb/etc"],
            &[b"\0"],
            &[b"\xff\x01"],
            &[b"\x01"],
            &[MANY],
            &[&most, &most],
        ] {
            for deprecates_eof in [OLD, NEW] {
                let (answer, _) = read(payloads, deprecates_eof);
                assert!(answer.unwrap_err().is_loss(), "{payloads:?}");
            }
        }
    }
}
