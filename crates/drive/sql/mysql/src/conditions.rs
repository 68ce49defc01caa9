//! Variables of a session that end a run, or change what it measures.

use std::collections::BTreeMap;

use driver_sql::{Connection as _, Obstacle, PROTOCOL, unless_refused};
use engine::OpenSpec;
use model::sql::{Dialect, Part, Statement};

use crate::kind::Flavour;
use crate::wire::{Connection, Failure};

/// A variable that ends or changes a run.
struct Condition {
    name: &'static str,
    /// Values with which a run is as it is meant to be.
    is_good: fn(&str) -> bool,
    /// What a run needs, or what is otherwise with another value.
    need: &'static str,
    /// The value that gives it.
    usual: &'static str,
    /// Whether a run is possible with another value, so that it is a note.
    is_note: bool,
}

/// Shortest limit of a statement, seconds: loads insert and index in statements of minutes.
const STATEMENT_S_MIN: u64 = 600;
/// Shortest limit of an idle session, seconds: clients wait for others.
const IDLE_S_MIN: u64 = 60;

const IS_ON: fn(&str) -> bool = |value| matches!(value, "ON" | "1");
const IS_OFF: fn(&str) -> bool = |value| matches!(value, "OFF" | "0");
/// Whether a limit of rows is larger than every table; none is a number too.
const IS_UNLIMITED: fn(&str) -> bool =
    |value| value.parse().is_ok_and(|limit: u64| limit >= 1 << 32);
/// The limit on the rows of an answer.
const SELECT_LIMIT: &str = "sql_select_limit";
/// Attribute of a column whose values the server draws, and the type that has it.
const DRAWN_IDS: [&str; 2] = ["AUTO_INCREMENT", "SERIAL"];
/// Storage engines whose tables lose rows, or take few.
const LOSSY: [&str; 6] = ["ARCHIVE", "BLACKHOLE", "CSV", "EXAMPLE", "FEDERATED", "MEMORY"];
/// Bytes of a packet in addition to the values of a row: its key, names and keywords.
const OTHER_BYTES: u64 = 2048;
/// Whether an isolation is one of InnoDB's two usual ones.
const IS_USUAL: fn(&str) -> bool = |value| matches!(value, "REPEATABLE-READ" | "READ-COMMITTED");

/// The variables; a release lacks some.
///
/// Source: [MySQL Manual], "Server System Variables"; [MariaDB Docs], the same.
#[rustfmt::skip]
static CONDITIONS: [Condition; 17] = [
    Condition { name: "autocommit", is_good: IS_ON, usual: "1", is_note: false,
        need: "a run needs statements outside of transactions to commit" },
    Condition { name: "completion_type", is_good: |it| matches!(it, "NO_CHAIN" | "0"), usual: "0",
        is_note: false, need: "a run needs a commit to end its transaction and nothing else" },
    // A table whose statement names its storage engine may be of any.
    Condition { name: "default_storage_engine", is_good: |it| !LOSSY.contains(&it),
        usual: "InnoDB", is_note: false, need: "a run needs tables that keep all rows" },
    Condition { name: "sql_safe_updates", is_good: IS_OFF, usual: "0", is_note: false,
        need: "a run needs updates without a key in their condition" },
    Condition { name: SELECT_LIMIT, is_good: IS_UNLIMITED, usual: "DEFAULT", is_note: false,
        need: "a run needs all rows of its queries" },
    Condition { name: "max_join_size", is_good: IS_UNLIMITED, usual: "DEFAULT", is_note: false,
        need: "a run needs queries that examine all rows of their tables" },
    Condition { name: "transaction_read_only", is_good: IS_OFF, usual: "0", is_note: false,
        need: "a run writes" },
    Condition { name: "tx_read_only", is_good: IS_OFF, usual: "0", is_note: false,
        need: "a run writes" },
    // Milliseconds in MySQL, seconds in MariaDB.
    Condition { name: "max_execution_time", is_good: |it| lasts(it, 1000 * STATEMENT_S_MIN),
        usual: "0", is_note: false, need: "queries of a check last minutes" },
    Condition { name: "max_statement_time", is_good: |it| lasts(it, STATEMENT_S_MIN), usual: "0",
        is_note: false, need: "statements of a load last minutes" },
    Condition { name: "wait_timeout", is_good: |it| lasts(it, IDLE_S_MIN), usual: "28800",
        is_note: false, need: "sessions wait between operations and steps" },
    Condition { name: "idle_transaction_timeout", is_good: |it| lasts(it, IDLE_S_MIN), usual: "0",
        is_note: false, need: "transactions wait for their clients" },
    Condition { name: "idle_write_transaction_timeout", is_good: |it| lasts(it, IDLE_S_MIN),
        usual: "0", is_note: false, need: "transactions wait for their clients" },
    Condition { name: "foreign_key_checks", is_good: IS_ON, usual: "1", is_note: true,
        need: "foreign keys are not checked" },
    Condition { name: "unique_checks", is_good: IS_ON, usual: "1", is_note: true,
        need: "unique indexes may not be checked" },
    Condition { name: "transaction_isolation", is_good: IS_USUAL, usual: "'REPEATABLE-READ'",
        is_note: true, need: "transactions see and lock other rows than by default" },
    Condition { name: "tx_isolation", is_good: IS_USUAL, usual: "'REPEATABLE-READ'",
        is_note: true, need: "transactions see and lock other rows than by default" },
];

/// A mode that changes what statements mean.
struct SqlMode {
    name: &'static str,
    /// What statements have whose meaning it changes.
    sign: &'static str,
    effect: &'static str,
}

/// Modes that change what statements of an application mean.
///
/// Source: [MySQL Manual], "Server SQL Modes".
#[rustfmt::skip]
static MODES: [SqlMode; 3] = [
    SqlMode { name: "ANSI_QUOTES", sign: "\"", effect: "texts in double quotes become names" },
    SqlMode { name: "NO_BACKSLASH_ESCAPES", sign: "\\", effect: "backslashes in texts stay" },
    SqlMode { name: "PIPES_AS_CONCAT", sign: "||", effect: "`||` joins texts instead of meaning \
                                                            `or`" },
];

/// Variables of a session by name.
type Variables = BTreeMap<String, String>;

/// Returns whether a limit is none, or large enough.
fn lasts(value: &str, least: u64) -> bool {
    // MariaDB's have decimals.
    let whole = value.split('.').next().unwrap_or_default();
    whole.parse().is_ok_and(|limit: u64| limit == 0 || limit >= least)
}

/// Returns the variables of the session, as it began.
///
/// A limit on the rows of an answer holds for the list of variables too, and is lifted first.
pub(crate) fn variables(connection: &mut Connection) -> Result<Variables, Failure> {
    let limit = format!("SELECT '{SELECT_LIMIT}', @@{SELECT_LIMIT} LIMIT 1");
    let limit = unless_refused(connection.pairs(&limit))?.unwrap_or_default();
    if !limit.is_empty() {
        connection.run(&format!("SET SESSION {SELECT_LIMIT} = {}", u64::MAX))?;
    }
    let pairs = connection.pairs("SHOW SESSION VARIABLES")?.into_iter();
    let pairs = pairs.map(|(name, value)| (name.to_ascii_lowercase(), value));
    Ok(pairs.chain(limit).collect())
}

/// Returns what a run cannot have: variables of its sessions, and a server of another kind than
/// the variant names.
pub(crate) fn obstacles(
    connection: &mut Connection,
    spec: &OpenSpec,
    named: Option<Flavour>,
) -> Result<Vec<Obstacle>, Failure> {
    let variables = variables(connection)?;
    let mut obstacles = found(&variables, false);
    obstacles.extend(packet_limit(&variables, spec));
    obstacles.extend(gaps(&variables, spec));
    obstacles.extend(named.and_then(|named| other_flavour(named, &variables)));
    let is_bad = |mode: &&SqlMode| depends_on(spec, mode.sign);
    obstacles.extend(modes(&variables).filter(is_bad).map(|SqlMode { name, sign, effect }| {
        let need = format!("{effect}, and statements of this experiment have `{sign}`");
        let remedy = "take the mode out of sql_mode on the server (SET GLOBAL sql_mode)";
        Obstacle::new(format!("sql_mode has {name}"), need, remedy)
    }));
    Ok(obstacles)
}

/// Has the server refuse what it may be set to do: drop a table to which a foreign key of a user
/// refers, and create one of another storage engine than its statement names.
pub(crate) fn guard_tables(connection: &mut Connection) -> Result<(), Failure> {
    for sql in [
        "SET SESSION foreign_key_checks = 1",
        "SET SESSION sql_mode = CONCAT(@@sql_mode, ',NO_ENGINE_SUBSTITUTION')",
    ] {
        unless_refused(connection.run(sql))?;
    }
    Ok(())
}

/// Returns the obstacle of ids with gaps, of which the statements of a load know nothing.
fn gaps(variables: &Variables, spec: &OpenSpec) -> Option<Obstacle> {
    let step = variables.get("auto_increment_increment").filter(|step| *step != "1")?;
    let draws = |part: &Part| matches!(part, Part::Text(text) if draws_ids(text));
    let need = "the server draws ids for this experiment, which expects ids without gaps";
    let remedy = "SET GLOBAL auto_increment_increment = 1 on the server, unless it belongs to a \
                  group of several writable servers: then use another server";
    statements(spec)
        .any(|it| it.parts.iter().any(draws))
        .then(|| Obstacle::new(format!("auto_increment_increment = {step}"), need, remedy))
}

/// Returns whether a statement has a column whose values the server draws.
fn draws_ids(text: &str) -> bool {
    let mut tokens = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    tokens.any(|token| DRAWN_IDS.iter().any(|it| it.eq_ignore_ascii_case(token)))
}

/// Returns the obstacle of packets that are shorter than a statement or a row.
fn packet_limit(variables: &Variables, spec: &OpenSpec) -> Option<Obstacle> {
    let most: u64 = variables.get("max_allowed_packet")?.parse().ok()?;
    // Text has two digits for each byte of a value.
    let value = u64::from(spec.data.value_bytes) * if is_text(spec) { 2 } else { 1 };
    let part = |part: &Part| if let Part::Text(text) = part { text.len() as u64 } else { 0 };
    let bytes = |it: &Statement| it.parts.iter().map(part).sum();
    let needed = statements(spec).map(bytes).fold(value, u64::max) + OTHER_BYTES;
    let need = format!("a statement or row of this experiment has up to {needed} bytes");
    let enough = needed.next_power_of_two();
    let remedy =
        format!("SET GLOBAL max_allowed_packet = {enough} on the server, or use shorter values");
    (most < needed).then(|| Obstacle::new(format!("max_allowed_packet = {most}"), need, remedy))
}

/// Returns what a run may have, and what changes what it measures.
pub(crate) fn notes(connection: &mut Connection) -> Result<Vec<String>, Failure> {
    let variables = variables(connection)?;
    let note = |it: Obstacle| format!("{}: {} ({})", it.setting, it.need, it.remedy);
    let of_mode = |mode: &SqlMode| {
        let SqlMode { name, effect, .. } = mode;
        format!(
            "sql_mode has {name}: {effect}; no statement of the experiment depends on this mode"
        )
    };
    let of_modes = modes(&variables).map(of_mode);
    Ok(found(&variables, true).into_iter().map(note).chain(of_modes).collect())
}

/// Returns the variables that a run cannot have, or those that are a note.
fn found(variables: &Variables, are_notes: bool) -> Vec<Obstacle> {
    let obstacle = |condition: &Condition| {
        let Condition { name, need, usual, is_good, .. } = condition;
        let value = variables.get(*name).filter(|it| !is_good(&it.to_ascii_uppercase()))?;
        let remedy = format!("SET GLOBAL {name} = {usual} on the server, or change init_connect");
        Some(Obstacle::new(format!("{name} = {value}"), *need, remedy))
    };
    CONDITIONS.iter().filter(|it| it.is_note == are_notes).filter_map(obstacle).collect()
}

/// Returns the modes in force that change what statements mean.
fn modes(variables: &Variables) -> impl Iterator<Item = &'static SqlMode> {
    let modes = variables.get("sql_mode").map(String::as_str).unwrap_or_default();
    MODES.iter().filter(move |mode| modes.split(',').any(|it| it == mode.name))
}

/// Returns the obstacle of a server of the other kind than the variant names.
fn other_flavour(named: Flavour, variables: &Variables) -> Option<Obstacle> {
    let version = variables.get("version").filter(|version| !version.is_empty())?;
    let is = if version.contains("MariaDB") { Flavour::Mariadb } else { Flavour::Mysql };
    let need = format!("the variant names {}, and this server is {}", named.name(), is.name());
    let remedy = format!("write engine = \"{}\"", is.name());
    (is != named).then(|| Obstacle::new(format!("version = {version}"), need, remedy))
}

/// Returns whether all statements are sent as text.
fn is_text(spec: &OpenSpec) -> bool {
    spec.options.get(PROTOCOL) == Some("text")
}

/// Returns the statements of the application.
fn statements(spec: &OpenSpec) -> impl Iterator<Item = &Statement> {
    let application = spec.application.iter().map(|setup| &*setup.application);
    application.flat_map(|application| {
        let creates = application.tables.iter().flat_map(|table| table.create.by(Dialect::Mysql));
        let calls = application.procedures.iter();
        creates.chain(calls.flat_map(|it| it.statements.by(Dialect::Mysql)))
    })
}

/// Returns whether a statement of the application, or a value that is sent as text, has a sign.
fn depends_on(spec: &OpenSpec, sign: &str) -> bool {
    let has = |part: &Part| matches!(part, Part::Text(text) if text.contains(sign));
    // Values are escaped by backslashes.
    (sign == "\\" && is_text(spec)) || statements(spec).any(|it| it.parts.iter().any(has))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(pairs: &[(&str, &str)], are_notes: bool) -> Vec<String> {
        let own = |pair: &(&str, &str)| (pair.0.to_owned(), pair.1.to_owned());
        let variables = pairs.iter().map(own).collect();
        found(&variables, are_notes).into_iter().map(|it| it.setting).collect()
    }

    #[test]
    fn variables_that_end_or_change_a_run_are_named() {
        let usual = [
            ("autocommit", "ON"),
            ("sql_select_limit", "18446744073709551615"),
            ("transaction_isolation", "READ-COMMITTED"),
            ("wait_timeout", "28800"),
            ("max_statement_time", "0.000000"),
        ];
        assert!(settings(&usual, false).is_empty() && settings(&usual, true).is_empty());
        for (name, value, is_note) in [
            ("autocommit", "OFF", false),
            ("sql_select_limit", "1000", false),
            ("sql_select_limit", "0", false),
            ("max_join_size", "100", false),
            ("max_execution_time", "5000", false),
            ("max_statement_time", "5.000000", false),
            ("wait_timeout", "10", false),
            ("default_storage_engine", "MEMORY", false),
            ("completion_type", "RELEASE", false),
            ("transaction_isolation", "SERIALIZABLE", true),
            ("foreign_key_checks", "OFF", true),
        ] {
            assert_eq!(settings(&[(name, value)], is_note), [format!("{name} = {value}")]);
            assert!(settings(&[(name, value)], !is_note).is_empty(), "{name}");
        }
    }

    #[test]
    fn columns_with_drawn_ids_are_found_in_every_notation() {
        for text in ["(id INT AUTO_INCREMENT,", "id int auto_increment)", "(id Serial, x INT)"] {
            assert!(draws_ids(text), "{text}");
        }
        assert!(!draws_ids("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE"));
    }

    #[test]
    fn a_server_of_the_other_kind_is_named() {
        let of = |named, version: &str| {
            let variables = [("version".to_owned(), version.to_owned())].into();
            other_flavour(named, &variables).map(|it| it.remedy)
        };
        let mariadb = "10.11.19-MariaDB-0+deb12u1";
        assert_eq!(of(Flavour::Mysql, mariadb).as_deref(), Some("write engine = \"mariadb\""));
        assert_eq!(of(Flavour::Mariadb, "8.0.31").as_deref(), Some("write engine = \"mysql\""));
        assert_eq!((of(Flavour::Mysql, "8.0.31"), of(Flavour::Mariadb, mariadb)), (None, None));
    }
}
