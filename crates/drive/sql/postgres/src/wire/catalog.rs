//! Queries of the catalogue: what has a name in a schema, and its identity.

use driver_sql::{Creation, DataSet, MARKER, Object, ObjectKind};

/// The schemas in which names are found, the first of them for new tables; without the implicit
/// ones.
///
/// Source: Postgres' documentation, "Session Information Functions", `current_schemas`.
pub(super) const SCHEMAS: &str = "SELECT unnest(current_schemas(false))";
/// The identity of routines `p` of one name: their definitions, with their OIDs.
///
/// `CREATE OR REPLACE` leaves the OID as it is.
const OF_ROUTINES: &str = "string_agg((to_jsonb(p) - 'proacl')::text, ' ' ORDER BY p.oid)";

/// Returns a name in quotes.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Returns a table's name with its schema, both quoted.
pub(super) fn qualified(schema: &str, table: &str) -> String {
    format!("{}.{}", quoted(schema), quoted(table))
}

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// Returns the catalogue's rows, `c` or `p`, of everything of an object's name in a schema.
fn named(schema: &str, Object { kind, name }: &Object) -> String {
    let (of, column) = match kind {
        ObjectKind::Table => {
            ("pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace", "relname")
        }
        ObjectKind::Function | ObjectKind::Procedure => {
            ("pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace", "proname")
        }
    };
    format!("{of} WHERE n.nspname = {} AND {column} = {}", literal(schema), literal(name))
}

/// Returns the OIDs of a table and of all its partitions; null where there is no such table.
///
/// A partition that was attached later is none of a run's, and would be dropped with the table.
fn of_table(schema: &str, table: &Object) -> String {
    let named = named(schema, table);
    format!(
        "(WITH RECURSIVE t AS (SELECT c.oid FROM {named} AND c.relkind IN ('r', 'p') UNION \
         SELECT i.inhrelid FROM pg_inherits i JOIN t ON i.inhparent = t.oid) \
         SELECT string_agg(oid::text, ' ' ORDER BY oid) FROM t)"
    )
}

/// Returns the query of what has an object's name: kind, identity, and what to drop.
///
/// Functions and procedures of one name are found together, whatever their arguments.
pub(super) fn find(schema: &str, object: &Object) -> String {
    let named = named(schema, object);
    match object.kind {
        ObjectKind::Table => format!(
            "SELECT c.relkind, {}, {} FROM {named}",
            of_table(schema, object),
            literal(&format!("DROP TABLE {}", qualified(schema, &object.name)))
        ),
        ObjectKind::Function | ObjectKind::Procedure => format!(
            "SELECT 'routine', {OF_ROUTINES}, 'DROP ROUTINE ' || string_agg(format('%I.%I(%s)', \
             n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)), ', ') \
             FROM {named} HAVING count(*) > 0"
        ),
    }
}

/// Returns the query of why roles other than the current one can write a table, or have code
/// executed by who does. A superuser may own it: it may do both anyway.
///
/// Triggers, rules and policies are executed with the rights of the session. Source: Postgres'
/// documentation, "Rules and Privileges", "Row Security Policies".
pub(super) fn shared(schema: &str, table: &str) -> String {
    let named = named(schema, &Object::table(table));
    format!(
        "SELECT CASE WHEN NOT EXISTS (SELECT FROM pg_roles WHERE oid = c.relowner AND (rolsuper OR \
         rolname = current_user)) THEN format('belongs to the role `%s`', pg_get_userbyid(c.relowner)) \
         WHEN EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid) THEN 'has a trigger' \
         WHEN c.relhasrules THEN 'has a rule' WHEN c.relrowsecurity THEN 'has row security' \
         WHEN EXISTS (SELECT FROM aclexplode(c.relacl) g WHERE g.grantee <> c.relowner AND \
         g.privilege_type <> 'SELECT') OR EXISTS (SELECT FROM pg_attribute a, aclexplode(a.attacl) \
         g WHERE a.attrelid = c.oid AND g.privilege_type <> 'SELECT') \
         THEN 'can be written by other roles (REVOKE)' END FROM {named}"
    )
}

/// Returns the kind that users know by this code.
///
/// Source: Postgres' documentation, `pg_class`, `relkind`.
pub(super) fn kind(code: &str) -> &str {
    match code {
        "r" | "p" => ObjectKind::Table.name(),
        "v" => "view",
        "m" => "materialized view",
        "f" => "foreign table",
        "S" => "sequence",
        "i" | "I" => "index",
        "c" => "composite type",
        other => other,
    }
}

/// Returns the statement that writes a table's identity to its mark.
pub(super) fn mark_table(DataSet { schema, .. }: &DataSet, table: &Object) -> String {
    format!(
        "UPDATE {} SET identity = t.identity FROM (SELECT {} AS identity) t WHERE name = {} AND \
         t.identity IS NOT NULL",
        qualified(schema, MARKER),
        of_table(schema, table),
        literal(&table.mark())
    )
}

/// Returns a statement that creates a routine and, in one transaction, writes the mark's identity.
///
/// The second part counts no row: it is none of the operation's.
pub(super) fn marking_routine(create: &Creation<'_>, DataSet { schema, .. }: &DataSet) -> String {
    let (sql, routine) = (create.sql, &create.object);
    format!(
        "{sql}\n; WITH marked AS (UPDATE {} SET identity = (SELECT {OF_ROUTINES} FROM {}) \
         WHERE name = {} RETURNING name) SELECT name FROM marked WHERE false",
        qualified(schema, MARKER),
        named(schema, routine),
        literal(&routine.mark())
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_schemas_end_no_literal_and_no_quotes() {
        let query = find("o'hara \"x\"", &Object::table("t1"));
        assert!(query.contains("n.nspname = 'o''hara \"x\"'"), "{query}");
        assert!(query.contains("'DROP TABLE \"o''hara \"\"x\"\"\".\"t1\"'"), "{query}");
    }

    #[test]
    fn only_tables_are_called_tables() {
        assert_eq!(["r", "p"].map(kind), ["table"; 2]);
        assert!(["v", "m", "f", "S", "i", "c", "t"].into_iter().all(|code| kind(code) != "table"));
    }
}
