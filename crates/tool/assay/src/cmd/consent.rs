//! Consent to run the experiment of a stranger: what its options and its SQL reach.

use std::collections::BTreeSet;
use std::fmt;

use archive::{ExperimentDir, OwnKey};
use child::Confinement;
use engine::Reach;
use miette::{Result, miette};
use model::device::FIO;
use model::{Application, Experiment, Hosts, Manifest, Options, Variant, shortened};
use plan::ApplicationFiles as _;
use serde_json::Value;

use super::bench::HEADING;
use crate::catalog::Program;
use crate::environment::Environment;
use crate::registry;
use crate::ui::Ui;

/// Most lines that are shown of what an experiment reaches, and most signs of one. Our choice:
/// where more is left out, a yes is not taken.
const LINES_MAX: usize = 1_000;
const SIGNS_MAX: usize = 4_000;
/// Most signs of what an error names. Our choice: some lines of a terminal.
const FIRST_SIGNS_MAX: usize = 300;
/// Most signs of a variant's options on the line before a rerun. Our choice: some lines of a
/// terminal.
const OPTIONS_SIGNS_MAX: usize = 1_000;

/// The option by which a stranger's experiment is trusted.
#[derive(Debug, Clone, Copy, clap::Args)]
pub(super) struct Trust {
    /// Run an experiment from someone else although it names paths, libraries, commands, hosts or
    /// SQL
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
        dir: &ExperimentDir,
        manifest: &Manifest,
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
                "warning   the experiment cannot be marked as begun by this account ({key}: \
                 {error}): assay run --resume will treat the experiment as a stranger's; name a \
                 cache that this account can write with --cache-dir"
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
                 experiment can reach everything that this account can reach",
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
/// A yes needs a terminal: text from a pipe does not count.
///
/// # Errors
/// Without consent, with what the experiment reaches.
pub(super) fn check(
    name: &str,
    experiment: &Experiment,
    origin: Origin,
    Trust { trust }: Trust,
    ui: &Ui,
) -> Result<()> {
    if origin == Origin::Own {
        return Ok(());
    }
    let all = reached(experiment);
    let Some(first) = all.first() else { return Ok(()) };
    ui.status(format_args!(
        "stranger  this account did not begin {name} on this host; the experiment can reach:"
    ));
    let shown = all.iter().take(LINES_MAX).map(|one| in_one_line(&one.to_string(), SIGNS_MAX));
    shown.for_each(|line| ui.status(format_args!("  {line}")));
    let more = all.len().saturating_sub(LINES_MAX);
    if more > 0 {
        ui.status(format_args!("  {more} more lines are not shown"));
    }
    let is_shown = more == 0 && all.iter().all(|one| one.to_string().chars().count() <= SIGNS_MAX);
    if trust || (is_shown && ui.confirms("Run it?")) {
        return Ok(());
    }
    let first = in_one_line(&first.to_string(), FIRST_SIGNS_MAX);
    let more = if all.len() > 1 { format!(", and {} more", all.len() - 1) } else { String::new() };
    let help = match is_shown {
        true => {
            "read these lines as you would read a script; --trust, or a yes on a terminal, \
                 runs the experiment"
        }
        false => {
            "the experiment reaches more than can be shown: read its manifest as you would read a \
             script; --trust runs the experiment"
        }
    };
    Err(miette!(
        help = help,
        "{name} is a stranger's experiment, and can reach beyond its data: {first}{more}"
    ))
}

/// Prints the options of each variant in one line, without the options of its profile.
pub(super) fn print_options(experiment: &Experiment, ui: &Ui) {
    let tables = plan::profile_tables(&Program::default());
    for variant in &experiment.variants {
        let options = variant.options.iter();
        let own: Vec<_> = options
            .filter(|(name, value)| {
                variant.profile.is_none() || !is_shipped(&tables, variant, name, value)
            })
            .map(|(name, value)| format!("{name} = {value}"))
            .collect();
        let profile = variant.profile.as_ref().map(|name| format!("profile {name}"));
        let all: Vec<_> = profile.into_iter().chain(own).collect();
        if !all.is_empty() {
            let text = in_one_line(&all.join(", "), OPTIONS_SIGNS_MAX);
            ui.status(format_args!("options   {}: {text}", variant.name));
        }
    }
}

/// Something that an experiment reaches beyond its data.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Reached {
    reach: Reach,
    /// What names it.
    by: String,
}

impl fmt::Display for Reached {
    /// Begins with what is reached: nothing that a stranger wrote stands before it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.reach.text(), self.by)
    }
}

/// Returns what an experiment reaches beyond its data, commands and code first.
fn reached(experiment: &Experiment) -> Vec<Reached> {
    let tables = plan::profile_tables(&Program::default());
    let device = experiment.device.as_ref().and_then(|device| device.raw.as_ref());
    let device = device.map(|raw| Reached { reach: Reach::Path, by: format!("device = {raw}") });
    let variants = experiment.variants.iter().flat_map(|variant| of_variant(&tables, variant));
    let sql = experiment.application.iter().flat_map(of_application);
    let mut all: Vec<_> = device.into_iter().chain(sql).chain(variants).collect();
    all.extend(experiment.hosts.iter().flat_map(of_hosts));
    all.sort_by_key(|one| one.reach);
    all
}

/// Returns the machines that ssh connects to, and its configuration, which can name commands.
fn of_hosts(hosts: &Hosts) -> Vec<Reached> {
    let names = [&hosts.server].into_iter().chain(&hosts.clients);
    let names = names.map(|name| Reached { reach: Reach::Host, by: format!("hosts: {name}") });
    let config = hosts.ssh_config.iter().map(|path| format!("hosts: ssh_config = {path}"));
    names.chain(config.map(|by| Reached { reach: Reach::Command, by })).collect()
}

/// Returns what a variant reaches.
fn of_variant(tables: &[(String, Options)], variant: &Variant) -> Vec<Reached> {
    let line = |name: &str, value: &str, reach: Reach| Reached {
        reach,
        by: format!("{}: {name} = {value}", variant.name),
    };
    let reach = registry::reach(&variant.build.engine);
    let is_plain = |name: &str| variant.build.engine == FIO && name == "access";
    let options = variant.options.iter().filter(|(name, _)| !is_plain(name));
    let options = options.filter(|(name, value)| !is_shipped(tables, variant, name, value));
    let mut all: Vec<_> = options
        .filter_map(|(name, value)| Some(line(name, value, reach.of(name, value)?)))
        .collect();
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if let Some(name) = variant.settings.compression.as_ref().filter(|name| !is_word(name)) {
        all.push(line("compression", name, Reach::Value));
    }
    if let Some(dsn) = &variant.dsn {
        let from = dsn.password_from.as_ref().map(|name| format!(" (password: {name})"));
        let (from, clear) = (from.unwrap_or_default(), dsn.exposure());
        all.push(line("dsn", &format!("{dsn}{from}{clear}"), Reach::Host));
        let model::LoginOptions { session, certificate, .. } = &dsn.login;
        let roots = match &dsn.address {
            model::Address::Tcp { tls, .. } => tls.roots(),
            model::Address::Socket(_) => None,
        };
        let certificate = certificate.as_ref();
        for (name, path) in [
            ("sslrootcert", roots),
            ("sslcert", certificate.map(|it| it.chain.as_path())),
            ("sslkey", certificate.map(|it| it.key.as_path())),
        ] {
            all.extend(path.map(|path| line(name, &path.display().to_string(), Reach::Path)));
        }
        all.extend(session.iter().map(|(name, value)| line(name, value, Reach::Unknown)));
    }
    all
}

/// Returns whether a profile of Assay sets an option of the variant's engine to this value.
fn is_shipped(tables: &[(String, Options)], variant: &Variant, name: &str, value: &str) -> bool {
    let of_engine = tables.iter().filter(|(engine, _)| *engine == variant.build.engine);
    of_engine.map(|(_, options)| options.get(name)).any(|shipped| shipped == Some(value))
}

/// Returns the texts of an application that no shipped application has.
///
/// A server runs statements as the superuser of its database: they are code. Parameters of a
/// shipped application change numbers, and none of its texts.
fn of_application(application: &Application) -> Vec<Reached> {
    let catalog = Program::default();
    let shipped = catalog.application_names().into_iter().filter(|name| *name == application.name);
    let shipped = shipped.filter_map(|name| plan::describe(&name, &catalog).ok());
    let known: BTreeSet<String> = shipped.flat_map(|it| texts(&it.application)).collect();
    let strange = texts(application).into_iter().filter(|text| !known.contains(text));
    let of_text = |text: String| Reached {
        reach: Reach::Command,
        by: format!("SQL of {} that is not Assay's: {text}", application.name),
    };
    strange.map(of_text).collect()
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

/// Returns a text of at most so many signs in one line, so that no value begins a line.
fn in_one_line(text: &str, signs_max: usize) -> String {
    shortened(&text.replace(['\n', '\r'], "\u{240a}"), signs_max)
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
        assert_eq!(of_application(&application), []);
        let copy = "COPY t FROM PROGRAM 'touch x'".to_owned();
        let mut table = application.clone();
        table.tables[0].create.postgres[0].parts.push(Part::Text(copy.clone()));
        let mut statement = application.clone();
        statement.procedures[0].statements.postgres[0].parts.push(Part::Text(copy));
        let renamed = Application { name: "mine".to_owned(), ..application };
        for changed in [table, statement, renamed] {
            let lines = of_application(&changed);
            let line = lines.iter().find(|line| {
                changed.name == "mine" || line.to_string().contains("COPY t FROM PROGRAM 'touch x'")
            });
            let line = line.unwrap().to_string();
            let start = format!("runs a command: SQL of {} that is not Assay's: ", changed.name);
            assert!(line.starts_with(&start), "{line}");
        }
    }

    #[test]
    fn machines_of_ssh_and_its_configuration_need_consent() {
        let mut experiment = shipped().remove(0);
        experiment.hosts = Some(Hosts {
            server: "db1".to_owned(),
            clients: vec!["c1".to_owned()],
            ssh_config: Some("/tmp/x".to_owned()),
            address: None,
        });
        let all: Vec<String> = reached(&experiment).iter().map(ToString::to_string).collect();
        assert!(all[0].starts_with("runs a command: hosts: ssh_config = /tmp/x"), "{all:?}");
        assert!(all[1].ends_with("hosts: db1") && all[2].ends_with("hosts: c1"), "{all:?}");
    }

    #[test]
    fn long_texts_are_shortened_and_stay_in_their_line() {
        assert_eq!(in_one_line("a\n  none", 10), "a\u{240a}  none");
        assert_eq!(in_one_line("\u{fc}bcd", 4), "\u{fc}bcd");
        assert_eq!(in_one_line("\u{fc}bcde; rm x", 4), "\u{fc}b (7 signs)  x");
    }

    /// Goal: what is most dangerous is shown first, whatever is written around it.
    #[test]
    fn commands_are_shown_before_what_fills_the_list() {
        let mut experiment = shipped().into_iter().find(|one| one.application.is_none()).unwrap();
        let mut variant = experiment.variants.remove(0);
        variant.profile = None;
        variant.build.engine = "postgres".to_owned();
        let fill = (0..LINES_MAX).map(|number| (format!("aaa.note{number}"), "1".to_owned()));
        let command = ("archive_command".to_owned(), " ".repeat(SIGNS_MAX) + "; touch x");
        variant.options = fill.chain([command]).collect();
        let all = reached(&Experiment { variants: vec![variant], ..experiment });
        assert_eq!(all.len(), LINES_MAX + 1);
        let first = in_one_line(&all[0].to_string(), FIRST_SIGNS_MAX);
        assert!(first.starts_with("runs a command: ") && first.ends_with("; touch x"), "{first}");
    }
}
