//! One connection.

use bytes::BytesMut;
use model::Endpoint;
use postgres_protocol::message::frontend;

use super::answer::{Answer, Part, read_answer};
use super::bound::Described;
use super::complaint::Failure;
use super::inbox::Inbox;
use super::login::{Told, log_in};
use super::row::columns;
use super::stream::Stream;

/// State of a connection outside of any transaction.
const IDLE: u8 = b'I';

/// A session of the server, logged in.
///
/// After [`Failure::Lost`] it is of no use.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    inbox: Inbox,
    outbox: Vec<u8>,
    status: u8,
    statements: u32,
    told: Told,
}

impl Connection {
    /// Connects and logs in, with `settings` in force for the session.
    ///
    /// # Errors
    /// When the server is not there or does not let us in.
    pub(crate) fn open(
        endpoint: &Endpoint,
        settings: &[(String, String)],
    ) -> Result<Self, Failure> {
        let mut stream = Stream::connect(&endpoint.address)?;
        let mut inbox = Inbox::new();
        let told = log_in(&mut stream, &mut inbox, endpoint, settings)?;
        stream.wait_forever()?;
        Ok(Self { stream, inbox, outbox: Vec::new(), status: IDLE, statements: 0, told })
    }

    /// Returns a setting that the server told at login: `server_version`.
    pub(crate) fn told(&self, name: &str) -> Option<&str> {
        self.told.get(name).map(String::as_str)
    }

    /// Returns whether a transaction was begun and not ended.
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
        read_answer(&mut self.inbox, &mut self.stream, &mut self.status, read)?;
        Ok(Described { name, parameters, columns })
    }

    /// Returns the buffer of requests not sent yet, to which the next is appended.
    #[inline]
    pub(crate) fn outbox(&mut self) -> &mut Vec<u8> {
        &mut self.outbox
    }

    /// Sends the requests in the buffer, unless an answer is here to be read before.
    ///
    /// # Errors
    /// When the connection is lost.
    #[inline]
    pub(crate) fn send_ahead(&mut self) -> Result<(), Failure> {
        if !self.outbox.is_empty() && self.inbox.is_empty() {
            let Self { stream, inbox, outbox, .. } = self;
            server::write_and_take(stream, outbox, |stream| inbox.take(stream))?;
            outbox.clear();
        }
        Ok(())
    }

    /// Returns whether an answer, or its beginning, is here to be read.
    #[inline]
    pub(crate) const fn has_answer(&self) -> bool {
        !self.inbox.is_empty()
    }

    /// Sends the request in the buffer and reads its answer, one call of `on_row` per row.
    ///
    /// One write, one read unless the answer is long; no allocation unless it is the longest yet.
    ///
    /// # Errors
    /// When the server complains, or the connection is lost.
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
        read_answer(&mut self.inbox, &mut self.stream, &mut self.status, |part| {
            if let Part::Row(row) = part {
                on_row(row);
            }
        })
    }

    /// Sends the buffer, which is empty afterwards.
    #[inline]
    fn send(&mut self) -> Result<(), Failure> {
        self.stream.send(&self.outbox)?;
        self.outbox.clear();
        Ok(())
    }

    /// Runs a statement as text; rows come back as text, one call of `on_row` per row.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn query(
        &mut self,
        sql: &str,
        on_row: impl FnMut(&[u8]),
    ) -> Result<Answer, Failure> {
        let out = self.outbox();
        let start = super::text::begin(out);
        out.extend_from_slice(sql.as_bytes());
        super::text::end(out, start)?;
        self.exchange(on_row)
    }

    /// Runs a statement whose rows do not matter.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn run(&mut self, sql: &str) -> Result<(), Failure> {
        self.query(sql, |_| {}).map(|_| ())
    }

    /// Returns all rows of a statement as texts, empty ones for null values.
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

    /// Returns the first column of the first row as text; `None` when it is null or there is none.
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

    /// Returns names and values of a statement's only row; null values are left out.
    ///
    /// # Errors
    /// As [`Connection::exchange`].
    pub(crate) fn named_row(&mut self, sql: &str) -> Result<Vec<(String, String)>, Failure> {
        let out = self.outbox();
        let start = super::text::begin(out);
        out.extend_from_slice(sql.as_bytes());
        super::text::end(out, start)?;
        self.send()?;
        let (mut names, mut values) = (Vec::new(), Vec::new());
        read_answer(&mut self.inbox, &mut self.stream, &mut self.status, |part| match part {
            Part::Columns(body) => names = column_names(body),
            Part::Row(row) => {
                let text = |c: &[u8]| String::from_utf8_lossy(c).into_owned();
                values = columns(row).map(|column| column.map(text)).collect();
            }
            Part::Parameters(_) => {}
        })?;
        let pairs = names.into_iter().zip(values);
        Ok(pairs.filter_map(|(name, value)| Some((name, value?))).collect())
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut out = BytesMut::new();
        frontend::terminate(&mut out);
        // The server also notices when the socket closes.
        drop(self.stream.send(&out));
    }
}

/// Returns the types in a parameter description.
fn parameter_types(body: &[u8]) -> Vec<u32> {
    let types = body.get(2..).unwrap_or_default().as_chunks::<4>().0;
    types.iter().map(|oid| u32::from_be_bytes(*oid)).collect()
}

/// What follows a column's name in a row description: its table and place in it (6 bytes), then
/// its type (4), and 8 bytes more.
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
