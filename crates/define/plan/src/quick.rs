//! Experiments typed on the command line: steps and engines.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::Path;

use model::limits::{NAME_BYTES_MAX, joined_name};
use model::{BuildRef, Dialect};
use reader::Scheme;
use reader::error::{PlanError, Source};
use reader::place::Place;
use reader::syntax::Pairs;

use crate::catalog::{Catalog, Machine};
use crate::checked::Checked;
use crate::chosen::{self, Chosen};
use crate::experiment::check;
use crate::overrides::{Overrides, QuickVariants, pairs};
use crate::profile::is_path;
use crate::settings::{DSN, DURATION, ENGINE, NAME, PROFILE, QUESTION, ROWS, WORKLOAD};
use crate::spec::{File, Section};

/// Checks an experiment typed on the command line: steps and engines.
///
/// An engine may be the address of a running server. Without steps, all steps of an application
/// are taken. Rows
/// that are neither given nor derived by a preset are chosen for the machine, and so is then the
/// duration.
///
/// # Errors
/// Every independent error, with the remedy.
pub fn quick(
    steps: &[String],
    variants: &QuickVariants,
    overrides: &Overrides,
    catalog: &dyn Catalog,
    machine: Machine,
) -> Result<Checked, PlanError> {
    if variants.engines.is_empty() {
        return Err(PlanError::new("no engine is named").remedy(
            "add --engine NAME@VERSION, such as --engine lmdb, or the address of a running server",
        ));
    }
    let known = catalog.steps();
    let workload = overrides.get(WORKLOAD.key);
    let mut file = File::default();
    let whole = workload.filter(|_| steps.is_empty()).map(|name| Path::new(name).file_stem());
    let whole = whole.flatten().and_then(OsStr::to_str);
    let subject = |separator| whole.map_or_else(|| steps.join(separator), str::to_owned);
    file.experiment.set(NAME, quick_name(whole, steps), Place::Unwritten);
    if whole.is_none() {
        file.benchmark.tables = Some(steps.iter().map(Section::step).collect());
    }
    let is_server = |build: &String| {
        let engines = catalog.engines();
        let name = server_of(build).or(build.split('@').next()).unwrap_or_default();
        engines.iter().any(|info| info.name == name && info.dialect.is_some())
    };
    let timed = steps
        .iter()
        .filter(|name| known.iter().find(|info| info.name == ***name).is_none_or(chosen::is_timed));
    let is_derived = workload.is_some() && !overrides.has_application();
    let chosen = (!is_derived && overrides.get(ROWS.key).is_none()).then(|| {
        let has_server = variants.engines.iter().any(is_server);
        Chosen::of(machine, overrides, has_server, timed.count())
    });
    if let Some(Chosen { rows, duration_s }) = chosen {
        file.benchmark.set(ROWS, rows.to_string(), Place::Unwritten);
        if let Some(seconds) = duration_s {
            file.benchmark.set(DURATION, format!("{seconds}s"), Place::Unwritten);
        }
    }
    let options = pairs(&variants.options, "option", &mut file.errors);
    file.variants = name_variants(variants, &options);
    file.experiment.set(
        QUESTION,
        match &file.variants[..] {
            [only] => {
                let name = only.text(NAME);
                format!("What does {name} do on this machine, in {}?", subject(", "))
            }
            _ => format!("How do the engines compare on {}?", subject(", ")),
        },
        Place::Unwritten,
    );
    let checked = check(&Source::default(), file, overrides, catalog, machine)?;
    Ok(Checked {
        chosen: chosen.map(|chosen| chosen.line(machine, overrides, &checked.experiment)),
        ..checked
    })
}

/// Names an experiment after its application or steps; what is too long ends with their number.
fn quick_name(whole: Option<&str>, steps: &[String]) -> String {
    let plain = |text: &str| text.replace(|c| !is_of_name(c), "-");
    if let Some(application) = whole {
        let room = NAME_BYTES_MAX - "quick-".len();
        return format!("quick-{}", plain(application).chars().take(room).collect::<String>());
    }
    let named = |count: usize| {
        let more = steps.len() - count;
        let more = if more > 0 { format!("-and-{more}-more") } else { String::new() };
        let first = steps[..count].iter().map(|step| format!("-{}", plain(step)));
        format!("quick{}{more}", first.collect::<String>())
    };
    let mut names = (0..=steps.len()).rev().map(named);
    names.find(|name| name.len() <= NAME_BYTES_MAX).unwrap_or_else(|| "quick".to_owned())
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// Returns the engine that speaks the protocol of a server's address; `None` for a build.
fn server_of(build: &str) -> Option<&'static str> {
    let (scheme, _) = build.split_once("://")?;
    let scheme = Scheme::parse(scheme.trim_start_matches([' ', '"', '\'', '`']))?;
    match scheme.dialect? {
        Dialect::Mysql if scheme.family == "mariadb" => Some("mariadb"),
        Dialect::Mysql => Some("mysql"),
        Dialect::Postgres => Some("postgres"),
    }
}

/// Names variants after engine, version and profile; duplicates are numbered.
fn name_variants(variants: &QuickVariants, options: &Pairs) -> Vec<Section> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let mut table = |build: &String| {
        let server = server_of(build);
        let engine = server.or(build.split('@').next()).unwrap_or_default();
        let own = format!("{engine}-");
        let profile = variants.profile.as_ref().filter(|profile| {
            profile.starts_with(&own) || is_path(profile) || variants.engines.len() == 1
        });
        // What is no build is reported as such.
        let is_build = build.parse::<BuildRef>().is_ok();
        let mut name = match server {
            Some(engine) => engine.to_owned(),
            None if is_build => build.replace('@', "-"),
            None => "variant".to_owned(),
        };
        if let Some(profile) = profile {
            name = format!("{name}-{}", short_name(profile, &own));
        }
        // Each part is ASCII.
        name.truncate(NAME_BYTES_MAX);
        let twin = counts.entry(name.clone()).or_insert(0);
        *twin += 1;
        if *twin > 1 {
            name = joined_name(&name, &twin.to_string());
        }
        let mut table = Section::default();
        table.pairs = options.clone();
        table.set(NAME, name, Place::Unwritten);
        let place = Place::flag("engine");
        table.set(ENGINE, if server.is_some() { engine } else { build }, &place);
        if server.is_some() {
            table.set(DSN, build, place);
        }
        if let Some(profile) = profile {
            table.set(PROFILE, profile, Place::flag("profile"));
        }
        table
    };
    variants.engines.iter().map(&mut table).collect()
}

/// Returns the part of a variant's name that a profile gives.
fn short_name(profile: &str, engine: &str) -> String {
    let stem = Path::new(profile).file_stem().filter(|_| is_path(profile));
    let name = stem.map_or(profile.into(), |stem| stem.to_string_lossy());
    name.strip_prefix(engine).unwrap_or(&name).replace(|c| !is_of_name(c), "-")
}

#[cfg(test)]
mod tests {
    use miette::Diagnostic as _;
    use model::{Nanos, StopRule};

    use super::*;
    use crate::tests::sample::{MACHINE, TestCatalog};

    fn typed(engines: &[&str], profile: Option<&str>) -> QuickVariants {
        QuickVariants {
            engines: engines.iter().map(|engine| (*engine).to_owned()).collect(),
            profile: profile.map(str::to_owned),
            options: Vec::new(),
        }
    }

    fn planned(
        steps: &[&str],
        variants: &QuickVariants,
        overrides: &Overrides,
    ) -> Result<Checked, PlanError> {
        let steps: Vec<_> = steps.iter().map(|step| (*step).to_owned()).collect();
        quick(&steps, variants, overrides, &TestCatalog::default(), MACHINE)
    }

    #[test]
    fn typed_variants_are_named_after_build_and_profile_and_duplicates_are_numbered() {
        let variants = typed(&["log@9.1", "tree", "tree"], Some("log-wide"));
        let tables = name_variants(&variants, &Pairs::new());
        let names: Vec<_> = tables.iter().map(|table| table.text(NAME)).collect();
        assert_eq!(names, ["log-9.1-wide", "tree", "tree-2"]);
        let profiles: Vec<_> = tables.iter().map(|table| table.text(PROFILE)).collect();
        assert_eq!(profiles, ["log-wide", "", ""]);
        let own =
            name_variants(&typed(&["log@9.1"], Some("../my own/log-big one.toml")), &Pairs::new());
        assert_eq!(own[0].text(NAME), "log-9.1-big-one");
        let single = name_variants(&typed(&["tree"], Some("wide")), &Pairs::new());
        assert_eq!(single[0].text(NAME), "tree-wide", "a single engine takes any profile");
    }

    #[test]
    fn names_of_typed_experiments_are_never_too_long() {
        let steps = |count: usize| vec!["readwhilewriting".to_owned(); count];
        assert_eq!(quick_name(None, &steps(2)), "quick-readwhilewriting-readwhilewriting");
        let long = quick_name(None, &steps(9));
        assert_eq!(long, "quick-readwhilewriting-readwhilewriting-readwhilewriting-and-6-more");
        assert_eq!(quick_name(None, &["x".repeat(100)]), "quick-and-1-more");
        assert_eq!(quick_name(Some("my bank"), &[]), "quick-my-bank");
        let mut checked = 0;
        for name in (0..40).map(|count| quick_name(None, &steps(count))) {
            assert!(model::limits::is_name(&name, NAME_BYTES_MAX), "{name}");
            checked += 1;
        }
        assert_eq!(checked, 40);
        let profile = format!("./{}.toml", "p".repeat(100));
        let twins = name_variants(&typed(&["tree", "tree"], Some(&profile)), &Pairs::new());
        let names: Vec<_> = twins.iter().map(|table| table.text(NAME)).collect();
        assert!(names.iter().all(|name| model::limits::is_name(name, NAME_BYTES_MAX)), "{names:?}");
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn an_address_typed_as_an_engine_is_a_running_server() {
        let address = "postgres://me:${ASSAY_PASSWORD_PG}@db.example/test";
        let tables = name_variants(&typed(&[address, "tree"], None), &Pairs::new());
        let texts = |setting| tables.iter().map(|table| table.text(setting)).collect::<Vec<_>>();
        assert_eq!(texts(NAME), ["postgres", "tree"]);
        assert_eq!(texts(ENGINE), ["postgres", "tree"]);
        assert_eq!(texts(DSN), [address, ""]);
        let rows = Overrides::default().with("rows", "1k");
        for (other, expected) in [
            ("redis://me@db.example/test", "unknown server scheme `redis://`"),
            ("mongodb+srv://me:hush@db.example/test", "unknown server scheme `mongodb://`"),
            ("jdbc:sqlserver://db:1433;user=me", "unknown server scheme `sqlserver://`"),
            ("host=db dbname=x user=me", "this is a list of `key=value`, as in libpq"),
            ("psql -h 127.0.0.1 -U bench bench", "this is a command line, and not an address"),
            ("me:hush@tcp(db:3306)/x", "this is an address in the form of Go's MySQL driver"),
            ("$DATABASE_URL", "the address is a variable that nothing expands"),
            ("me:hush@db/x", "the address has no scheme"),
            ("rocks db", "is not an engine build"),
        ] {
            let error = planned(&["fillseq"], &typed(&[other], None), &rows).unwrap_err();
            assert!(error.to_string().contains(expected), "{other}: {error}");
            assert!(error.help().is_some() || other.contains(' '), "{other}");
        }
        for scheme in ["postgresql", "mysql2", "mariadb", "jdbc:mysql", "postgresql+psycopg2"] {
            let server = server_of(&format!("{scheme}://me@db.example/test"));
            assert!(server.is_some_and(|name| scheme.contains(name)), "{scheme}");
        }
    }

    #[test]
    fn typed_steps_that_need_rows_are_filled_first() {
        let rows = Overrides::default().with("rows", "1k");
        let tree = typed(&["tree"], None);
        let filled = planned(&["fillseq", "readrandom"], &tree, &rows).unwrap();
        assert_eq!(filled.chosen, None);
        let filled = filled.experiment;
        assert_eq!((filled.name.as_str(), filled.steps.len()), ("quick-fillseq-readrandom", 2));
        assert_eq!(filled.question, "What does tree do on this machine, in fillseq, readrandom?");
        // This test's catalog lacks filluniquerandom: that it is requested is what is tested.
        let refused = planned(&["readrandom"], &tree, &rows).unwrap_err().to_string();
        assert_eq!(refused, "unknown step `filluniquerandom`");
    }

    #[test]
    fn step_of_an_application_is_refused_with_its_name() {
        let rows = Overrides::default().with("rows", "1k");
        let refused = planned(&["fillseq", "q100"], &typed(&["pg@15"], None), &rows).unwrap_err();
        assert_eq!(refused.to_string(), "unknown step `q100`");
        let help = refused.help().expect("a remedy").to_string();
        assert!(help.ends_with("add --workload ibench-2023"), "{help}");
    }

    #[test]
    fn rows_and_duration_are_chosen_when_no_rows_are_given() {
        let plan = |engine: &str, overrides: &Overrides| {
            planned(&["fillseq", "readrandom"], &typed(&[engine], None), overrides).unwrap()
        };
        let none = Overrides::default();
        let embedded = plan("tree", &none);
        assert_eq!(embedded.experiment.data.rows, 1_000_000);
        assert_eq!(embedded.experiment.steps[1].stop, StopRule::Duration(Nanos::from_secs(10)));
        assert_eq!(
            embedded.chosen.as_deref(),
            Some(
                "rows 1M and duration 10s chosen for this machine: 8 CPUs, 32.0 GiB of memory, \
                 1.00 TiB of free disk"
            )
        );
        let server = plan("pg@15", &none);
        assert_eq!(server.experiment.data.rows, 200_000);
        let timed = plan("tree", &none.clone().with("duration", "3s"));
        assert!(timed.chosen.unwrap().starts_with("rows 1M chosen for"));
        let preset = plan("tree", &none.with("workload", "byrx"));
        assert_eq!((preset.chosen, preset.experiment.data.rows > 1_000_000), (None, true));
    }

    #[test]
    fn independent_mistakes_are_reported_together() {
        let overrides = Overrides::default()
            .with("duration", "soon")
            .with("durability", "paper")
            .with("cache", "big")
            .with("clients", "swep");
        let mut variants = typed(&["tre"], None);
        variants.options.push("size".to_owned());
        let error = planned(&["fillseq", "raedrandom", "readrandom"], &variants, &overrides);
        let error = error.unwrap_err();
        let others = error.related().into_iter().flatten().map(ToString::to_string);
        let all: Vec<_> = [error.to_string()].into_iter().chain(others).collect();
        assert_eq!(
            all,
            [
                "--option: `size` is not NAME=VALUE",
                "--duration: `soon` is not a duration: write 500ms, 60s, 10m or 2h",
                "--durability: unknown durability `paper`",
                "--cache: `big` is not a size: write 4096, 64KiB, 512MiB or 2GiB",
                "--clients: unknown levels of clients `swep`",
                "unknown step `raedrandom`",
                "--engine: unknown engine `tre`",
            ]
        );
    }
}
