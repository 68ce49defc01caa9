//! The procedures of an application.

use std::collections::BTreeSet;

use model::OpKind;
use model::sql::{
    Copies, Draw, Part, PerDialect, Procedure, Protocol, Statement, StatementOwner, Table,
};
use reader::error::{PlanError, refuse};
use reader::syntax::{Fields, Node, Word, real, switch, text, word};

use crate::names::{Names, own_name};
use crate::statement::{Layout, table_names};
use crate::text::{DIALECTS, DIALECTS_OF_PROCEDURE};
use crate::value::Value;

/// Longest chain of procedures that extend one another; a loop is longer.
const EXTENDS_MAX: usize = 8;
/// Keys of a procedure.
#[rustfmt::skip]
const KEYS: [&str; 14] = [
    "extends", "kind", "table", "sql", "row", "rows", "returns", "transaction", "protocol",
    "calls", "retry", "keying_ms", "think_ms", "limit_ms",
];

/// A procedure as written, and those it extends.
pub(super) struct Written<'a> {
    pub(super) name: Word<'a>,
    chain: Vec<Fields<'a>>,
}

impl<'a> Written<'a> {
    /// Returns a field, its own or else inherited.
    pub(super) fn get(&self, key: &str) -> Option<&'a Node<'a>> {
        self.chain.iter().find_map(|fields| fields.get(key))
    }
}

impl<'a> Names<'a> {
    /// Checks the procedures, and that every value is used by one of them.
    pub(super) fn procedures(
        &self,
        tables: &[Table],
        values: &[Value<'a>],
    ) -> Result<Vec<Procedure>, PlanError> {
        let mut used = BTreeSet::new();
        let mut procedures = Vec::new();
        for (name, node) in self.procedures {
            let name = word(name);
            own_name(&name, "a procedure")?;
            if *name.get_ref() == "once" {
                let why = "`once` cannot be a procedure's name";
                let remedy = "choose another name: `once` is a form of a step's `clients`";
                return refuse(name.span(), why, remedy);
            }
            let written = self.written(name, node)?;
            procedures.push(self.one_procedure(&written, tables, values, &mut used)?);
        }
        if procedures.is_empty() {
            let why = "the application has no procedure";
            return refuse(self.name.span(), why, "add [procedure.NAME] with `kind` and `sql`");
        }
        match values.iter().map(|value| &value.name).find(|name| !used.contains(*name.get_ref())) {
            None => Ok(procedures),
            Some(name) => Err(PlanError::here(name.span(), format!("no SQL uses `{name}`"))
                .remedy(format!("use :{name} in a statement, or remove it"))),
        }
    }

    /// Returns a procedure with those it extends.
    fn written(&self, name: Word<'a>, node: &'a Node<'a>) -> Result<Written<'a>, PlanError> {
        let mut chain = vec![Fields::of(node, "a procedure", &KEYS)?];
        while let Some(base) = chain.last().and_then(|last| last.get("extends")) {
            let base = text(base)?;
            if chain.len() == EXTENDS_MAX {
                return Err(PlanError::here(
                    base.span(),
                    format!("procedure {name} extends itself"),
                ));
            }
            self.procedure(&base)?;
            let Some(node) = self.procedures.get(*base.get_ref()) else { break };
            chain.push(Fields::of(node, "a procedure", &KEYS)?);
        }
        Ok(Written { name, chain })
    }

    fn one_procedure(
        &self,
        written: &Written<'a>,
        tables: &[Table],
        values: &[Value<'a>],
        used: &mut BTreeSet<String>,
    ) -> Result<Procedure, PlanError> {
        let name = &written.name;
        let lacks = |what| PlanError::here(name.span(), format!("procedure {name} {what}"));
        let kinds = OpKind::PROCEDURE.map(|kind| (kind.name(), kind));
        let kind = written.get("kind").ok_or_else(|| {
            let names = OpKind::PROCEDURE.map(OpKind::name).join(", ");
            lacks("has no `kind`").remedy(format!("give `kind`: {names}"))
        })?;
        let kind = self.keyword(kind, "kind", &kinds)?;
        let rows = written.get("rows").map_or(Ok(0), |rows| self.number(rows, 1, "rows"))?;
        let sql = written.get("sql").ok_or_else(|| lacks("has no `sql`"))?;
        let texts = self.sql_texts(sql, &DIALECTS_OF_PROCEDURE, values)?;
        let owner = StatementOwner::Procedure((*name.get_ref()).to_owned());
        self.places.borrow_mut().add(owner, texts.places());
        let row = written.get("row").map(|row| text(row).and_then(|_| self.sql_text(row)));
        let row = row.transpose()?;
        let is_transaction = switch(written.get("transaction"))?;
        self.check_frame(&texts, is_transaction)?;
        self.check_reads(&texts, values)?;
        let all = texts.all(row.as_ref());
        let table = self.table_of(written, tables)?;
        let own = &tables[usize::from(table)];
        self.check_reached(&own.name, own.copies, &all, tables)?;
        let mut layout = self.layout(name, &texts, row.as_ref(), values)?;
        (layout.tables, layout.own) = (table_names(tables), Some(table));
        layout.copies = if let Copies::Fixed(copies) = own.copies { copies } else { 0 };
        self.check_ids(&layout, values, own)?;
        used.extend(layout.slots.keys().chain(&layout.unused).cloned());
        let row = row.map(|row| self.statement(&row, None, &layout, 0)).transpose()?;
        let row = row.map(|row| row.parts);
        let why = "the rows that a call returns cannot be negative: write 0 or more";
        let returns = written
            .get("returns")
            .map(|returns| real(returns, |rows| rows.is_finite() && rows >= 0.0, why));
        let (statements, myrocks) = self.statements(&texts, row.as_deref(), &layout)?;
        let procedure = Procedure {
            name: (*name.get_ref()).to_owned(),
            kind,
            table,
            is_transaction,
            statements,
            myrocks,
            arguments: layout.once,
            row: layout.row,
            rows,
            rows_expected: returns.transpose()?,
            protocol: self.protocol(written)?,
            policy: self.policy(written)?,
        };
        self.rows_fit(&procedure, written)?;
        Ok(procedure)
    }

    /// Returns how a procedure's statements are sent, where the file states it.
    fn protocol(&self, written: &Written<'a>) -> Result<PerDialect<Option<Protocol>>, PlanError> {
        let known = Protocol::ALL.map(|protocol| (protocol.name(), protocol));
        let of = |node: Option<&'a Node<'a>>| {
            node.map(|node| self.keyword(node, "protocol", &known)).transpose()
        };
        match written.get("protocol") {
            Some(node) if node.get_ref().is_table() => {
                let what = "a protocol that differs by dialect";
                let fields = Fields::of(node, what, &DIALECTS)?;
                let [postgres, mysql] = DIALECTS.map(|dialect| fields.get(dialect));
                Ok(PerDialect { postgres: of(postgres)?, mysql: of(mysql)? })
            }
            node => {
                let both = of(node)?;
                Ok(PerDialect { postgres: both, mysql: both })
            }
        }
    }

    /// Checks that a table with drawn ids has an id column.
    fn check_ids(
        &self,
        layout: &Layout,
        values: &[Value<'_>],
        table: &Table,
    ) -> Result<(), PlanError> {
        let is_id = |value: &&Value<'_>| {
            matches!(value.draw, Draw::Id | Draw::FirstId)
                && layout.slots.contains_key(*value.name.get_ref())
        };
        match values.iter().find(is_id).filter(|_| table.id.is_none()) {
            None => Ok(()),
            Some(Value { name, .. }) => Err(PlanError::here(
                name.span(),
                format!("`{name}` is an id of table {}, which has no id", table.name),
            )
            .remedy("give the table an `id`: the column of integers that the server assigns")),
        }
    }

    /// Checks that `row`, `rows` and {rows} are used together, in statements of few values.
    fn rows_fit(&self, procedure: &Procedure, written: &Written<'_>) -> Result<(), PlanError> {
        let rows = procedure.rows;
        let (statements, myrocks) = (&procedure.statements, &procedure.myrocks);
        let dialects = [&statements.postgres, &statements.mysql, myrocks];
        for statement in dialects.into_iter().flatten() {
            let values = usize::try_from(statement.values(rows)).unwrap_or(usize::MAX);
            self.few_values(values, written.name.span())?;
        }
        let Some(row) = written.get("row") else { return Ok(()) };
        if rows == 0 {
            let why = "`row` needs `rows`";
            let remedy = "give `rows`: how often `row` is repeated in the statement";
            return refuse(row.span(), why, remedy);
        }
        let has_place = |statement: &Statement| {
            statement.parts.iter().any(|part| matches!(part, Part::Rows(_)))
        };
        if dialects.into_iter().all(|all| all.is_empty() || all.iter().any(has_place)) {
            return Ok(());
        }
        let why = "no statement of the procedure inserts this row: {rows} is missing";
        let remedy = "write {rows} where the rows belong: INSERT INTO {table} (...) VALUES {rows}";
        refuse(row.span(), why, remedy)
    }
}
