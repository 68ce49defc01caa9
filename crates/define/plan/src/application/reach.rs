//! The table that a procedure works on, and the others that its statements name.

use std::cmp::Reverse;

use model::sql::{Copies, Draw, Table};

use super::names::Names;
use super::procedure::Written;
use super::statement::SqlText;
use super::token::Token;
use super::value::Value;
use crate::error::PlanError;

/// Returns the positions of the tables that texts name, in order.
fn named(texts: &[&SqlText<'_>], tables: &[Table]) -> Vec<u16> {
    let mut found = Vec::new();
    for token in texts.iter().flat_map(|text| &text.tokens) {
        let Token::Brace(name) = token else { continue };
        let position = tables.iter().position(|table| table.name == *name);
        let position = position.and_then(|position| u16::try_from(position).ok());
        found.extend(position.filter(|position| !found.contains(position)));
    }
    found
}

/// Orders copies by the copies there are.
const fn amount(copies: Copies) -> (bool, u32) {
    match copies {
        Copies::PerClient => (true, 0),
        Copies::Fixed(count) => (false, count),
    }
}

impl<'a> Names<'a> {
    /// Returns the position of a procedure's table.
    ///
    /// The given one, or the only one; else, of those that the statements name, the one with the
    /// most copies: a call then reaches the same copy of every table.
    pub(super) fn table_of(
        &self,
        written: &Written<'a>,
        texts: &[&SqlText<'_>],
        (tables, values): (&[Table], &[Value<'a>]),
    ) -> Result<u16, PlanError> {
        let names = || tables.iter().map(|table| table.name.as_str());
        if let Some(node) = written.get("table") {
            return self.position(&self.text(node)?, "table", names());
        }
        let named = named(texts, tables);
        let most = |position: &u16| amount(tables[usize::from(*position)].copies);
        let found = named.iter().copied().min_by_key(|position| Reverse(most(position)));
        let is_id = |name: &str| {
            let is_drawn = |draw: &Draw| matches!(draw, Draw::Id | Draw::FirstId);
            values.iter().any(|value| *value.name.get_ref() == name && is_drawn(&value.draw))
        };
        let has = |is_such: &dyn Fn(&Token<'_>) -> bool| {
            texts.iter().flat_map(|text| &text.tokens).any(is_such)
        };
        let needs_one = has(&|token| *token == Token::Brace("table"))
            || named.len() > 1 && has(&|token| matches!(token, Token::Value(name) if is_id(name)));
        match found.filter(|_| !needs_one) {
            _ if tables.len() == 1 => Ok(0),
            Some(position) => Ok(position),
            None => {
                let why = format!("procedure {} names no table", written.name);
                let why = if needs_one && found.is_some() {
                    format!("{why} of its own, for {{table}} and drawn ids")
                } else {
                    why
                };
                let known = names().collect::<Vec<_>>().join(", ");
                Err(self.refuse(written.name.span(), why).remedy(format!(
                    "give `table`: {known}; or write the tables' names in braces in the SQL"
                )))
            }
        }
    }

    /// Checks that a call on a copy of table `own` has one copy of every other table named.
    pub(super) fn check_reached(
        &self,
        (own, copies): (&str, Copies),
        texts: &[&SqlText<'_>],
        tables: &[Table],
    ) -> Result<(), PlanError> {
        for text in texts {
            for position in named(&[text], tables) {
                let other = &tables[usize::from(position)];
                if other.copies == copies || other.copies == Copies::Fixed(1) {
                    continue;
                }
                let name = &other.name;
                let place = self.place_within(text.place.clone(), &format!("{{{name}}}"));
                let why = format!("it is not known which copy of `{name}` a copy of `{own}` needs");
                return Err(self.refuse(place, why).remedy(
                    "give both the same `copies`, or one of them a single copy, and set `table` to \
                     the other",
                ));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;
    use model::sql::Procedure;

    use super::super::read::{Described, read};
    use super::*;
    use crate::error::Source;
    use crate::tests::sample::TestCatalog;

    /// Three tables; `SQL` stands for a procedure's fields.
    const FILE: &str = r#"
name = "bank"
about = "accounts with a history"
row_bytes = 8
order = ["pay", "fill"]
[values]
id = "id"
[[table]]
name = "bank"
create = "CREATE TABLE {table} (id INT)"
[[table]]
name = "account"
copies = 4
id = "id"
create = "CREATE TABLE {table} (id SERIAL, bank INT REFERENCES {bank} (id))"
[[table]]
name = "history"
copies = 4
create = "CREATE TABLE {table} (id INT)"
[procedure.pay]
kind = "transaction"
SQL
[procedure.other]
kind = "insert"
rows = 1
table = "account"
sql = "SELECT 1 FROM {table} WHERE id = :id"
[[step]]
name = "pay"
about = "moves money"
role = "read-write"
clients = ["pay"]
[[step]]
name = "fill"
about = "fills the tables"
role = "load"
clients = ["other"]
rows = "100%"
"#;

    fn loaded(text: &str) -> Result<Described, PlanError> {
        let source = Source { name: "bank.toml".to_owned(), text: text.to_owned() };
        read(&source, (&Source::default(), &Vec::new()), 10, &TestCatalog::default())
    }

    /// Returns the other tables of a procedure, which each dialect names.
    fn dialects_merged(procedure: &Procedure) -> Vec<u16> {
        let mut others: Vec<u16> = procedure.other_tables().collect();
        others.dedup();
        others
    }

    /// Returns the procedure's table, and the others that it reaches.
    fn tables(fields: &str) -> Result<(u16, Vec<u16>), PlanError> {
        let described = loaded(&FILE.replace("SQL", fields))?;
        let pay = described.application.procedures.iter().find(|known| known.name == "pay");
        Ok(pay.map(|pay| (pay.table, dialects_merged(pay))).unwrap_or_default())
    }

    #[test]
    fn statements_reach_other_tables_by_name() {
        let both = "sql = [\"UPDATE {bank} SET id = 1\", \"DELETE FROM {history}\"]";
        assert_eq!(tables(both).unwrap(), (2, vec![0]), "that with the most copies");
        let named =
            "table = \"account\"\nsql = \"INSERT INTO {history} SELECT :id FROM {account}\"";
        assert_eq!(tables(named).unwrap(), (1, vec![2]));
    }

    #[test]
    fn ambiguous_tables_are_rejected_with_the_remedy() {
        let rejection = |fields| {
            let error = tables(fields).unwrap_err();
            format!("{error}: {}", error.help().map(|it| it.to_string()).unwrap_or_default())
        };
        let none = "procedure pay names no table: give `table`: bank, account, history; or write \
                    the tables' names in braces in the SQL";
        assert_eq!(rejection("sql = \"SELECT 1\""), none);
        let ids = rejection("sql = \"SELECT 1 FROM {account}, {bank} WHERE id = :id\"");
        assert!(ids.starts_with("procedure pay names no table of its own, for"), "{ids}");
        let few = rejection("table = \"bank\"\nsql = \"DELETE FROM {history}\"");
        assert!(
            few.starts_with("it is not known which copy of `history` a copy of `bank`"),
            "{few}"
        );
        let typo = rejection("table = \"bank\"\nsql = \"DELETE FROM {histroy}\"");
        assert!(typo.contains("histroy"), "{typo}");
    }
}
