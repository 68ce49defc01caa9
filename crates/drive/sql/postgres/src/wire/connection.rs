//! A logged-in connection to a server.

use std::io::Write;
use std::time::Duration;

use bytes::BytesMut;
use driver_sql::{
    CatalogEntry, Connection as _, Contact, Creation, DataSet, Field, Object, ObjectKind,
    ReceiveBuffer, Reply, Socket, Sql, Template, Value, unless_refused,
};
use model::Endpoint;
use model::sql::Dialect;
use postgres_protocol::message::backend::{
    DATA_ROW_TAG, PARAMETER_DESCRIPTION_TAG, ROW_DESCRIPTION_TAG,
};
use postgres_protocol::message::frontend;

use super::catalog;
use super::failure::{ErrorResponse, Failure};
use super::first_answer::{connect, with_socket_file};
use super::locks;
use super::login::{LoggedIn, Session, log_in};
use super::message::{READ_BYTES, columns, fields, parameter_types};
use super::result::read_answer;
use super::statement::{Bound, Described};
use super::text;
use super::value::{Coder, KEY_BYTES_MAX, VALUE_BYTES_MAX, rows_max, write_literal};

/// State of a connection outside of any transaction.
const IDLE: u8 = b'I';
/// State of a connection within a transaction that has not failed.
const IN_TRANSACTION: u8 = b'T';
/// Statements around the preparation of another within a transaction: before it, after its
/// rejection, after it.
const PREPARING: [&str; 3] = [
    "SAVEPOINT assay_preparing",
    "ROLLBACK TO SAVEPOINT assay_preparing",
    "RELEASE SAVEPOINT assay_preparing",
];
/// SQLSTATE of a parameter used as two types.
///
/// Source: Postgres' documentation, appendix A.
const AMBIGUOUS_PARAMETER: &str = "42P08";

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
    logged_in: LoggedIn,
}

/// A prepared statement with the encoding of its values.
#[derive(Debug)]
pub(crate) struct Prepared {
    bound: Bound,
    /// The argument of each parameter, with its encoding.
    values: Vec<(usize, Coder)>,
    /// The argument with the most rows of an execution.
    rows_at: Option<usize>,
}

/// What is known of the columns of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    is_text: bool,
}

impl Connection {
    /// Returns a parameter reported at login: `server_version`.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.logged_in.parameters.get(name).map(String::as_str)
    }

    /// Sets the session's schemas; poolers may ignore them in the start-up message.
    fn set_search_path(&mut self, Session { search_path, .. }: &Session) -> Result<(), Failure> {
        if search_path.is_empty() {
            return Ok(());
        }
        self.run(&format!("SET search_path TO {search_path}"))
    }

    /// Prepares the statement `sql` under a name of its own.
    fn describe(&mut self, sql: &str) -> Result<Described, Failure> {
        self.statements += 1;
        let name = format!("s{}", self.statements);
        let mut out = BytesMut::new();
        frontend::parse(&name, sql, [], &mut out)
            .and_then(|()| frontend::describe(b'S', &name, &mut out))
            .map_err(|error| Failure::Rejected(format!("`{sql}`: {error}")))?;
        frontend::sync(&mut out);
        self.stream.write_all(&out)?;
        let mut parameters = Vec::new();
        self.read(|tag, body| {
            if tag == PARAMETER_DESCRIPTION_TAG {
                parameters = parameter_types(body);
            }
        })?;
        Ok(Described { name, parameters })
    }

    /// Appends a request; one that fails is discarded.
    #[inline]
    fn append(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<u64, Failure>,
    ) -> Result<u64, Failure> {
        let start = self.send_buffer.len();
        write(&mut self.send_buffer).inspect_err(|_| self.send_buffer.truncate(start))
    }

    /// Appends a statement as text without values.
    fn append_text(&mut self, sql: &str) -> Result<u64, Failure> {
        self.append(|out| {
            let start = text::begin(out);
            out.extend_from_slice(sql.as_bytes());
            text::end(out, start).map(|()| 0)
        })
    }

    /// Sends and clears the buffer.
    #[inline]
    fn send(&mut self) -> Result<(), Failure> {
        self.stream.write_all(&self.send_buffer)?;
        self.send_buffer.clear();
        Ok(())
    }

    /// Reads one answer; returns the affected rows.
    #[inline]
    fn read(&mut self, on_message: impl FnMut(u8, &[u8])) -> Result<u64, Failure> {
        read_answer(&mut self.receive_buffer, &mut self.stream, &mut self.status, on_message)
    }

    #[inline]
    fn read_rows(
        &mut self,
        column: Column,
        mut on_row: impl FnMut(Column, &[u8]),
    ) -> Result<u64, Failure> {
        self.read(|tag, row| {
            if tag == DATA_ROW_TAG {
                on_row(column, row);
            }
        })
    }

    /// Returns names and values of a single row, without nulls.
    pub(crate) fn named_row(&mut self, sql: &str) -> Result<Vec<(String, String)>, Failure> {
        self.append_text(sql)?;
        self.send()?;
        let (mut names, mut values): (Vec<String>, Vec<Option<String>>) = Default::default();
        let text = |c: &[u8]| String::from_utf8_lossy(c).into_owned();
        self.read(|tag, body| match tag {
            ROW_DESCRIPTION_TAG => names = fields(body).map(text).collect(),
            DATA_ROW_TAG => values = columns(body).map(|column| column.map(text)).collect(),
            _ => {}
        })?;
        let pairs = names.into_iter().zip(values);
        Ok(pairs.filter_map(|(name, value)| Some((name, value?))).collect())
    }
}

impl driver_sql::Connection for Connection {
    type Session = Session;
    type Error = Box<ErrorResponse>;
    type Prepared = Prepared;
    type Column = Column;

    /// With an unknown limit the planner assumes a tenth of the table: it would sort it, or plan
    /// each execution anew.
    ///
    /// Source: Postgres' source, `preprocess_limit` in `planner.c`.
    const HAS_ROW_LIMITS: bool = true;
    const SQL: Sql = Sql {
        dialect: Dialect::Postgres,
        quote: "",
        name_type: "text",
        put: "INSERT INTO assay_kv (k, v) VALUES (?, ?) ON CONFLICT (k) DO UPDATE SET v = \
              excluded.v",
        partial_update: "UPDATE assay_kv SET v = overlay(v PLACING ?2 FROM ?1 FOR ?3) \
                         WHERE k = ?0 AND octet_length(v) >= ?4",
        append: "UPDATE assay_kv SET v = v || ?2 WHERE k = ?0 AND octet_length(v) <= ?4",
        row_bytes_max: (KEY_BYTES_MAX, VALUE_BYTES_MAX),
        has_arrays: true,
        keys_max: usize::MAX,
        begin: "BEGIN",
        is_begin_prepared: true,
        hold: &["BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"],
        session_number: "SELECT pg_backend_pid()",
        mark_session: "SELECT set_config('assay.mark', '1', false)",
        is_session_marked: "SELECT current_setting('assay.mark', true)",
        holds_lock: locks::HOLDS_RUN,
        busy: locks::BUSY,
    };

    fn open(endpoint: &Endpoint, session: &Session, contact: Contact) -> Result<Self, Failure> {
        let endpoint = &with_socket_file(endpoint);
        let mut stream = connect(endpoint, contact)?;
        let mut receive_buffer = ReceiveBuffer::new(READ_BYTES);
        let settings = &session.settings;
        let logged_in = log_in(&mut stream, &mut receive_buffer, endpoint, settings, contact)?;
        let (status, statements, send_buffer) = (IDLE, 0, Vec::new());
        let mut connection =
            Self { stream, receive_buffer, send_buffer, status, statements, logged_in };
        connection.check_role(endpoint)?;
        connection.set_search_path(session)?;
        connection.stream.limit_answers(None)?;
        Ok(connection)
    }

    fn certificate_note(&self) -> Option<&'static str> {
        self.stream.certificate_note()
    }

    fn number(&self) -> Option<u64> {
        self.logged_in.process
    }

    fn set_number(&mut self, number: u64) {
        self.logged_in.process = Some(number);
    }

    fn limit_wait(&mut self, limit: Option<Duration>) -> Reply<(), Self> {
        Ok(self.stream.limit_answers(limit)?)
    }

    /// By the server, and where it does not answer by the client.
    fn limit_time(&mut self, limit: Duration) -> Reply<(), Self> {
        self.limit_wait(Some(2 * limit))?;
        self.run(&format!("SET statement_timeout = {}", limit.as_millis()))
    }

    fn limit_lock_waits(&mut self, limit: Duration) -> Reply<(), Self> {
        let sql = format!("SET lock_timeout = {}", limit.as_millis());
        unless_refused(self.run(&sql)).map(drop)
    }

    fn lock_queries(numbers: &[u64]) -> Vec<String> {
        vec![locks::query(numbers)]
    }

    /// A shared parameter gets the type of its first use, as it should; where the uses differ in
    /// type the server rejects it, and each use gets a parameter of its own.
    fn prepare<'v>(
        &mut self,
        template: &Template,
        value: impl Fn(usize) -> Value<'v>,
    ) -> Reply<Option<Prepared>, Self> {
        let numbered = |is_shared| template.with_placeholders(is_shared, |at| format!("${at}"));
        let (sql, mut arguments) = numbered(true);
        // A statement that is rejected would abort the transaction it is first used in.
        let is_guarded = self.status == IN_TRANSACTION;
        let [begin, back, end] = PREPARING;
        if is_guarded {
            self.run(begin)?;
        }
        let described = match self.describe(&sql) {
            Err(Failure::Refused(error_response)) if error_response.is(AMBIGUOUS_PARAMETER) => {
                if is_guarded {
                    self.run(back)?;
                }
                let (sql, separate) = numbered(false);
                arguments = separate;
                self.describe(&sql)?
            }
            described => described?,
        };
        if is_guarded {
            self.run(end)?;
        }
        let of = |(position, oid): (usize, &u32)| (position, Coder::of(*oid, value(position)));
        let values: Vec<_> = arguments.into_iter().zip(&described.parameters).map(of).collect();
        let is_text: Vec<_> = values.iter().map(|(_, coder)| *coder == Coder::Text).collect();
        let bound = Bound::new(&described, &is_text, template.is_read)?;
        Ok(Some(Prepared { bound, values, rows_at: template.rows_at }))
    }

    #[inline]
    fn write<'v>(
        &mut self,
        prepared: &mut Prepared,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Reply<u64, Self> {
        let Prepared { bound, values, rows_at } = prepared;
        self.append(|out| {
            let start = bound.begin(out);
            let before = out.len();
            for (position, coder) in values.iter() {
                coder.write(out, value(*position))?;
            }
            // Each value is preceded by four bytes of length.
            let bytes = out.len() - before - 4 * values.len();
            bound.end(out, start, rows_at.map_or(0, |at| rows_max(value(at))))?;
            Ok(bytes as u64)
        })
    }

    #[inline]
    fn write_text<'v>(
        &mut self,
        template: &Template,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Reply<u64, Self> {
        self.append(|out| {
            let start = text::begin(out);
            let bytes = template.write(value, out, |value, out| write_literal(out, value));
            text::end(out, start)?;
            Ok(bytes)
        })
    }

    #[inline]
    fn exchange(
        &mut self,
        prepared: Option<&Prepared>,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Reply<u64, Self> {
        self.send()?;
        self.read_rows(Column { is_text: prepared.is_none() }, on_row)
    }

    #[inline]
    fn answer(&mut self, is_text: bool, on_row: impl FnMut(Column, &[u8])) -> Reply<u64, Self> {
        if !self.send_buffer.is_empty() && self.receive_buffer.is_empty() {
            let Self { stream, receive_buffer, send_buffer, .. } = self;
            stream.write_and_take(send_buffer, |stream| receive_buffer.read_once(stream))?;
            send_buffer.clear();
        }
        self.read_rows(Column { is_text }, on_row)
    }

    #[inline]
    fn has_answer(&self) -> bool {
        !self.receive_buffer.is_empty()
    }

    fn is_in_transaction(&self, _is_begun: bool) -> bool {
        self.status != IDLE
    }

    #[inline]
    fn columns<'r>(
        column: Column,
        row: &'r [u8],
        scratch: &'r mut Vec<u8>,
    ) -> (&'r [u8], &'r [u8]) {
        let mut columns = columns(row);
        let mut next = || columns.next().flatten().unwrap_or_default();
        let (first, second) = (next(), next());
        if !column.is_text {
            return (first, second);
        }
        scratch.clear();
        text::unhex(first, scratch);
        let first_bytes = scratch.len();
        text::unhex(second, scratch);
        scratch.split_at(first_bytes)
    }

    /// Rows to be read come as text, prepared or not.
    #[inline]
    fn fields<'r>(&'r self, _is_prepared: bool, row: &'r [u8]) -> impl Iterator<Item = Field<'r>> {
        columns(row).map(|column| column.map_or(Field::Null, Field::Text))
    }

    fn texts(row: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
        columns(row)
    }

    fn lock(&mut self) -> Reply<bool, Self> {
        match self.run(locks::LOCK_RUN) {
            Err(Failure::Refused(response)) if response.is("55P03") => Ok(false),
            locked => locked.map(|()| true),
        }
    }

    fn pin_schema(&mut self, session: &mut Session) -> Reply<Option<String>, Self> {
        let schemas = self.rows(catalog::SCHEMAS)?.concat();
        let quoted: Vec<_> = schemas.iter().map(|schema| catalog::quoted(schema)).collect();
        session.search_path = quoted.join(", ");
        self.set_search_path(session)?;
        Ok(schemas.into_iter().next())
    }

    fn qualified(schema: &str, table: &str) -> String {
        catalog::qualified(schema, table)
    }

    fn find(&mut self, schema: &str, object: &Object) -> Reply<Option<CatalogEntry>, Self> {
        let rows = self.rows(&catalog::find(schema, object))?;
        Ok(rows.into_iter().next().and_then(|row| {
            let [kind, identity, drop] = <[String; 3]>::try_from(row).ok()?;
            let kind = catalog::kind(&kind).to_owned();
            Some(CatalogEntry { kind, identity: Some(identity).filter(|it| !it.is_empty()), drop })
        }))
    }

    fn shared(&mut self, schema: &str, table: &str) -> Reply<Option<String>, Self> {
        self.first(&catalog::shared(schema, table))
    }

    fn identified(creation: &Creation<'_>, data_set: &DataSet) -> Option<String> {
        let is_routine = creation.object.kind != ObjectKind::Table;
        is_routine.then(|| catalog::marking_routine(creation, data_set))
    }

    fn identify(&mut self, data_set: &DataSet, table: &str) -> Reply<bool, Self> {
        let mark = catalog::mark_table(data_set, &Object::table(table));
        Ok(self.query(&mark, |_, _| {})? > 0)
    }

    fn create_key_value(session: &Session) -> Vec<String> {
        let mut statements =
            vec!["CREATE TABLE assay_kv (k bytea PRIMARY KEY, v bytea NOT NULL)".to_owned()];
        if session.is_uncompressed {
            statements.push("ALTER TABLE assay_kv ALTER COLUMN v SET STORAGE EXTERNAL".to_owned());
        }
        statements
    }

    fn query(&mut self, sql: &str, on_row: impl FnMut(Column, &[u8])) -> Reply<u64, Self> {
        self.append_text(sql)?;
        self.exchange(None, on_row)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let mut out = BytesMut::new();
        frontend::terminate(&mut out);
        // The server also ends it when the socket closes.
        drop(self.stream.write_all(&out));
    }
}
