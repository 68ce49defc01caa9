//! Targets that plan: experiment, profile, application, rate.

use lint::{PlanContext, check_plan, has_rule};
use miette::{GraphicalReportHandler, GraphicalTheme};
use model::Plan;
use plan::{
    Checked, DISK_FLOOR_BYTES, Overrides, PlanError, Room, describe, expand, flags, layout, load,
    profile_options,
};
use render::{Format, Report, Style};

use crate::catalog::{MACHINE, OneText};

/// An experiment whose engine has a profile.
const WITH_PROFILE: &str = r#"
[experiment]
name = "fuzz"
question = "?"
[benchmark]
steps = ["fillseq", "readrandom"]
rows = 1000
duration = "1s"
[[variant]]
name = "a"
engine = "rocksdb@9.10.0"
profile = "own"
[[variant]]
name = "b"
engine = "rocksdb@5.18.3"
profile = "file.toml"
"#;

/// An experiment of an application on both dialects.
const WITH_APPLICATION: &str = r#"
[experiment]
name = "fuzz"
question = "?"
[benchmark]
workload = "own"
rows = 1000
duration = "1s"
[factors]
clients = [1, 4]
[[variant]]
name = "a"
engine = "postgres@15.10"
[[variant]]
name = "b"
engine = "mysql@8.0.31"
"#;

/// An experiment whose rate is a file.
const WITH_RATE_FILE: &str = r#"
[experiment]
name = "fuzz"
question = "?"
[benchmark]
steps = ["fillseq", "readrandom"]
rows = 1000
duration = "10s"
load = { rate = "file rates.csv" }
[[variant]]
name = "a"
engine = "memory"
"#;

/// An experiment file.
pub(crate) fn experiment(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    plan(text, &Overrides::default(), &OneText::default());
}

/// A profile, shipped and as a file of the user's.
pub(crate) fn profile(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let catalog = OneText { text };
    let known = profile_options(&catalog);
    if let Some(checked) = plan(WITH_PROFILE, &Overrides::default(), &catalog) {
        for (name, _) in checked.experiment.variants[0].options.iter() {
            shown(&checked.option_refusal("a", name, "no such option", &known));
        }
    }
}

/// An application file, described and planned on both dialects.
pub(crate) fn application(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let catalog = OneText { text };
    if let Err(error) = describe("own", &catalog) {
        shown(&error);
    }
    plan(WITH_APPLICATION, &Overrides::default(), &catalog);
}

/// A rate: as typed on the command line, and as the text of a rate file.
pub(crate) fn rate(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    plan(WITH_RATE_FILE, &Overrides::default(), &OneText { text });
    let rate = flags().find(|flag| flag.key == "rate").expect("a rate has a flag");
    let typed = Overrides { settings: vec![(rate, text.to_owned())], ..Overrides::default() };
    plan(WITH_RATE_FILE, &typed, &OneText { text: "t,rate\n0,1000\n" });
}

/// Checks, expands and lints an experiment; returns it when it is right.
fn plan(text: &str, overrides: &Overrides, catalog: &OneText<'_>) -> Option<Checked> {
    let checked = match load("file.toml", text, overrides, catalog, MACHINE) {
        Ok(checked) => checked,
        Err(error) => {
            shown(&error);
            return None;
        }
    };
    let room = Room { free: MACHINE.free_bytes, floor: DISK_FLOOR_BYTES };
    match expand(checked.experiment.clone(), catalog, room) {
        Ok(plan) => lint(&plan),
        Err(error) => drop(shown(&error)),
    }
    Some(checked)
}

/// Lints a plan, and stores and reads it as the archive would.
fn lint(plan: &Plan) {
    let Plan { experiment, cells, .. } = plan;
    let findings = check_plan(&PlanContext { experiment, cells, host: None, has_rule });
    let label = lint::label(&findings);
    let checked = render::Checked { name: layout(experiment), size: None, label, findings };
    [checked].render(Format::Text, Style::default());
    let stored = serde_json::to_string(plan).expect("a plan is always valid JSON");
    let read: Result<Plan, _> = serde_json::from_str(&stored);
    read.expect("a stored plan can be read");
}

/// Returns an error as the program prints it.
pub(crate) fn shown(error: &PlanError) -> String {
    let mut text = String::new();
    let theme = GraphicalTheme::unicode_nocolor();
    let printer = GraphicalReportHandler::new_themed(theme).with_width(100).with_links(false);
    printer.render_report(&mut text, error).expect("a place within the file");
    text
}
