//! The procedures of an application.

use std::collections::BTreeSet;

use model::OpKind;
use model::sql::{Part, PerDialect, Procedure, Statement, Table};
use toml::Spanned;

use super::file::ProcedureTable;
use super::layout::Layout;
use super::merged::Merged;
use super::names::Names;
use super::statement::{SqlText, SqlTexts, Substitution};
use super::token::{Token, tokenize};
use super::value::Value;
use crate::error::PlanError;

/// Longest chain of procedures that extend one another; a loop is longer.
const EXTENDS_MAX: usize = 8;

impl<'a> Names<'a> {
    /// Checks the procedures, and that every value is used by one of them.
    pub(super) fn procedures(
        &self,
        tables: &[Table],
        values: &[Value<'a>],
    ) -> Result<Vec<Procedure>, PlanError> {
        let mut used = BTreeSet::new();
        let mut procedures = Vec::new();
        for (name, written) in &self.file.procedure.0 {
            self.own_name(name, "a procedure")?;
            if name.get_ref() == "once" {
                return Err(self.refuse(name.span(), "`once` cannot be a procedure's name"));
            }
            let merged = self.merged(name, written)?;
            procedures.push(self.one_procedure(&merged, tables, values, &mut used)?);
        }
        if procedures.is_empty() {
            return Err(self
                .refuse(self.file.name.span(), "the application has no procedure")
                .remedy("add [procedure.NAME] with `kind` and `sql`"));
        }
        match values.iter().find(|value| !used.contains(value.name.get_ref())) {
            None => Ok(procedures),
            Some(value) => Err(self
                .refuse(value.name.span(), format!("no SQL uses `{}`", value.name.get_ref()))
                .remedy(format!("use :{} in a statement, or remove it", value.name.get_ref()))),
        }
    }

    /// Merges a procedure with those it extends.
    fn merged(
        &self,
        name: &'a Spanned<String>,
        written: &'a Spanned<ProcedureTable>,
    ) -> Result<Merged<'a>, PlanError> {
        let mut chain = vec![written.get_ref()];
        while let Some(base) = chain.last().and_then(|last| last.extends.as_ref()) {
            if chain.len() == EXTENDS_MAX {
                let why = format!("procedure {} extends itself", name.get_ref());
                return Err(self.refuse(base.span(), why));
            }
            let known = &self.file.procedure;
            let found = known.get(base.get_ref());
            let found = found.ok_or_else(|| self.unknown(base, "procedure", known.names()))?;
            chain.push(found.get_ref());
        }
        fn first<'b, T>(
            chain: &[&'b ProcedureTable],
            field: impl Fn(&'b ProcedureTable) -> Option<T>,
        ) -> Option<T> {
            chain.iter().copied().find_map(field)
        }
        let sql = first(&chain, |table| table.sql.as_ref()).ok_or_else(|| {
            self.refuse(name.span(), format!("procedure {} has no `sql`", name.get_ref()))
        })?;
        Ok(Merged {
            name,
            kind: first(&chain, |table| table.kind.as_ref()),
            table: first(&chain, |table| table.table.as_ref()),
            sql,
            row: first(&chain, |table| table.row.as_ref()),
            rows: first(&chain, |table| table.rows.as_ref()),
            returns: first(&chain, |table| table.returns.as_ref()),
            is_transaction: first(&chain, |table| table.transaction).unwrap_or(false),
        })
    }

    fn one_procedure(
        &self,
        merged: &Merged<'_>,
        tables: &[Table],
        values: &[Value<'_>],
        used: &mut BTreeSet<String>,
    ) -> Result<Procedure, PlanError> {
        let name = merged.name.get_ref();
        let kinds = OpKind::ALL.map(|kind| (kind.name(), kind));
        let kind = match merged.kind {
            Some(word) => self.word(word, "kind", &kinds)?,
            None => {
                let names = OpKind::ALL.map(OpKind::name).join(", ");
                let why = format!("procedure {name} has no `kind`");
                return Err(self
                    .refuse(merged.name.span(), why)
                    .remedy(format!("give `kind`: {names}")));
            }
        };
        let table = self.table_of(merged, tables)?;
        let rows = merged.rows.map_or(Ok(0), |rows| self.small(rows, 1, "rows"))?;
        let sql_by_dialect = self.sql_texts(merged.sql)?;
        self.rows_fit(merged, &sql_by_dialect, rows)?;
        let layout = self.layout(merged, &sql_by_dialect, values)?;
        used.extend(layout.slots.keys().cloned());
        for value in values.iter().filter(|value| layout.slots.contains_key(value.name.get_ref())) {
            self.has_ids(value, &tables[usize::from(table)])?;
        }
        let procedure = Procedure {
            name: name.clone(),
            kind,
            table,
            is_transaction: merged.is_transaction,
            statements: self.filled(merged, &sql_by_dialect, &layout)?,
            arguments: layout.once,
            row: layout.row,
            rows,
            rows_expected: merged.returns.map(|returns| self.returns(returns)).transpose()?,
        };
        for statement in procedure.statements.postgres.iter().chain(&procedure.statements.mysql) {
            let drawn = |part: &Part| match part {
                Part::Rows(row) => row.len() * rows as usize,
                Part::Argument(_) | Part::RowArgument(_) => 1,
                Part::Text(_) | Part::Table => 0,
            };
            let values = statement.parts.iter().map(drawn).sum();
            self.few_values(values, merged.name.span())?;
        }
        Ok(procedure)
    }

    fn table_of(&self, merged: &Merged<'_>, tables: &[Table]) -> Result<u16, PlanError> {
        match (merged.table, tables) {
            (Some(name), _) => self.table(name, tables),
            (None, [_]) => Ok(0),
            (None, _) => {
                let names: Vec<_> = tables.iter().map(|table| table.name.as_str()).collect();
                let why = format!("procedure {} names no table", merged.name.get_ref());
                let error = self.refuse(merged.name.span(), why);
                Err(error.remedy(format!("give `table`: {}", names.join(", "))))
            }
        }
    }

    fn returns(&self, returns: &Spanned<f64>) -> Result<f64, PlanError> {
        let rows = *returns.get_ref();
        if rows.is_finite() && rows >= 0.0 {
            return Ok(rows);
        }
        Err(self.refuse(returns.span(), "the rows that a call returns cannot be negative"))
    }

    /// Checks that `row`, `rows` and {rows} are used together.
    fn rows_fit(
        &self,
        merged: &Merged<'_>,
        sql_by_dialect: &PerDialect<SqlTexts<'_>>,
        rows: u32,
    ) -> Result<(), PlanError> {
        for sql_text in sql_by_dialect.postgres.iter().chain(&sql_by_dialect.mysql) {
            let pieces = tokenize(sql_text.sql)
                .map_err(|wrong| self.error_at_text(sql_text.place.clone(), wrong))?;
            let places = pieces.iter().filter(|gap| **gap == Token::Brace("rows")).count();
            if places > 0 && merged.row.is_none() {
                return Err(self
                    .refuse(sql_text.place.clone(), "{rows} has no row to repeat")
                    .remedy(
                        "give `row`, such as \"(:a, :b)\", and `rows`: how often it is \
                    repeated",
                    ));
            }
            if places > 0 && sql_text.times > 1 {
                let why = "a statement with {rows} is executed once, not several times";
                return Err(self.refuse(sql_text.place.clone(), why));
            }
        }
        let Some(row) = merged.row else { return Ok(()) };
        if rows == 0 {
            return Err(self
                .refuse(row.span(), "`row` needs `rows`")
                .remedy("give `rows`: how often `row` is repeated in the statement"));
        }
        let has_place = |sql_texts: &SqlTexts<'_>| {
            let stands = |sql_text: &SqlText<'_>| {
                tokenize(sql_text.sql)
                    .is_ok_and(|tokenize| tokenize.contains(&Token::Brace("rows")))
            };
            sql_texts.is_empty() || sql_texts.iter().any(stands)
        };
        if has_place(&sql_by_dialect.postgres) && has_place(&sql_by_dialect.mysql) {
            return Ok(());
        }
        Err(self
            .refuse(row.span(), "no statement has a place for this row")
            .remedy("write {rows} where the rows belong: INSERT INTO {table} (...) VALUES {rows}"))
    }

    /// Returns the statements with placeholders resolved.
    fn filled(
        &self,
        merged: &Merged<'_>,
        sql_by_dialect: &PerDialect<SqlTexts<'_>>,
        layout: &Layout,
    ) -> Result<PerDialect<Vec<Statement>>, PlanError> {
        let slot = |name: &str| layout.slots.get(name).copied();
        let row = match merged.row {
            None => None,
            Some(row) => {
                let sql_text = SqlText { sql: row.get_ref(), place: row.span(), times: 1 };
                let substitution = Substitution { row: None, slot: &slot };
                Some(self.statement(&sql_text, &substitution, 0)?.parts)
            }
        };
        let substitution = Substitution { row: row.as_deref(), slot: &slot };
        let all = |sql_texts: &SqlTexts<'_>| {
            let mut statements = Vec::new();
            for sql_text in sql_texts {
                for repetition in 0..sql_text.times {
                    statements.push(self.statement(sql_text, &substitution, repetition)?);
                }
            }
            Ok(statements)
        };
        Ok(PerDialect {
            postgres: all(&sql_by_dialect.postgres)?,
            mysql: all(&sql_by_dialect.mysql)?,
        })
    }
}
