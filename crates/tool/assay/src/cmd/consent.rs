//! Consent to run the experiment of a stranger: what its options and its SQL reach.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _, stderr, stdin};

use archive::{ExperimentDir, OwnKey};
use child::Confinement;
use engine::Reach;
use miette::{Result, miette};
use model::device::FIO;
use model::{Application, Experiment, Manifest, Options, Tls, Variant};
use plan::Catalog as _;
use serde_json::Value;

use super::bench::HEADING;
use crate::catalog::Program;
use crate::environment::Environment;
use crate::registry;
use crate::ui::Ui;

/// Most lines that are shown of what an experiment reaches, and most signs of one. Our choice: a
/// list that is longer hides what is in it.
const LINES_MAX: usize = 50;
const SIGNS_MAX: usize = 300;
/// Most signs of a variant's options on the line before a rerun. Our choice: some lines of a
/// terminal.
const OPTIONS_SIGNS_MAX: usize = 1_000;

/// The option by which a stranger's experiment is trusted.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Trust {
    /// Run a stranger's experiment although it names paths, libraries, commands, hosts or SQL
    #[arg(long, help_heading = HEADING)]
    trust: bool,
}

/// Whose an experiment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    /// This account began it here.
    Own,
    /// It came in a file or a copied directory, was changed by hand, or an older Assay began it.
    Stranger,
}

impl Origin {
    /// Returns whose a stored experiment is.
    pub(super) fn of(dir: &ExperimentDir, manifest: &Manifest, environment: &Environment) -> Self {
        let key = environment.own_key.as_deref().and_then(OwnKey::read);
        let is_own = key.is_some_and(|key| dir.is_own(&key, manifest));
        if is_own { Self::Own } else { Self::Stranger }
    }

    /// Marks an experiment that begins, or goes on with another manifest, if it is this account's.
    pub(super) fn mark(
        self,
        (dir, manifest): (&ExperimentDir, &Manifest),
        environment: &Environment,
        ui: &Ui,
    ) {
        let Some(key) = environment.own_key.as_deref().filter(|_| self == Self::Own) else {
            return;
        };
        let marked = OwnKey::obtain(key).map_err(|error| error.to_string());
        let marked =
            marked.and_then(|key| dir.mark_own(&key, manifest).map_err(|error| error.to_string()));
        if let Err(error) = marked {
            let key = key.display();
            ui.status(format_args!(
                "warning   no mark of this account ({key}: {error}): to resume it, it counts as \
                 a stranger's"
            ));
        }
    }

    /// Returns how its engines are confined; `None` where it is this account's.
    ///
    /// A line states where the kernel cannot do it.
    pub(super) fn confinement(
        self,
        environment: &Environment,
        ui: &Ui,
    ) -> std::io::Result<Option<Confinement>> {
        if self == Self::Own {
            return Ok(None);
        }
        if child::landlock_level().is_none() {
            ui.status(
                "warning   the kernel offers no Landlock: the engines of this stranger's \
                 experiment reach all that this account reaches",
            );
        }
        let program = std::env::current_exe()?;
        let launcher = vec![program.clone().into_os_string(), "confined".into()];
        let builds = environment.cache_dir.as_ref().map(|dir| dir.join("engines"));
        let read = environment.loaded.iter().cloned().chain(builds).chain([program]);
        Ok(Some(Confinement::by(launcher).reading(read)))
    }
}

/// Checks that a stranger's experiment may run: it reaches nothing, or the user agrees.
///
/// A yes needs a terminal: what comes through a pipe is none.
///
/// # Errors
/// Without consent, with what the experiment reaches.
pub(super) fn check(
    name: &str,
    (experiment, origin): (&Experiment, Origin),
    Trust { trust }: Trust,
    ui: &Ui,
) -> Result<()> {
    if origin == Origin::Own {
        return Ok(());
    }
    let all = reached(experiment);
    let Some(first) = all.first() else { return Ok(()) };
    ui.status(format_args!("stranger  {name} was not begun by this account on this host:"));
    all.iter().take(LINES_MAX).for_each(|line| ui.status(format_args!("  {line}")));
    if let Some(more) = all.len().checked_sub(LINES_MAX).filter(|more| *more > 0) {
        ui.status(format_args!("  and {more} more"));
    }
    if trust || is_yes(ui) {
        return Ok(());
    }
    let more = if all.len() > 1 { format!(", and {} more", all.len() - 1) } else { String::new() };
    Err(miette!(
        help = "read them as you would a script; --trust runs it, and so does a yes on a terminal",
        "{name} is a stranger's, and reaches beyond its data: {first}{more}"
    ))
}

/// Returns whether the user agrees on a terminal.
fn is_yes(ui: &Ui) -> bool {
    if !stdin().is_terminal() || !ui.is_live {
        return false;
    }
    let prompted = write!(stderr(), "Run it? [y/N] ").and_then(|()| stderr().flush());
    let mut answer = String::new();
    let read = prompted.and_then(|()| stdin().read_line(&mut answer));
    read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

/// Prints the options of each variant in one line; those of its profile are not repeated.
pub(super) fn print_options(experiment: &Experiment, ui: &Ui) {
    let tables = plan::profile_tables(&Program::default());
    for variant in &experiment.variants {
        let options = variant.options.iter();
        let own: Vec<_> = options
            .filter(|option| variant.profile.is_none() || !is_shipped(&tables, variant, *option))
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let profile = variant.profile.as_ref().map(|name| format!("profile {name}"));
        let all: Vec<_> = profile.into_iter().chain(own).collect();
        if !all.is_empty() {
            let text = shortened(&all.join(", "), OPTIONS_SIGNS_MAX);
            ui.status(format_args!("options   {}: {text}", variant.name));
        }
    }
}

/// Returns what an experiment reaches beyond its data, a line for each.
fn reached(experiment: &Experiment) -> Vec<String> {
    let tables = plan::profile_tables(&Program::default());
    let device = experiment.device.as_ref().and_then(|device| device.raw.as_ref());
    let device = device.map(|raw| format!("device = {raw} {}", Reach::Path.text()));
    let variants = experiment.variants.iter().flat_map(|variant| of_variant(&tables, variant));
    let sql = experiment.application.as_ref().and_then(of_application);
    let all = device.into_iter().chain(sql).chain(variants);
    all.map(|line| shortened(&line, SIGNS_MAX)).collect()
}

/// Returns what a variant reaches.
fn of_variant(tables: &[(String, Options)], variant: &Variant) -> Vec<String> {
    let line = |name: &str, value: &str, reach: Reach| {
        format!("{}: {name} = {value} {}", variant.name, reach.text())
    };
    let reach = registry::reach(&variant.build.engine);
    let is_plain = |name: &str| variant.build.engine == FIO && name == "access";
    let options = variant.options.iter().filter(|(name, _)| !is_plain(name));
    let options = options.filter(|option| !is_shipped(tables, variant, *option));
    let mut all: Vec<String> = options
        .filter_map(|(name, value)| Some(line(name, value, reach.of(name, value)?)))
        .collect();
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if let Some(name) = variant.settings.compression.as_ref().filter(|name| !is_word(name)) {
        all.push(line("compression", name, Reach::Value));
    }
    if let Some(dsn) = &variant.dsn {
        let from = dsn.password_from.as_ref().map(|name| format!(" (password: {name})"));
        all.push(line("dsn", &format!("{dsn}{}", from.unwrap_or_default()), Reach::Host));
        if let model::Address::Tcp { tls: Tls::Verified(roots), .. } = &dsn.address {
            all.push(line("sslrootcert", &roots.display().to_string(), Reach::Path));
        }
    }
    all
}

/// Returns whether a profile of Assay sets an option of the variant's engine to this value.
fn is_shipped(
    tables: &[(String, Options)],
    variant: &Variant,
    (name, value): (&str, &str),
) -> bool {
    let of_engine = tables.iter().filter(|(engine, _)| *engine == variant.build.engine);
    of_engine.map(|(_, options)| options.get(name)).any(|shipped| shipped == Some(value))
}

/// Returns how many texts of an application no shipped application has, with the first; `None`
/// without any.
///
/// A server runs statements as the superuser of its database: they are code. Parameters of a
/// shipped application change numbers, and none of its texts.
fn of_application(application: &Application) -> Option<String> {
    let catalog = Program::default();
    let shipped = catalog.application_names().into_iter().filter(|name| *name == application.name);
    let shipped = shipped.filter_map(|name| plan::describe(&name, &catalog).ok());
    let known: BTreeSet<String> = shipped.flat_map(|it| texts(&it.application)).collect();
    let texts = texts(application).into_iter();
    let strange: Vec<_> = texts.filter(|text| !known.contains(text)).collect();
    let first = strange.first()?.split_whitespace().collect::<Vec<_>>().join(" ");
    let (name, count) = (&application.name, strange.len());
    Some(format!("application {name} has {count} texts of SQL that are not Assay's: {first}"))
}

/// Returns the texts of an application's tables, procedures and checks.
fn texts(application: &Application) -> Vec<String> {
    let parts = (&application.tables, &application.procedures, &application.checks);
    let mut texts = Vec::new();
    // A noun of `model` is always valid JSON.
    add_texts(&serde_json::to_value(parts).unwrap_or_default(), &mut texts);
    texts
}

fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(fields) => fields.values().for_each(|value| add_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Returns a text of at most so many signs in one line: no value begins a line of its own.
fn shortened(text: &str, signs_max: usize) -> String {
    let line = text.replace(['\n', '\r'], "\u{240a}");
    match line.char_indices().nth(signs_max) {
        Some((end, _)) => format!("{} ({} bytes in all)", &line[..end], text.len()),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use model::sql::Part;
    use model::{Bytes, CpuCount};
    use plan::{Machine, Overrides};

    use super::super::run_options::read_file;
    use super::*;

    fn shipped() -> Vec<Experiment> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../experiments");
        let memory_bytes = Bytes(64 << 30);
        let machine = Machine { cpus: CpuCount::of(8), memory_bytes, free_bytes: memory_bytes };
        let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|end| end == "toml"));
        let read = |path: std::path::PathBuf| {
            let overrides = Overrides::default();
            read_file(path.to_str().unwrap(), &overrides, &Program::default(), machine)
        };
        files.map(|path| read(path).unwrap().experiment).collect()
    }

    #[test]
    fn shipped_profiles_and_applications_need_no_consent() {
        let all = shipped();
        assert!(all.len() > 30, "{}", all.len());
        assert!(all.iter().filter(|one| one.application.is_some()).count() > 5);
        for experiment in all {
            let reached = reached(&experiment);
            assert!(reached.is_empty(), "{}: {reached:?}", experiment.name);
        }
    }

    /// Goal: one statement that is not Assay's is found, wherever it stands.
    #[test]
    fn sql_that_is_not_shipped_is_code() {
        let experiment = shipped().into_iter().find(|one| one.application.is_some()).unwrap();
        let application = experiment.application.unwrap();
        assert_eq!(of_application(&application), None);
        let copy = "COPY t FROM PROGRAM 'touch x'".to_owned();
        let mut table = application.clone();
        table.tables[0].create.postgres[0].parts.push(Part::Text(copy.clone()));
        let mut statement = application.clone();
        statement.procedures[0].statements.postgres[0].parts.push(Part::Text(copy));
        let renamed = Application { name: "mine".to_owned(), ..application };
        for changed in [table, statement, renamed] {
            let line = of_application(&changed).unwrap();
            assert!(line.contains("texts of SQL that are not Assay's"), "{line}");
        }
    }

    #[test]
    fn long_texts_are_shortened_and_stay_in_their_line() {
        assert_eq!(shortened("a\n  none", 10), "a\u{240a}  none");
        assert_eq!(shortened("\u{fc}bc", 3), "\u{fc}bc");
        assert_eq!(shortened("\u{fc}bcd", 3), "\u{fc}bc (5 bytes in all)");
    }
}
