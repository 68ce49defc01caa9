//! A logged-in connection to a server.

use std::io::Write;
use std::time::Duration;

use driver_sql::{
    CatalogEntry, Contact, Creation, DataSet, Field, Object, ObjectKind, Reference, Reply, Socket,
    Sql, Template, Value, unless_refused,
};
use model::Endpoint;
use model::sql::Dialect;

use super::failure::{ErrorPacket, Failure, number};
use super::greeting::await_greeting;
use super::locks;
use super::login::log_in;
use super::packets::Packets;
use super::result::{Column, ERR_HEADER, error_packet, malformed};
use super::row::Fields;
use super::statement::{PING, PREPARE, QUERY, QUIT, Statement};
use super::text;
use super::typed::typed_fields;

/// Locks the database for a run; waits 5 s: a client that has just left may still hold it.
const LOCK: &str = "SELECT GET_LOCK(CONCAT('assay ', DATABASE()), 5)";
/// The foreign keys to tables of the database, except those of a table to itself.
const REFERENCES: &str = "SELECT DISTINCT CONCAT(table_schema, '.', table_name), \
                          referenced_table_name FROM information_schema.key_column_usage WHERE \
                          referenced_table_schema = DATABASE() AND NOT (table_schema = \
                          DATABASE() AND table_name = referenced_table_name)";
/// Error of a statement that cannot be prepared.
///
/// Source: MySQL's server error reference, `ER_UNSUPPORTED_PS`.
const NOT_PREPARED: u16 = 1295;
/// Longest key, bytes: the longest prefix that every supported version can index.
///
/// Source: MySQL 5.6's reference manual, "Limits on InnoDB Tables": 767 bytes.
const KEY_BYTES_MAX: usize = 767;
/// Longest value, bytes: hex-encoded it fits a packet of 16 MiB, and a tenth of the default redo
/// log of own servers, which MySQL 5.6 requires.
const VALUE_BYTES_MAX: usize = 7 << 20;

/// A connection to a server.
#[derive(Debug)]
pub(crate) struct Connection {
    packets: Packets<Socket>,
    /// As the server counts its connections.
    number: u32,
}

impl Connection {
    fn prepare_text(&mut self, sql: &str) -> Result<Statement, Failure> {
        let request = self.packets.request();
        request.push(PREPARE);
        request.extend_from_slice(sql.as_bytes());
        self.packets.send()?;
        let packet = self.packets.next()?;
        if packet.first() == Some(&ERR_HEADER) {
            return Err(error_packet(packet));
        }
        let (statement, columns) =
            Statement::read(packet).ok_or_else(|| malformed("a prepared statement"))?;
        for described in [statement.parameters as u64, columns] {
            if described > 0 {
                self.packets.skip(described + u64::from(!self.packets.deprecates_eof))?;
            }
        }
        Ok(statement)
    }
}

impl driver_sql::Connection for Connection {
    type Session = ();
    type Error = ErrorPacket;
    type Prepared = Statement;
    type Column = Column;

    const HAS_ROW_LIMITS: bool = false;
    const SQL: Sql = Sql {
        dialect: Dialect::Mysql,
        quote: "`",
        name_type: "VARBINARY(250)",
        put: "INSERT INTO assay_kv (k, v) VALUES (?, ?) ON DUPLICATE KEY UPDATE v = VALUES(v)",
        partial_update: "UPDATE assay_kv SET v = INSERT(v, ?1, ?3, ?2) WHERE k = ?0 AND \
                         OCTET_LENGTH(v) >= ?4",
        append: "UPDATE assay_kv SET v = CONCAT(v, ?2) WHERE k = ?0 AND OCTET_LENGTH(v) <= ?4",
        row_bytes_max: (KEY_BYTES_MAX, VALUE_BYTES_MAX),
        has_arrays: false,
        keys_max: 256,
        begin: "START TRANSACTION",
        is_begin_prepared: false,
        // Without it, a server that reads committed rows by default would take no snapshot.
        hold: &[
            "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "START TRANSACTION WITH CONSISTENT SNAPSHOT",
        ],
        // The greeting has 32 bits of it; a proxy answers the function alone by itself.
        session_number: "SELECT CONNECTION_ID() & 4294967295",
        mark_session: "SET @assay_mark = 1",
        is_session_marked: "SELECT @assay_mark",
        busy: "SELECT COUNT(*) FROM information_schema.processlist WHERE command <> 'Sleep' AND \
               id IN",
        holds_lock: "SELECT IS_USED_LOCK(CONCAT('assay ', DATABASE())) = CONNECTION_ID()",
    };

    fn open(endpoint: &Endpoint, (): &(), contact: Contact) -> Result<Self, Failure> {
        let Endpoint { address, login, .. } = endpoint;
        let socket = Socket::connect(address, login, contact).map_err(Failure::Unreachable)?;
        let is_secure = socket.is_secure();
        let mut packets = Packets::new(socket);
        await_greeting(&mut packets, endpoint, contact)?;
        let number = log_in(&mut packets, endpoint, is_secure, |it| it.encrypt(address, login))?;
        packets.socket.limit_answers(None)?;
        Ok(Self { packets, number })
    }

    fn certificate_note(&self) -> Option<&'static str> {
        self.packets.socket.certificate_note()
    }

    fn number(&self) -> Option<u64> {
        Some(u64::from(self.number))
    }

    fn set_number(&mut self, number: u64) {
        self.number = u32::try_from(number).unwrap_or(self.number);
    }

    fn limit_wait(&mut self, limit: Option<Duration>) -> Reply<(), Self> {
        Ok(self.packets.socket.limit_answers(limit)?)
    }

    /// By the client: only some releases have a limit of their own, and for reads only.
    fn limit_time(&mut self, limit: Duration) -> Reply<(), Self> {
        self.limit_wait(Some(limit))
    }

    fn limit_lock_waits(&mut self, limit: Duration) -> Reply<(), Self> {
        let seconds = limit.as_secs().max(1);
        for variable in
            ["lock_wait_timeout", "innodb_lock_wait_timeout", "rocksdb_lock_wait_timeout"]
        {
            unless_refused(self.run(&format!("SET SESSION {variable} = {seconds}")))?;
        }
        Ok(())
    }

    fn lock_queries(numbers: &[u64]) -> Vec<String> {
        locks::queries(numbers)
    }

    /// A server notices at its next answer that its client is gone.
    fn end(&mut self, number: u64) -> Reply<(), Self> {
        // It may have ended meanwhile.
        unless_refused(self.run(&format!("KILL {number}"))).map(drop)
    }

    fn prepare<'v>(
        &mut self,
        template: &Template,
        _value: impl Fn(usize) -> Value<'v>,
    ) -> Reply<Option<Statement>, Self> {
        let (sql, positions) = template.with_placeholders(false, |_| "?".to_owned());
        match self.prepare_text(&sql) {
            Err(failure) if number(&failure) == Some(NOT_PREPARED) => Ok(None),
            prepared => {
                let mut statement = prepared?;
                statement.positions = positions;
                statement.is_read = template.is_read;
                Ok(Some(statement))
            }
        }
    }

    #[inline]
    fn write<'v>(
        &mut self,
        statement: &mut Statement,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Reply<u64, Self> {
        statement
            .encode(value, self.packets.request())
            .inspect_err(|_| self.packets.discard_request())
    }

    #[inline]
    fn write_text<'v>(
        &mut self,
        template: &Template,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Reply<u64, Self> {
        let request = self.packets.request();
        request.push(QUERY);
        Ok(template.write(value, request, text::literal))
    }

    #[inline]
    fn enqueue(&mut self) -> Reply<(), Self> {
        Ok(self.packets.enqueue()?)
    }

    #[inline]
    fn exchange(
        &mut self,
        prepared: Option<&Statement>,
        on_row: impl FnMut(Column, &[u8]),
    ) -> Reply<u64, Self> {
        self.packets.send()?;
        self.packets.stores_types = prepared.is_some_and(|statement| statement.is_read);
        self.packets.answer(prepared.is_some(), on_row)
    }

    #[inline]
    fn answer(&mut self, is_text: bool, on_row: impl FnMut(Column, &[u8])) -> Reply<u64, Self> {
        self.packets.send_queued()?;
        self.packets.answer(!is_text, on_row)
    }

    #[inline]
    fn has_answer(&self) -> bool {
        !self.packets.received.is_empty()
    }

    fn is_in_transaction(&self, is_begun: bool) -> bool {
        is_begun
    }

    #[inline]
    fn columns<'r>(
        column: Column,
        row: &'r [u8],
        _scratch: &'r mut Vec<u8>,
    ) -> (&'r [u8], &'r [u8]) {
        let mut fields = column.fields(row);
        let mut next = || fields.next().flatten().unwrap_or_default();
        (next(), next())
    }

    fn fields<'r>(&'r self, is_prepared: bool, row: &'r [u8]) -> impl Iterator<Item = Field<'r>> {
        let typed = is_prepared.then(|| typed_fields(row, &self.packets.types));
        let texts = (!is_prepared).then(|| Fields::of_text(row));
        let text = |field: Option<&'r [u8]>| field.map_or(Field::Null, Field::Text);
        typed.into_iter().flatten().chain(texts.into_iter().flatten().map(text))
    }

    fn texts(row: &[u8]) -> impl Iterator<Item = Option<&[u8]>> {
        Fields::of_text(row)
    }

    fn lock(&mut self) -> Reply<bool, Self> {
        Ok(self.first(LOCK)?.as_deref() != Some("0"))
    }

    fn pin_schema(&mut self, (): &mut ()) -> Reply<Option<String>, Self> {
        self.first("SELECT DATABASE()")
    }

    fn qualified(schema: &str, table: &str) -> String {
        format!("`{}`.`{table}`", schema.replace('`', "``"))
    }

    /// An option of a storage engine may precede the identity in the comment.
    fn find(&mut self, schema: &str, object: &Object) -> Reply<Option<CatalogEntry>, Self> {
        let Object { kind, name } = object;
        let sql = match kind {
            ObjectKind::Table => format!("SELECT LOWER(table_type), table_comment {}", named(name)),
            ObjectKind::Function | ObjectKind::Procedure => format!(
                "SELECT LOWER(routine_type), routine_comment FROM information_schema.routines \
                 WHERE routine_schema = DATABASE() AND routine_name = '{name}' AND \
                 LOWER(routine_type) = '{}'",
                kind.name()
            ),
        };
        let found = self.pairs(&sql)?.into_iter().next();
        Ok(found.map(|(found, comment)| CatalogEntry {
            kind: found.trim_start_matches("base ").to_owned(),
            identity: identity(&comment),
            drop: format!("DROP {} {}", kind.name(), Self::qualified(schema, name)),
        }))
    }

    fn references(&mut self) -> Reply<Vec<Reference>, Self> {
        let pairs = unless_refused(self.pairs(REFERENCES))?.unwrap_or_default();
        Ok(pairs.into_iter().map(|(table, to)| Reference { table, to }).collect())
    }

    fn identified(creation: &Creation<'_>, data_set: &DataSet) -> Option<String> {
        creation.with_option(&format!("COMMENT '{}'", comment(data_set)))
    }

    fn identify(&mut self, data_set: &DataSet, table: &str) -> Reply<bool, Self> {
        let Some(found) = self.first(&format!("SELECT table_comment {}", named(table)))? else {
            return Ok(false);
        };
        if !found.ends_with(&data_set.token) {
            let found = format!("{found} {}", comment(data_set));
            let mut literal = Vec::new();
            text::literal(Value::Text(found.trim_start().as_bytes()), &mut literal);
            let (table, literal) = (Self::qualified(&data_set.schema, table), literal.as_slice());
            let literal = String::from_utf8_lossy(literal);
            self.run(&format!("ALTER TABLE {table} COMMENT = {literal}"))?;
        }
        Ok(true)
    }

    fn create_key_value((): &()) -> Vec<String> {
        vec![format!(
            "CREATE TABLE assay_kv (k VARBINARY({KEY_BYTES_MAX}) NOT NULL PRIMARY KEY, v LONGBLOB \
             NOT NULL)"
        )]
    }

    /// An empty statement is an error to these servers.
    fn ping(&mut self) -> Reply<(), Self> {
        self.packets.request().push(PING);
        self.exchange(None, |_, _| {}).map(drop)
    }

    fn query(&mut self, sql: &str, on_row: impl FnMut(Column, &[u8])) -> Reply<u64, Self> {
        let request = self.packets.request();
        request.push(QUERY);
        request.write_all(sql.as_bytes())?;
        self.exchange(None, on_row)
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.packets.request().push(QUIT);
        // The server also ends it when the socket closes.
        drop(self.packets.send());
    }
}

/// Returns what reads from the list of tables that of this name, whatever its kind.
///
/// Names are compared by case, unless the server's tables have none.
fn named(table: &str) -> String {
    format!(
        "FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name = '{table}' \
         AND (CAST(table_name AS BINARY) = '{table}' OR @@lower_case_table_names > 0)"
    )
}

/// Returns the comment of what a run creates.
fn comment(data_set: &DataSet) -> String {
    format!("Assay {}", data_set.token)
}

/// Returns the identity at the end of a comment; `None` of a table that no run has created.
///
/// A comment has it only from who may alter the table, where every writer of the database may add
/// a mark.
fn identity(comment: &str) -> Option<String> {
    let (before, token) = comment.rsplit_once(' ')?;
    let is_token = token.len() == 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_ours = before == "Assay" || before.ends_with(" Assay");
    (is_ours && is_token).then(|| token.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: no mark that another user writes makes a run drop a table that it did not create.
    #[test]
    fn only_the_comment_of_a_run_is_an_identity() {
        let token = "0123456789abcdef0123456789abcdef";
        for comment in [format!("Assay {token}"), format!("ttl_duration=1; Assay {token}")] {
            assert_eq!(identity(&comment).as_deref(), Some(token));
        }
        let own = format!("holds {token}");
        for comment in ["", "holds orders", "Assay orders", token, &own] {
            assert_eq!(identity(comment), None, "{comment}");
        }
    }
}
