//! Errors of unknown keys in experiment files, with the table that each belongs in.

use reader::error::PlanError;
use reader::nearest;
use reader::syntax::listed_keys;

use crate::peers::option_of_peer;
use crate::settings::{IS_PROFILED, Setting, Table, of_table};

/// Tables in which a misplaced key is searched, those that most files have first.
const SEARCHED: [Table; 9] = [
    Table::Benchmark,
    Table::Factors,
    Table::Experiment,
    Table::Variant,
    Table::Load,
    Table::Step,
    Table::Event,
    Table::Device,
    Table::Waiver,
];

/// Returns the names of the tables of an experiment file that have a key.
pub fn tables_with(key: &str) -> Vec<&'static str> {
    owners(key, None).map(Table::name).collect()
}

/// Returns the other tables that have a key.
fn owners(key: &str, own: Option<Table>) -> impl Iterator<Item = Table> {
    let has_it = move |table: &Table| of_table(*table).any(|setting| setting.key == key);
    SEARCHED.into_iter().filter(move |table| Some(*table) != own).filter(has_it)
}

/// Returns the error of an unknown key of a table, with the key or the table that was meant.
pub(crate) fn unknown_key(unknown: &str, table: Table) -> PlanError {
    let known: Vec<_> = of_table(table).map(|setting| setting.key).collect();
    let is_variant = table == Table::Variant;
    let option = "an option of the engine belongs in the table [variant.options]";
    let elsewhere = || {
        let word = nearest_elsewhere(unknown, table).filter(|_| !is_variant)?;
        Some(format!("did you mean `{word}`? {}", place_of(word, Some(table))?))
    };
    let peer = option_of_peer(&unknown.replace('_', "-")).map(|ours| ours.replace('-', "_"));
    let of_peer = || {
        let ours = peer.as_deref()?;
        Some(format!("did you mean `{ours}`? {}", place_of(ours, Some(table))?))
    };
    let own = known.iter().copied().find(|key| peer.as_deref() == Some(*key));
    let near = own.or_else(|| nearest(unknown, known.iter().copied()));
    let remedy = match near.map(|word| format!("did you mean `{word}`?")) {
        Some(meant) if is_variant => format!("{meant} {option}"),
        Some(meant) => meant,
        None => match place_of(unknown, Some(table)).or_else(of_peer).or_else(elsewhere) {
            Some(place) => place,
            None if is_variant => format!("{option}; {}", listed_keys(&known)),
            None => listed_keys(&known),
        },
    };
    PlanError::new(format!("unknown key `{unknown}` in {table}")).remedy(remedy)
}

/// Returns the error of an unknown key above all tables; `known` are the names of tables.
pub(crate) fn unknown_table(unknown: &str, known: &[&str]) -> PlanError {
    let error = PlanError::new(format!("unknown key `{unknown}`"));
    match place_of(unknown, None) {
        Some(place) => error.remedy(place),
        None => error.meant(unknown, known.iter().copied(), listed_keys(known)),
    }
}

/// Returns the nearest key of another table.
fn nearest_elsewhere(unknown: &str, own: Table) -> Option<&'static str> {
    let others = SEARCHED.into_iter().filter(|table| *table != own);
    nearest(unknown, others.flat_map(of_table).map(|setting| setting.key))
}

/// Returns what the key of a setting means in another table, for a value that is wrong here.
pub(crate) fn namesake(setting: &Setting, table: Table) -> Option<&'static str> {
    match (setting.key == IS_PROFILED.key, table) {
        (true, Table::Variant) => Some(
            "in [[variant]], `profile` names options of the engine, such as \"rocksdb-leveled\"; \
             for CPU profiles write `profile = true` in [benchmark]",
        ),
        (true, _) => Some(
            "here `profile` switches CPU profiles: true or false; a profile of engine options \
             belongs in [[variant]], such as profile = \"rocksdb-leveled\"",
        ),
        (false, _) => None,
    }
}

/// Returns where a key belongs, if another table has it.
pub(crate) fn place_of(key: &str, own: Option<Table>) -> Option<String> {
    let tables: Vec<Table> = owners(key, own).collect();
    let [first, others @ ..] = &tables[..] else { return None };
    if *first == Table::Load {
        return Some(format!("write `{key}` into the load: load = {{ {key} = VALUE }}"));
    }
    let others = others.iter().map(|table| format!(" or {table}")).collect::<String>();
    Some(format!("`{key}` belongs in {first}{others}"))
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;

    use super::*;

    fn help(error: &PlanError) -> String {
        error.help().expect("a remedy").to_string()
    }

    #[test]
    fn a_misplaced_key_is_sent_to_the_table_that_has_it() {
        let of = |key, table| help(&unknown_key(key, table));
        assert_eq!(
            of("clients", Table::Benchmark),
            "`clients` belongs in [factors] or a step's table"
        );
        assert_eq!(of("rows", Table::Experiment), "`rows` belongs in [benchmark]");
        assert_eq!(of("rate", Table::Step), "write `rate` into the load: load = { rate = VALUE }");
        assert_eq!(of("seed", Table::Factors), "`seed` belongs in [experiment]");
        assert_eq!(
            of("repetition", Table::Benchmark),
            "did you mean `repetitions`? `repetitions` belongs in [factors]"
        );
        assert_eq!(
            of("threads", Table::Benchmark),
            "did you mean `clients`? `clients` belongs in [factors] or a step's table"
        );
        assert_eq!(of("value_size", Table::Benchmark), "did you mean `value_bytes`?");
        assert_eq!(of("row", Table::Benchmark), "did you mean `rows`?");
        let nowhere = of("colour", Table::Factors);
        assert_eq!(nowhere, "known keys: clients, runs_per_load, repetitions");
    }

    #[test]
    fn every_key_of_a_table_is_sent_back_to_it_from_above_all_tables() {
        let mut sent = 0;
        for table in SEARCHED {
            for setting in of_table(table) {
                let remedy = help(&unknown_table(setting.key, &["variant"]));
                let is_load = table == Table::Load && remedy.contains("load = {");
                assert!(remedy.contains(table.name()) || is_load, "{}: {remedy}", setting.key);
                sent += 1;
            }
        }
        assert!(sent > 40, "{sent}");
    }

    #[test]
    fn an_option_of_an_engine_is_sent_to_its_table() {
        let remedy = help(&unknown_key("page_size", Table::Variant));
        assert!(remedy.starts_with("an option of the engine belongs in"), "{remedy}");
        assert!(remedy.contains("[variant.options]; known keys: name, engine, "), "{remedy}");
    }
}
