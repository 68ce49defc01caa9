//! The tables of an application.

use model::limits::CLIENTS_MAX;
use model::sql::{Copies, StatementOwner, Table};
use reader::error::{PlanError, refuse};
use reader::syntax::{Fields, Node, text};

use crate::expression::PER_CLIENT;
use crate::names::{Names, own_name};
use crate::statement::{Layout, table_names};
use crate::text::DIALECTS;

/// Keys of a table.
const KEYS: [&str; 4] = ["name", "copies", "id", "create"];

impl<'a> Names<'a> {
    /// Checks the tables.
    pub(super) fn tables(&self, written: &'a [Node<'a>]) -> Result<Vec<Table>, PlanError> {
        let mut tables: Vec<Table> = Vec::new();
        for node in written {
            let table = self.one_table(node, &tables)?;
            if tables.iter().any(|known| known.name == table.name) {
                let why = format!("two tables are named `{}`", table.name);
                return Err(PlanError::here(node.span(), why));
            }
            tables.push(table);
        }
        if tables.is_empty() {
            let why = "the application has no table";
            return refuse(self.name.span(), why, "add [[table]] with `name` and `create`");
        }
        Ok(tables)
    }

    /// Checks one table; its statements may name those `before` it.
    fn one_table(&self, node: &'a Node<'a>, before: &[Table]) -> Result<Table, PlanError> {
        let fields = Fields::of(node, "[[table]]", &KEYS)?;
        let written = fields.text("name")?;
        let name = (*written.get_ref()).to_owned();
        own_name(&written, "a table")?;
        if name.ends_with(|last: char| last.is_ascii_digit())
            || name.contains(|letter: char| letter.is_ascii_uppercase())
        {
            let why = format!("`{name}` cannot be a table's name");
            let remedy = "use lower-case letters, which all servers treat alike, and end with a \
                          letter: a number follows";
            return refuse(written.span(), why, remedy);
        }
        let copies = fields.get("copies").map_or(Ok(Copies::Fixed(1)), |node| self.copies(node))?;
        let id = fields.get("id").map(text).transpose()?;
        if let Some(id) = &id {
            own_name(id, "a column")?;
        }
        let create = self.sql_texts(fields.required("create")?, &DIALECTS, &[])?;
        self.check_reached(&name, copies, &create.all(None), before)?;
        self.places.borrow_mut().add(StatementOwner::Table(name.clone()), create.places());
        let layout = Layout { tables: table_names(before), ..Layout::default() };
        let (create, _) = self.statements(&create, None, &layout)?;
        Ok(Table { name, copies, create, id: id.map(|id| (*id.get_ref()).to_owned()) })
    }

    fn copies(&self, node: &Node<'_>) -> Result<Copies, PlanError> {
        if node.get_ref().as_str().is_some_and(|text| self.variables.is_per_client(text)) {
            return Ok(Copies::PerClient);
        }
        let count = self.number_within(node, (1, CLIENTS_MAX.into()), "the number of tables");
        count.map(Copies::Fixed).map_err(|error| {
            error.remedy(format!("write a number to {CLIENTS_MAX}, or \"{PER_CLIENT}\""))
        })
    }
}
