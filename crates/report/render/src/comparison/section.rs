//! A section of a comparison: title, sentences, tables, remarks.

use crate::document::{Part, Table};

/// A title with its sentences, tables and remarks.
#[derive(Default)]
pub(crate) struct Section {
    pub(crate) title: String,
    /// What comes before the tables.
    pub(crate) sentences: Vec<String>,
    pub(crate) tables: Vec<Table>,
    /// What comes after them.
    pub(crate) remarks: Vec<String>,
    /// Commands after the remarks.
    pub(crate) commands: Vec<String>,
}

impl Section {
    /// Returns a section of the tables that are not empty; `None` without any.
    pub(crate) fn of(
        title: impl Into<String>,
        tables: impl IntoIterator<Item = Table>,
    ) -> Option<Self> {
        let tables: Vec<Table> = tables.into_iter().filter(|table| !table.is_empty()).collect();
        let title = title.into();
        (!tables.is_empty()).then(|| Self { title, tables, ..Self::default() })
    }

    /// Returns whether it has nothing below its title.
    pub(crate) fn is_empty(&self) -> bool {
        let texts = [&self.sentences, &self.remarks, &self.commands];
        self.tables.is_empty() && texts.into_iter().all(Vec::is_empty)
    }

    /// Returns all of it.
    pub(crate) fn parts(self) -> impl Iterator<Item = Part> {
        let title = [Part::Heading(2, self.title), Part::Sentences(self.sentences)];
        let tables = self.tables.into_iter().map(Part::Table);
        let remarks = self.remarks.into_iter().map(Part::Note);
        let commands = self.commands.into_iter().map(Part::Verbatim);
        title.into_iter().chain(tables).chain(remarks).chain(commands)
    }
}

/// Returns a section folded below its title.
pub(crate) fn folded(mut section: Section) -> Part {
    let title = std::mem::take(&mut section.title);
    Part::Folded(title, section.parts().collect())
}
