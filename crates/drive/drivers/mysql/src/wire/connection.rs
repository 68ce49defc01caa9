//! A logged-in connection to a server.

use std::time::Duration;

use model::Endpoint;

use super::failure::Failure;
use super::login::{Negotiated, log_in};
use super::packets::Packets;
use super::result::{Column, Done, ERR_HEADER, Form, ReadOptions, error_packet, malformed};
use super::row::{Fields, binary_as_text};
use super::socket::Socket;
use super::statement::{PREPARE, QUERY, QUIT, Statement, Value};

/// Read timeout of the login: the server may listen without answering.
const LOGIN_TIMEOUT: Duration = Duration::from_secs(20);

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    packets: Packets<Socket>,
    negotiated: Negotiated,
}

/// Writes a row's first field into `out` as text.
#[cold]
pub(crate) fn first_as_text(column: Column, row: &[u8], out: &mut Vec<u8>) {
    if column.is_binary {
        binary_as_text(row, column.columns, column.kind, out);
    } else {
        out.clear();
        out.extend_from_slice(Fields::of_text(row).next().flatten().unwrap_or_default());
    }
}

impl Connection {
    /// Connects and logs in.
    ///
    /// # Errors
    /// When no server listens, or the login is rejected.
    pub(crate) fn open(endpoint: &Endpoint) -> Result<Self, Failure> {
        let socket = Socket::connect(&endpoint.address).map_err(|error| {
            Failure::Lost(format!("no server answers at {}: {error}", endpoint.address))
        })?;
        let is_secure = socket.is_secure();
        let mut packets = Packets::new(socket);
        packets.set_read_timeout(Some(LOGIN_TIMEOUT))?;
        let negotiated = log_in(&mut packets, endpoint, is_secure)?;
        packets.set_read_timeout(None)?;
        Ok(Self { packets, negotiated })
    }

    /// Returns the server's version, as its greeting has it.
    pub(crate) fn version(&self) -> &str {
        // MariaDB prefixes a MySQL version for clients that read the first digit.
        self.negotiated.version.strip_prefix("5.5.5-").unwrap_or(&self.negotiated.version)
    }

    /// Prepares a statement.
    ///
    /// # Errors
    /// When the server refuses it.
    pub(crate) fn prepare(&mut self, sql: &[u8]) -> Result<Statement, Failure> {
        let request = self.packets.request();
        request.push(PREPARE);
        request.extend_from_slice(sql);
        self.packets.send()?;
        let packet = self.packets.next()?;
        if packet.first() == Some(&ERR_HEADER) {
            return Err(error_packet(packet));
        }
        let (statement, columns) =
            Statement::read(packet).ok_or_else(|| malformed("a prepared statement"))?;
        for described in [statement.parameters() as u64, columns] {
            if described > 0 {
                self.packets.skip(described + u64::from(!self.negotiated.deprecates_eof))?;
            }
        }
        Ok(statement)
    }

    /// Executes a prepared statement; `needs_kind` passes the first column's type to `on_row`.
    ///
    /// # Errors
    /// When the server refuses it, or the connection is lost.
    #[inline]
    pub(crate) fn execute<'v>(
        &mut self,
        statement: &mut Statement,
        values: impl Iterator<Item = Value<'v>> + Clone,
        needs_kind: bool,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        self.encode(statement, values)?;
        self.packets.send()?;
        let deprecates_eof = self.negotiated.deprecates_eof;
        self.packets.answer(ReadOptions { deprecates_eof, form: Form::Binary, needs_kind }, on_row)
    }

    #[inline]
    fn encode<'v>(
        &mut self,
        statement: &mut Statement,
        values: impl Iterator<Item = Value<'v>> + Clone,
    ) -> Result<(), Failure> {
        statement
            .encode(values, self.packets.request())
            .inspect_err(|_| self.packets.discard_request())
    }

    /// Queues a prepared statement; `false` when it is too long for that.
    ///
    /// # Errors
    /// When the values are not those of its parameters.
    #[inline]
    pub(crate) fn submit<'v>(
        &mut self,
        statement: &mut Statement,
        values: impl Iterator<Item = Value<'v>> + Clone,
    ) -> Result<bool, Failure> {
        self.encode(statement, values)?;
        let is_queued = self.packets.enqueue();
        if !is_queued {
            statement.clear_types();
        }
        Ok(is_queued)
    }

    /// Queues the statement begun last; `false` when it is too long.
    #[inline]
    pub(crate) fn submit_text(&mut self) -> bool {
        self.packets.enqueue()
    }

    /// Sends queued statements and reads the answer to the oldest in flight.
    ///
    /// # Errors
    /// When the server refuses that statement, or the connection is lost.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        is_text: bool,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        self.packets.send_queued()?;
        let (deprecates_eof, form) =
            (self.negotiated.deprecates_eof, if is_text { Form::Text } else { Form::Binary });
        self.packets.answer(ReadOptions { deprecates_eof, form, needs_kind: false }, on_row)
    }

    /// Returns whether an answer, or part of it, has been received.
    #[inline]
    pub(crate) fn has_answer(&self) -> bool {
        self.packets.has_unread()
    }

    /// Begins a statement as text, to be appended to the returned buffer.
    #[inline]
    pub(crate) fn begin_text(&mut self) -> &mut Vec<u8> {
        let request = self.packets.request();
        request.push(QUERY);
        request
    }

    /// Executes the statement begun last.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    #[inline]
    pub(crate) fn finish_text(
        &mut self,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        self.packets.send()?;
        let deprecates_eof = self.negotiated.deprecates_eof;
        let options = ReadOptions { deprecates_eof, form: Form::Text, needs_kind: false };
        self.packets.answer(options, on_row)
    }

    /// Executes a statement as text and returns its result.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    pub(crate) fn run(&mut self, sql: &str) -> Result<Done, Failure> {
        self.begin_text().extend_from_slice(sql.as_bytes());
        self.finish_text(|_, _| {})
    }

    /// Returns the rows of a statement given as text; null becomes an empty text.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    pub(crate) fn rows(&mut self, sql: &str) -> Result<Vec<Vec<String>>, Failure> {
        let mut rows = Vec::new();
        self.begin_text().extend_from_slice(sql.as_bytes());
        self.finish_text(|_, row| {
            let text = |field: Option<&[u8]>| {
                String::from_utf8_lossy(field.unwrap_or_default()).into_owned()
            };
            rows.push(Fields::of_text(row).map(text).collect());
        })?;
        Ok(rows)
    }

    /// Returns the first field of a statement's first row; `None` when it has no row or is null.
    ///
    /// # Errors
    /// As [`Connection::execute`].
    pub(crate) fn first(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        let rows = self.rows(sql)?;
        Ok(rows.into_iter().next().and_then(|row| row.into_iter().next()).filter(|s| !s.is_empty()))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.packets.request().push(QUIT);
        // The server also ends it when the socket closes.
        drop(self.packets.send());
    }
}
