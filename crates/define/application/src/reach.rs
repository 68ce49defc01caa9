//! The table that a procedure works on, and the others that its statements name.

use model::sql::{Copies, Table};
use reader::error::{PlanError, refuse};
use reader::syntax::text;

use crate::names::{Names, position};
use crate::procedure::Written;
use crate::text::SqlText;
use crate::token::Token;

impl<'a> Names<'a> {
    /// Returns the position of a procedure's table: the given one, or the only one.
    pub(super) fn table_of(
        &self,
        written: &Written<'a>,
        tables: &[Table],
    ) -> Result<u16, PlanError> {
        let names = || tables.iter().map(|table| table.name.as_str());
        match written.get("table") {
            Some(node) => position(&text(node)?, "table", names()),
            None if tables.len() == 1 => Ok(0),
            None => Err(PlanError::here(
                written.name.span(),
                format!("procedure {} names no table", written.name),
            )
            .remedy(format!("give `table`: {}", names().collect::<Vec<_>>().join(", ")))),
        }
    }

    /// Checks that a call on a copy of table `own` has one copy of every other table named.
    pub(super) fn check_reached(
        &self,
        own: &str,
        copies: Copies,
        texts: &[&SqlText<'_>],
        tables: &[Table],
    ) -> Result<(), PlanError> {
        for text in texts {
            let is_named = |other: &&Table| text.tokens.contains(&Token::Brace(&other.name));
            let is_unclear =
                |other: &&Table| other.copies != copies && other.copies != Copies::Fixed(1);
            let Some(other) = tables.iter().filter(is_unclear).find(is_named) else { continue };
            let name = &other.name;
            let place = self.place_within(text.place.clone(), &format!("{{{name}}}"));
            let why = format!("Assay cannot know which copy of `{name}` a copy of `{own}` needs");
            let remedy = "give both tables the same `copies`; or give one table a single copy, and \
                          set `table` to the other table";
            return refuse(place, why, remedy);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;
    use model::sql::Procedure;

    use super::super::read::Described;
    use super::*;
    use crate::testing::described;

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
        described(text, 10, 1, &[])
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
        let none = "procedure pay names no table: give `table`: bank, account, history";
        assert_eq!(rejection("sql = \"DELETE FROM {account}\""), none);
        let few = rejection("table = \"bank\"\nsql = \"DELETE FROM {history}\"");
        assert!(
            few.starts_with("Assay cannot know which copy of `history` a copy of `bank`"),
            "{few}"
        );
        let typo = rejection("table = \"bank\"\nsql = \"DELETE FROM {histroy}\"");
        assert!(typo.contains("histroy"), "{typo}");
    }
}
