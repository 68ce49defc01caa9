//! A logged-in connection to a server.

use bytes::BytesMut;
use model::Endpoint;
use postgres_protocol::message::frontend;

use super::failure::Failure;
use super::login::{ServerParameters, log_in};
use super::receive_buffer::ReceiveBuffer;
use super::result::{Answer, Part, read_answer};
use super::row::columns;
use super::socket::Socket;
use super::statement::Described;

/// State of a connection outside of any transaction.
const IDLE: u8 = b'I';

/// A logged-in connection.
///
/// After [`Failure::Lost`] it is of no use.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Socket,
    receive_buffer: ReceiveBuffer,
    send_buffer: Vec<u8>,
    status: u8,
    statements: u32,
    parameters: ServerParameters,
}

impl Connection {
    /// Connects and logs in with session `settings`.
    ///
    /// # Errors
    /// When the server cannot be reached or rejects the login.
    pub(crate) fn open(
        endpoint: &Endpoint,
        settings: &[(String, String)],
    ) -> Result<Self, Failure> {
        let mut stream = Socket::connect(&endpoint.address)?;
        let mut receive_buffer = ReceiveBuffer::new();
        let parameters = log_in(&mut stream, &mut receive_buffer, endpoint, settings)?;
        stream.clear_read_timeout()?;
        Ok(Self {
            stream,
            receive_buffer,
            send_buffer: Vec::new(),
            status: IDLE,
            statements: 0,
            parameters,
        })
    }

    /// Returns a parameter reported at login: `server_version`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.parameters.get(name).map(String::as_str)
    }

    /// Returns whether a transaction is open.
    pub(crate) fn is_in_transaction(&self) -> bool {
        self.status != IDLE
    }

    /// Prepares a statement under a name of its own.
    ///
    /// # Errors
    /// When the server refuses it.
    pub(crate) fn prepare(&mut self, sql: &str) -> Result<Described, Failure> {
        self.statements += 1;
        let name = format!("s{}", self.statements);
        let mut out = BytesMut::new();
        frontend::parse(&name, sql, [], &mut out)
            .and_then(|()| frontend::describe(b'S', &name, &mut out))
            .map_err(|error| Failure::Impossible(format!("`{sql}`: {error}")))?;
        frontend::sync(&mut out);
        self.stream.send(&out)?;
        let (mut parameters, mut columns) = (Vec::new(), Vec::new());
        let read = |part: Part<'_>| match part {
            Part::Parameters(body) => parameters = parameter_types(body),
            Part::Columns(body) => columns = column_types(body),
            Part::Row(_) => {}
        };
        read_answer(&mut self.receive_buffer, &mut self.stream, &mut self.status, read)?;
        Ok(Described { name, parameters, columns })
    }

    /// Returns the send buffer, to which the next request is appended.
    #[inline]
    pub(crate) fn send_buffer(&mut self) -> &mut Vec<u8> {
        &mut self.send_buffer
    }

    /// Sends queued requests, unless an answer is already received.
    ///
    /// # Errors
    /// When the connection is lost.
    #[inline]
    pub(crate) fn send_queued(&mut self) -> Result<(), Failure> {
        if !self.send_buffer.is_empty() && self.receive_buffer.is_empty() {
            let Self { stream, receive_buffer, send_buffer, .. } = self;
            server::write_and_take(stream, send_buffer, |stream| receive_buffer.read_once(stream))?;
            send_buffer.clear();
        }
        Ok(())
    }

    /// Returns whether an answer, or part of it, has been received.
    #[inline]
    pub(crate) const fn has_answer(&self) -> bool {
        !self.receive_buffer.is_empty()
    }

    /// Sends the buffered request and reads its answer, one call of `on_row` per row.
    ///
    /// One write, and one read unless the answer is long; the longest answer yet allocates.
    ///
    /// # Errors
    /// When the server returns an error, or the connection is lost.
    #[inline]
    pub(crate) fn exchange(&mut self, on_row: impl FnMut(&[u8])) -> Result<Answer, Failure> {
        self.send()?;
        self.answer(on_row)
    }

    /// Reads one answer, one call of `on_row` per row.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    #[inline]
    pub(crate) fn answer(&mut self, mut on_row: impl FnMut(&[u8])) -> Result<Answer, Failure> {
        read_answer(&mut self.receive_buffer, &mut self.stream, &mut self.status, |part| {
            if let Part::Row(row) = part {
                on_row(row);
            }
        })
    }

    /// Sends and clears the buffer.
    #[inline]
    fn send(&mut self) -> Result<(), Failure> {
        self.stream.send(&self.send_buffer)?;
        self.send_buffer.clear();
        Ok(())
    }

    /// Runs a statement as text; `on_row` gets each row, as text.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn query(
        &mut self,
        sql: &str,
        on_row: impl FnMut(&[u8]),
    ) -> Result<Answer, Failure> {
        let out = self.send_buffer();
        let start = super::text::begin(out);
        out.extend_from_slice(sql.as_bytes());
        super::text::end(out, start)?;
        self.exchange(on_row)
    }

    /// Runs a statement, ignoring its rows.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn run(&mut self, sql: &str) -> Result<(), Failure> {
        self.query(sql, |_| {}).map(|_| ())
    }

    /// Returns all rows of a statement as text; null becomes empty.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn table(&mut self, sql: &str) -> Result<Vec<Vec<String>>, Failure> {
        let mut rows = Vec::new();
        let text = |column: Option<&[u8]>| {
            column.map(String::from_utf8_lossy).unwrap_or_default().into_owned()
        };
        self.query(sql, |row| rows.push(columns(row).map(text).collect()))?;
        Ok(rows)
    }

    /// Returns the first column of the first row; `None` when null or absent.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn value(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        let mut found = None;
        self.query(sql, |row| {
            let first = columns(row).next().flatten();
            found = found.take().or_else(|| first.map(|c| String::from_utf8_lossy(c).into_owned()));
        })?;
        Ok(found)
    }

    /// Returns names and values of a single row, without nulls.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn named_row(&mut self, sql: &str) -> Result<Vec<(String, String)>, Failure> {
        let out = self.send_buffer();
        let start = super::text::begin(out);
        out.extend_from_slice(sql.as_bytes());
        super::text::end(out, start)?;
        self.send()?;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        read_answer(
            &mut self.receive_buffer,
            &mut self.stream,
            &mut self.status,
            |part| match part {
                Part::Columns(body) => names = column_names(body),
                Part::Row(row) => {
                    let text = |c: &[u8]| String::from_utf8_lossy(c).into_owned();
                    values = columns(row).map(|column| column.map(text)).collect();
                }
                Part::Parameters(_) => {}
            },
        )?;
        let pairs = names.into_iter().zip(values);
        Ok(pairs.filter_map(|(name, value)| Some((name, value?))).collect())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut out = BytesMut::new();
        frontend::terminate(&mut out);
        // The server also ends it when the socket closes.
        drop(self.stream.send(&out));
    }
}

/// Parses the types of a parameter description.
fn parameter_types(body: &[u8]) -> Vec<u32> {
    let types = body.get(2..).unwrap_or_default().as_chunks::<4>().0;
    types.iter().map(|oid| u32::from_be_bytes(*oid)).collect()
}

/// Bytes after a column's name in a row description: table and position (6 bytes), type (4), and
/// 8 more.
///
/// Source: Postgres' documentation, "Message Formats", `RowDescription`.
const COLUMN_BYTES: usize = 18;

/// Iterates over name and type of each column in a row description.
fn fields(body: &[u8]) -> impl Iterator<Item = (&[u8], u32)> {
    let mut rest = body.get(2..).unwrap_or_default();
    std::iter::from_fn(move || {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let (name, after) = rest.split_at(end);
        let (about, after) = after.get(1..)?.split_at_checked(COLUMN_BYTES)?;
        rest = after;
        Some((name, u32::from_be_bytes(*about.get(6..)?.first_chunk()?)))
    })
}

fn column_types(body: &[u8]) -> Vec<u32> {
    fields(body).map(|(_, oid)| oid).collect()
}

fn column_names(body: &[u8]) -> Vec<String> {
    fields(body).map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_and_names_are_read_from_descriptions() {
        assert_eq!(parameter_types(b"\0\x02\0\0\0\x11\0\0\0\x14"), [17, 20]);
        let about = |oid: u8| [&[0; 9][..], &[oid], &[0; 8]].concat();
        let body = [&b"\0\x02k\0"[..], &about(17), b"count\0", &about(20)].concat();
        assert_eq!(column_types(&body), [17, 20]);
        assert_eq!(column_names(&body), ["k", "count"]);
        assert_eq!(column_names(&body[..20]), [""; 0]);
    }
}
