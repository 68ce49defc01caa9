//! How it was done: machine, durability, builds, options that differ, the command.

use analysis::machines_of;
use model::{DataShape, Host, HostCheck, Identity, shell_word};

use super::options;
use crate::document::{Cell, Part, Table, Tone};
use crate::figure::count;
use crate::input::ReportInput;
use crate::meta::Meta;

/// Digits of a hash that are shown; the whole is in the archive.
const HASH_DIGITS: usize = 12;

/// Returns the section; `method` is the part on verdicts.
pub(super) fn section(input: &ReportInput<'_>, meta: &Meta, method: Vec<Part>) -> Vec<Part> {
    let title = |title: &str| Part::Heading(3, title.to_owned());
    let mut parts = vec![title("Command"), Part::Verbatim(command(&input.manifest.command_line))];
    parts.extend(method);
    let settings = Part::facts(settings(input, meta));
    parts.extend([title("Machine and settings"), settings]);
    parts.extend(checks(input.host()));
    parts.extend([title("Builds"), Part::Table(builds(input))]);
    parts.extend(options::section(input));
    parts
}

/// Returns the recorded command line for a shell; the program is `assay`, whatever is recorded.
pub(crate) fn command(recorded: &[String]) -> String {
    let args = recorded.iter().skip(1).map(|arg| format!(" {}", shell_word(arg)));
    format!("assay{}", args.collect::<String>())
}

type Fact = (&'static str, String);

fn settings(input: &ReportInput<'_>, meta: &Meta) -> Vec<Fact> {
    let manifest = input.manifest;
    let experiment = &manifest.plan.experiment;
    let mut facts = host(input.host());
    if let [first, _, ..] = &machines_of(input.runs)[..] {
        facts.insert(0, ("machine, the first by name", first.name.clone()));
    }
    facts.push(("durability", meta.durability.clone()));
    facts.push(("rows", rows(&experiment.data)));
    let cap = experiment.memory_bytes.map(|cap| cap.to_string());
    facts.push(("memory cap of the worker", cap.unwrap_or_else(|| "none".to_owned())));
    if let Some(application) = &experiment.application {
        facts.push(("application", format!("{}: {}", application.name, application.about)));
    }
    if experiment.application.is_some() || !experiment.placement.is_free() {
        facts.push(("CPUs of client and server", experiment.placement.to_string()));
    }
    let levels: Vec<String> = experiment.clients.iter().map(u32::to_string).collect();
    facts.push(("clients", levels.join(", ")));
    facts.push(("seed", experiment.seed.to_string()));
    facts.push(("begun", manifest.created_at.clone()));
    facts.push(("Assay", manifest.assay_version.clone()));
    facts
}

fn rows(data: &DataShape) -> String {
    format!(
        "{} rows of {} + {} bytes ({}), compressible to {}",
        count(data.rows),
        data.key_bytes,
        data.value_bytes,
        data.live_bytes(),
        data.compressible_to
    )
}

fn host(host: &Host) -> Vec<Fact> {
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    let known = |name: &'static str, value: Option<String>| value.map(|value| (name, value));
    let device: Vec<String> = [&host.device, &host.device_model, &host.filesystem]
        .into_iter()
        .flatten()
        .cloned()
        .collect();
    let facts = [
        known("CPU", host.cpu_model.clone()),
        known("CPUs usable", Some(host.cpus.to_string())),
        known("cores", host.cores.map(|cores| cores.to_string())),
        known("several threads a core (SMT)", host.is_smt_on.map(yes)),
        known("NUMA nodes", host.numa_nodes.map(|nodes| nodes.to_string())),
        known("memory", Some(host.memory_bytes.to_string())),
        known("kernel", Some(host.kernel.clone())),
        known("operating system", host.os.clone()),
        known("clock source", host.clocksource.clone()),
        known("frequency governor", host.governor.clone()),
        known("turbo boost", host.is_turbo_on.map(yes)),
        known("virtual machine", host.is_virtual.map(yes)),
        known("device of the data", (!device.is_empty()).then(|| device.join(", "))),
        known("transparent huge pages", host.huge_pages.clone()),
        known("control groups", host.cgroup_version.map(|version| format!("v{version}"))),
    ];
    facts.into_iter().flatten().collect()
}

/// Returns what the doctor read before the first run; nothing in older manifests.
fn checks(host: &Host) -> Vec<Part> {
    let known = |one: &'_ HostCheck| Some((one.check.clone(), one.value.clone()?));
    let facts = Part::facts(host.doctor.iter().filter_map(known));
    let title = "Settings of the machine, from the doctor's checks".to_owned();
    Part::Heading(3, title).above([facts])
}

fn builds(input: &ReportInput<'_>) -> Table {
    let headings = ["", "<engine", "<version", "<origin", "<SHA-256", "<build facts"];
    let mut table = Table::new(headings);
    for variant in &input.comparison.variants {
        let name = Cell::from(variant.name.as_str());
        let facts = match identity(input, &variant.name) {
            Some(identity) => build(identity).map(Cell::from).into(),
            None => vec![Cell::new("never opened", Tone::Grey)],
        };
        table.push([name].into_iter().chain(facts));
    }
    table
}

/// Returns what a variant's build turned out to be: from a run, else from the manifest.
fn identity<'a>(input: &ReportInput<'a>, variant: &str) -> Option<&'a Identity> {
    let mut own = input.runs.iter().filter(|run| run.cell.variant == variant);
    own.find_map(|run| run.identity.as_ref()).or_else(|| input.manifest.builds.get(variant))
}

fn build(identity: &Identity) -> [String; 5] {
    let prefix = |hash: &String| hash.chars().take(HASH_DIGITS).collect::<String>();
    let facts = identity.facts.iter().map(|(name, fact)| format!("{name}: {fact}"));
    let none = if identity.is_linked() { "linked" } else { "unknown" };
    let hash = identity.sha256.as_ref().map_or_else(|| none.to_owned(), prefix);
    let Identity { engine, version, origin, .. } = identity;
    let facts = facts.collect::<Vec<_>>().join("; ");
    [engine.to_string(), version.clone(), origin.to_string(), format!("`{hash}`"), facts]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted() {
        let args = ["/bin/rm", "run", "my file.toml", "", "it's"].map(str::to_owned);
        assert_eq!(command(&args), "assay run 'my file.toml' '' 'it'\\''s'");
    }
}
