//! Checks of an application: what holds after every run.

use model::sql::{Check, StatementOwner, Table};
use reader::error::PlanError;
use reader::syntax::{Fields, Node, text};

use crate::names::{Names, position};
use crate::statement::{Layout, table_names};
use crate::text::DIALECTS;

/// Keys of a check.
const KEYS: [&str; 4] = ["name", "table", "sql", "expect"];
/// Keyword for a query that returns no row.
const NO_ROWS: &str = "no rows";

/// Returns the names of the checks whose `expect` follows from the rows that are loaded.
pub(super) fn checks_of_loaded(written: &[Node<'_>]) -> Vec<String> {
    let text = |node: &Node<'_>, key: &str| {
        node.get_ref().get(key).and_then(|value| Some(value.get_ref().as_str()?.to_owned()))
    };
    let is_of_loaded =
        |node: &&Node<'_>| text(node, "expect").is_some_and(|text| text.contains("loaded"));
    written.iter().filter(is_of_loaded).filter_map(|node| text(node, "name")).collect()
}

impl<'a> Names<'a> {
    /// Checks the conditions that hold after every run.
    pub(super) fn checks(
        &self,
        written: &'a [Node<'a>],
        tables: &[Table],
    ) -> Result<Vec<Check>, PlanError> {
        let mut checks: Vec<Check> = Vec::new();
        for node in written {
            let check = self.one_check(node, tables)?;
            if checks.iter().any(|known| known.name == check.name) {
                let why = format!("two checks are named `{}`", check.name);
                return Err(PlanError::here(node.span(), why));
            }
            checks.push(check);
        }
        Ok(checks)
    }

    fn one_check(&self, node: &'a Node<'a>, tables: &[Table]) -> Result<Check, PlanError> {
        let fields = Fields::of(node, "[[check]]", &KEYS)?;
        let name = fields.text("name")?;
        let expect = fields.required("expect")?;
        let expected = match expect.get_ref().as_str() {
            Some(NO_ROWS) => None,
            _ => Some(self.signed(expect).map_err(|error| {
                error.remedy(format!("write a number, or \"{NO_ROWS}\" for a query without rows"))
            })?),
        };
        let texts = self.sql_texts(fields.required("sql")?, &DIALECTS, &[])?;
        let name = (*name.get_ref()).to_owned();
        self.places.borrow_mut().add(StatementOwner::Check(name.clone()), texts.places());
        let table = match fields.get("table") {
            Some(table) => {
                let names = tables.iter().map(|table| table.name.as_str());
                position(&text(table)?, "table", names)?
            }
            None => 0,
        };
        let own = &tables[usize::from(table)];
        let all = texts.all(None);
        self.check_reached(&own.name, own.copies, &all, tables)?;
        if let Some(second) = [&texts.postgres, &texts.mysql].iter().find_map(|all| all.get(1)) {
            return Err(PlanError::here(&second.place, "a check is one query"));
        }
        let layout = Layout { tables: table_names(tables), own: Some(table), ..Layout::default() };
        let (query, _) = self.statements(&texts, None, &layout)?;
        Ok(Check { name, table, query, expected })
    }
}
