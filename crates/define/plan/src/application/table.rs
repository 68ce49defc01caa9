//! The tables of an application.

use std::collections::BTreeSet;

use model::sql::{Copies, Table};

use super::file::TableTable;
use super::names::Names;
use crate::clients::CLIENTS_MAX;
use crate::error::PlanError;

/// Keyword for one table per client.
const PER_CLIENT: &str = "per client";

impl Names<'_> {
    /// Checks the tables.
    pub(super) fn tables(&self) -> Result<Vec<Table>, PlanError> {
        let mut names = BTreeSet::new();
        let mut tables = Vec::new();
        for written in &self.file.table {
            let name = written.name.get_ref();
            if !names.insert(name) {
                return Err(
                    self.refuse(written.name.span(), format!("two tables are named `{name}`"))
                );
            }
            tables.push(self.one_table(written)?);
        }
        if tables.is_empty() {
            return Err(self
                .refuse(self.file.name.span(), "the application has no table")
                .remedy("add [[table]] with `name` and `create`"));
        }
        Ok(tables)
    }

    fn one_table(&self, written: &TableTable) -> Result<Table, PlanError> {
        let name = written.name.get_ref();
        self.own_name(&written.name, "a table")?;
        if name.ends_with(|last: char| last.is_ascii_digit())
            || name.contains(|letter: char| letter.is_ascii_uppercase())
        {
            return Err(self
                .refuse(written.name.span(), format!("`{name}` cannot be a table's name"))
                .remedy(
                    "use lower-case letters, the same on all servers, and end with one: a number \
                    follows",
                ));
        }
        let copies = match &written.copies {
            None => Copies::Fixed(1),
            Some(text) if text.get_ref().0 == PER_CLIENT => Copies::PerClient,
            Some(text) => {
                let count = self.small(text, 1, "the number of tables").map_err(|error| {
                    error.remedy(format!("write a number, or \"{PER_CLIENT}\""))
                })?;
                if count > CLIENTS_MAX {
                    return Err(self
                        .refuse(text.span(), format!("{count} tables are too many"))
                        .remedy(format!("at most {CLIENTS_MAX}")));
                }
                Copies::Fixed(count)
            }
        };
        if let Some(id) = &written.id {
            self.own_name(id, "a column")?;
        }
        let create = self.definitions(&written.create)?;
        let id = written.id.as_ref().map(|id| id.get_ref().clone());
        Ok(Table { name: name.clone(), copies, create, id })
    }
}
