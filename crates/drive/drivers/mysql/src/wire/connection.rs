//! One connection to a server, logged in.

use std::time::Duration;

use model::Endpoint;

use super::failure::Failure;
use super::login::{Agreed, log_in};
use super::result::{Column, Done, Form, REFUSED, Reading, garbled, refusal};
use super::row::{Fields, binary_as_text};
use super::statement::{PREPARE, QUERY, QUIT, Statement, Value};
use super::stream::{Packets, Socket};

/// How long a login may take: a server that listens and does not answer must not hold us.
const LOGIN_PATIENCE: Duration = Duration::from_secs(20);

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    packets: Packets<Socket>,
    agreed: Agreed,
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
    /// When nobody listens, or the login is refused.
    pub(crate) fn open(endpoint: &Endpoint) -> Result<Self, Failure> {
        let socket = Socket::connect(&endpoint.address).map_err(|error| {
            Failure::Lost(format!("nobody answers at {}: {error}", endpoint.address))
        })?;
        let is_secure = socket.is_secure();
        let mut packets = Packets::new(socket);
        packets.set_patience(Some(LOGIN_PATIENCE))?;
        let agreed = log_in(&mut packets, endpoint, is_secure)?;
        packets.set_patience(None)?;
        Ok(Self { packets, agreed })
    }

    /// Returns the server's version in its own words, as its greeting tells it.
    pub(crate) fn version(&self) -> &str {
        // MariaDB puts a version of MySQL before its own, for clients that look at the first digit.
        self.agreed.version.strip_prefix("5.5.5-").unwrap_or(&self.agreed.version)
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
        if packet.first() == Some(&REFUSED) {
            return Err(refusal(packet));
        }
        let (statement, columns) =
            Statement::read(packet).ok_or_else(|| garbled("a prepared statement"))?;
        for described in [statement.parameters() as u64, columns] {
            if described > 0 {
                self.packets.skip(described + u64::from(!self.agreed.is_short))?;
            }
        }
        Ok(statement)
    }

    /// Executes a prepared statement; `wants_kind` tells `on_row` the first column's type.
    ///
    /// # Errors
    /// When the server refuses it, or the connection is lost.
    #[inline]
    pub(crate) fn execute<'v>(
        &mut self,
        statement: &mut Statement,
        values: impl Iterator<Item = Value<'v>> + Clone,
        wants_kind: bool,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        self.encode(statement, values)?;
        self.packets.send()?;
        let is_short = self.agreed.is_short;
        self.packets.answer(Reading { is_short, form: Form::Binary, wants_kind }, on_row)
    }

    #[inline]
    fn encode<'v>(
        &mut self,
        statement: &mut Statement,
        values: impl Iterator<Item = Value<'v>> + Clone,
    ) -> Result<(), Failure> {
        statement.encode(values, self.packets.request()).inspect_err(|_| self.packets.forget())
    }

    /// Keeps a prepared statement to be sent with others; `false` when it is too long for that.
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
        let is_kept = self.packets.keep();
        if !is_kept {
            statement.forget_types();
        }
        Ok(is_kept)
    }

    /// Keeps the statement begun last to be sent with others; `false` when it is too long.
    #[inline]
    pub(crate) fn submit_text(&mut self) -> bool {
        self.packets.keep()
    }

    /// Sends what is kept, and reads the answer to the oldest statement in flight.
    ///
    /// # Errors
    /// When the server refuses that statement, or the connection is lost.
    #[inline]
    pub(crate) fn answer(
        &mut self,
        is_text: bool,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Result<Done, Failure> {
        self.packets.send_ahead()?;
        let (is_short, form) =
            (self.agreed.is_short, if is_text { Form::Text } else { Form::Binary });
        self.packets.answer(Reading { is_short, form, wants_kind: false }, on_row)
    }

    /// Returns whether an answer, or its beginning, is here to be read.
    #[inline]
    pub(crate) fn has_answer(&self) -> bool {
        self.packets.has_unread()
    }

    /// Begins a statement given as text, which is appended to what is returned.
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
        let is_short = self.agreed.is_short;
        let reading = Reading { is_short, form: Form::Text, wants_kind: false };
        self.packets.answer(reading, on_row)
    }

    /// Executes a statement given as text and returns what it did.
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
        // The server ends it in any case.
        drop(self.packets.send());
    }
}
