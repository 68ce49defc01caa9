//! How servers explain statements, and count them.

use model::StatementTotals;
use model::sql::Protocol;

use crate::command::Command;
use crate::connection::{Connection, Reply};
use crate::row_texts::RowTexts;
use crate::template::{Template, Value};

/// How a server explains a statement: prefixes, the first that it takes is used.
#[derive(Debug, Clone, Copy)]
pub struct Explain {
    /// Returns the plan.
    pub plan: &'static str,
    /// Executes the statement, and returns the plan with what it did.
    pub executed: &'static [&'static str],
    /// Returns the access paths in the rows of a plan, without values and estimates.
    pub paths: fn(&[Vec<String>]) -> String,
}

/// A connection to a server that explains statements and counts them.
///
/// A method fails when the server refuses a statement or does not answer.
#[expect(clippy::missing_errors_doc, reason = "stated by the trait")]
pub trait Statements: Connection {
    /// How the server explains statements.
    const EXPLAIN: Explain;

    /// Returns the server's statistics of statements; empty where it collects none.
    ///
    /// What the connection executes afterwards is in none of them, where the login may choose.
    fn statement_entries(&mut self, is_foreign: bool) -> Reply<Vec<StatementEntry>, Self>;

    /// Returns the statistics that end with the session: of what it prepared.
    fn session_entries(&mut self) -> Reply<Vec<StatementEntry>, Self> {
        Ok(Vec::new())
    }

    /// Returns the positions of the entries in which the server counts a statement.
    fn find_entries(
        &mut self,
        statement: &SentStatement<'_>,
        entries: &[StatementEntry],
    ) -> Reply<Vec<usize>, Self>;
}

/// One entry of a server's statistics of statements.
#[derive(Debug, Clone, PartialEq)]
pub struct StatementEntry {
    /// The server's identifier.
    pub id: String,
    /// The statement as the server normalises it.
    pub text: String,
    /// Its totals.
    pub totals: StatementTotals,
}

impl StatementEntry {
    /// Parses a row: identifier, text, calls, time in us, rows, rows examined, pages.
    ///
    /// The last two are empty where the server does not count them.
    pub fn parse(row: &[String]) -> Option<Self> {
        let [id, text, calls, server_us, rows, examined, pages] = row else { return None };
        let totals = StatementTotals {
            calls: calls.parse().ok()?,
            server_us: server_us.parse().ok()?,
            rows: rows.parse().ok()?,
            examined: examined.parse().ok(),
            pages: pages.parse().ok(),
        };
        Some(Self { id: id.clone(), text: text.clone(), totals })
    }

    /// Returns the positions of the entries of a statement.
    pub fn positions(entries: &[Self], is_its: impl Fn(&Self) -> bool) -> Vec<usize> {
        (0..)
            .zip(entries)
            .filter(|(_, entry)| is_its(entry))
            .map(|(position, _)| position)
            .collect()
    }
}

/// A statement as clients send it, with values of a call.
#[derive(Clone, Copy)]
pub struct SentStatement<'s> {
    pub(crate) template: &'s Template,
    /// How clients send it.
    pub protocol: Protocol,
    pub(crate) values: &'s dyn Fn(usize) -> Value<'s>,
}

impl SentStatement<'_> {
    /// Returns its text: with placeholders where it is prepared, else with literals.
    pub fn text(
        &self,
        placeholder: impl Fn(usize) -> String,
        literal: impl Fn(Value<'_>, &mut Vec<u8>),
    ) -> String {
        if self.protocol == Protocol::Prepared {
            return self.template.with_placeholders(true, placeholder).0;
        }
        let mut text = Vec::new();
        self.template.write(self.values, &mut text, literal);
        String::from_utf8_lossy(&text).into_owned()
    }

    /// Returns the rows of the statement after `prefix`, sent by its protocol.
    ///
    /// # Errors
    /// When the server refuses it or takes too long.
    pub fn explain<C: Connection>(
        &self,
        connection: &mut C,
        prefix: &str,
    ) -> Reply<Vec<Vec<String>>, C> {
        let mut rows = RowTexts::default();
        let mut command = Command::new(self.template.after(prefix), self.protocol);
        command.run(connection, self.values, |_, row| rows.add(C::texts(row)))?;
        rows.all()
    }
}
