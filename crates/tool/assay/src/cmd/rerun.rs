//! `assay rerun`: the experiment of a file on this machine, finding by finding.

use std::path::Path;
use std::process::ExitCode;

use analysis::{Comparison, RerunFinding, RerunOutcome, host_differences, rerun_findings};
use archive::{ExperimentDir, Results};
use miette::{Report, Result, miette};
use model::{Experiment, Host, Identity, Manifest, ShellCommand, Variant};
use render::complete_runs;
use render::figure::interval;
use runner::Library;
use stats::Effect;

use super::analyzed::{MeasuredRuns, analyze};
use super::bench::{Bench, Limits, take_data};
use super::consent::{self, Origin, Trust};
use super::refused::{check_host, check_stored};
use super::run::{drive_health, host_of_run, manifest, measure};
use super::steady::Window;
use super::{fleet, plan as planning, requested_build, servers};
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::misplaced;
use crate::phase;
use crate::ui::{Process, Ui, aligned};

/// Arguments of `assay rerun`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay rerun result.assay
  assay compare EXPERIMENT result.assay --across hosts     afterwards: every figure of both hosts

The plan comes from the file: rows, steps, seed, order and repetitions do not change. Builds are
obtained by name and checked by hash. A difference is reproduced if the new difference has the same
direction, and an equivalence if the new result is an equivalence. If one of the two results is
inconclusive, the finding is undecided.

The options of the file are printed. If this account did not begin the experiment on this host, the
command also prints what the options and the SQL can reach beyond the data, and needs --trust or a
yes on the terminal. The engines are then confined to their build and data, if the kernel can.

Exit code: 0 if every finding was reproduced or is undecided, 1 if a finding was not reproduced, or
on an error.")]
pub(crate) struct Args {
    /// File that assay export wrote, or an experiment (name, identifier or directory)
    experiment: String,
    #[command(flatten)]
    limits: Limits,
    #[command(flatten)]
    trust: Trust,
}

/// The experiment that is run again.
struct Original {
    name: String,
    manifest: Manifest,
    origin: Origin,
    comparison: Comparison,
}

/// Runs the experiment again, and prints which findings are reproduced.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    phase::enter("for the experiment to be checked");
    let results = Results::at(&environment.results);
    let original = Original::read(&args.experiment, &results, environment)?;
    let (spec, origin) = (&original.manifest.plan.experiment, original.origin);
    let started = original.started();
    consent::print_options(&started, ui);
    consent::check(&args.experiment, &started, origin, args.trust, ui)?;
    let environment = servers::with_open_data(environment, spec, ui);
    let environment = &environment;
    let (experiment, libraries) = obtained(&original.manifest, environment, ui)?;
    check_stored(&experiment)?;
    let planned = planning::expand(experiment, args.limits.disk_floor, environment)?;
    planned.check()?;
    check_host(&planned.plan.experiment, Some(&results), environment)?;
    let data = take_data(environment, ui)?;
    let health = || drive_health(environment);
    let mut bench = Bench::open(&data, &args.limits, environment, &health)?;
    bench.engines.confinement = origin.confinement(environment, ui).into_report()?;
    bench.engines.servers = servers::of(&planned.plan.experiment, Process { environment, ui })
        .map_err(|missing| of_variant(&missing.variant, &missing.message))?;
    bench.engines.libraries.extend(libraries);
    bench.defer_stops();
    let identities = bench.identities(&planned.plan.experiment, ui).into_report()?;
    bench.measure_profiler(&planned.plan.experiment, ui).into_report()?;
    let here = host_of_run(data.path(), environment);
    let mut manifest = manifest(planned.plan, here, identities);
    let dir = results.create(&mut manifest).into_report()?;
    origin.mark(&dir, &manifest, environment, ui);
    let complete = measure(&mut bench, &manifest, &dir, ui)?;
    let deferred = bench.close();
    drop((data, deferred));
    let code = print_findings(&original, &manifest, &dir, ui)?;
    let total = manifest.plan.cells.len();
    if complete < total {
        ui.print(format_args!("\nRuns     {}", complete_runs(complete, total)));
        let resume = ShellCommand::of("assay run").option("--resume", &manifest.id);
        ui.print(format_args!("Resume   {}", args.limits.carried(resume)));
        return Ok(ExitCode::FAILURE);
    }
    Ok(code)
}

impl Original {
    /// Reads an experiment and what it found.
    fn read(name: &str, results: &Results, environment: &Environment) -> Result<Self> {
        let dir = misplaced::find(results, name)?;
        let manifest = dir.manifest().into_report()?;
        if manifest.plan.experiment.device.is_some() {
            return Err(miette!(
                help = "run the experiment's file here, then `assay compare A B --across hosts`",
                "{name} measures storage, which has no builds to obtain"
            ));
        }
        if manifest.plan.experiment.hosts.is_some() {
            return Err(miette!(
                help = fleet::OWN_HOSTS,
                "{name} names the machines of its server and clients, which are not this machine"
            ));
        }
        let comparison = compared(&dir, &manifest, results)?;
        let origin = Origin::of(&dir, &manifest, environment);
        Ok(Self { name: name.to_owned(), manifest, origin, comparison })
    }

    /// Returns its experiment without the variants of servers that run elsewhere.
    fn started(&self) -> Experiment {
        let mut experiment = self.manifest.plan.experiment.clone();
        experiment.variants.retain(|variant| variant.dsn.is_none());
        experiment
    }
}

/// Returns the comparison of an experiment's runs.
fn compared(dir: &ExperimentDir, manifest: &Manifest, results: &Results) -> Result<Comparison> {
    let runs = Window::default().runs(dir, manifest)?;
    let measured = MeasuredRuns::of(dir, manifest, &runs)?;
    let analyzed = analyze(measured, &manifest.plan.experiment.base, results)?;
    Ok(analyzed.comparison)
}

/// A variant's name with its library or server.
type Found = Vec<(String, Library)>;

/// Obtains the builds; returns the experiment without the variants whose build cannot be had.
///
/// # Errors
/// When that is the base, or nothing is left to compare with it.
fn obtained(
    manifest: &Manifest,
    environment: &Environment,
    ui: &Ui,
) -> Result<(Experiment, Found)> {
    let spec = &manifest.plan.experiment;
    let (mut variants, mut libraries): (Vec<Variant>, Found) = (Vec::new(), Vec::new());
    for variant in &spec.variants {
        let found = match &variant.dsn {
            Some(_) => Err(miette!("the variant is a running server of the original host")),
            // An engine of the user's own is known only where it was added.
            None => requested_build::known(&variant.build.engine, environment)
                .and_then(|_| requested_build::library(&variant.build, environment, ui)),
        };
        let library = match found {
            Ok(library) => library,
            Err(error) if variant.name == spec.base => {
                let message = format!("the build of the base variant cannot be obtained: {error}");
                return Err(of_variant(&variant.name, &message));
            }
            Err(error) => {
                let name = &variant.name;
                ui.status(format!("{name}: left out, as the build cannot be obtained: {error}"));
                continue;
            }
        };
        let before = manifest.builds.get(&variant.name);
        let builds = same_build(before, library.as_ref());
        ui.status(format_args!("{}: {}, {builds}", variant.name, variant.build));
        libraries.extend(library.map(|library| (variant.name.clone(), library)));
        variants.push(variant.clone());
    }
    if variants.len() < 2 && spec.variants.len() > 1 {
        return Err(miette!(
            "only the build of the base variant can be obtained: there is nothing to compare"
        ));
    }
    Ok((Experiment { variants, ..spec.clone() }, libraries))
}

/// Describes whether a build is the build of the original.
fn same_build(before: Option<&Identity>, here: Option<&Library>) -> String {
    let hash = before.and_then(|build| build.sha256.as_deref());
    match (hash, here) {
        (Some(there), Some(here)) if there == here.sha256 => {
            format!("the same build (sha256 {})", short(there))
        }
        (None, None) if before.is_some_and(Identity::is_linked) => {
            format!("linked into Assay {}", env!("CARGO_PKG_VERSION"))
        }
        _ => {
            let there = hash.map_or_else(|| "of unknown hash".to_owned(), sha256);
            let here = here.map_or_else(
                || format!("linked into Assay {}", env!("CARGO_PKG_VERSION")),
                |here| sha256(&here.sha256),
            );
            let other = if hash.is_some() { "ANOTHER build of that name" } else { "maybe another" };
            format!("{other}: {there} there, {here} here")
        }
    }
}

fn sha256(hash: &str) -> String {
    format!("sha256 {}", short(hash))
}

fn short(sha256: &str) -> &str {
    sha256.get(..12).unwrap_or(sha256)
}

fn of_variant(variant: &str, message: &str) -> Report {
    miette!("variant {variant}: {message}")
}

/// Prints what differs between the hosts, and each finding there and here.
fn print_findings(
    original: &Original,
    manifest: &Manifest,
    dir: &ExperimentDir,
    ui: &Ui,
) -> Result<ExitCode> {
    let here = compared(dir, manifest, &Results::of(dir))?;
    let margin = original.manifest.plan.experiment.margin;
    let findings = rerun_findings(&original.comparison, &here, margin);
    let of = |outcome: RerunOutcome| findings.iter().filter(|one| one.outcome == outcome).count();
    let counts = RerunOutcome::ALL.map(|outcome| (of(outcome), outcome.name()));
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts.map(|(count, name)| format!("{count} {name}")).collect();
    if findings.is_empty() {
        ui.print(format_args!("{} rerun here: it has no ratio to compare.\n", original.name));
    } else {
        ui.print(format_args!("{} rerun here: {}.\n", original.name, counts.join(", ")));
        aligned(&rows(&findings)).iter().for_each(|line| ui.print(line));
    }
    for line in differences(&original.manifest.host, &manifest.host) {
        ui.print(line);
    }
    let version = (&original.manifest.assay_version, &manifest.assay_version);
    if version.0 != version.1 {
        ui.print(format_args!("Assay    {} there, {} here", version.0, version.1));
    }
    ui.print(format_args!("\nNext     {}", next(original, manifest)));
    ui.print(format_args!("Stored in {}", dir.path().display()));
    let has_failed = of(RerunOutcome::NotReproduced) > 0;
    Ok(if has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the command with every figure: of both hosts, where they differ.
///
/// The rerun has the original's name and is newer: identifiers distinguish them.
fn next(original: &Original, manifest: &Manifest) -> ShellCommand {
    let command = ShellCommand::of("assay compare").operands([&manifest.id]);
    if original.manifest.host == manifest.host {
        return command;
    }
    let is_path = Path::new(&original.name).exists();
    let name = if is_path { &original.name } else { &original.manifest.id };
    command.operands([name]).option("--across", "hosts")
}

/// Returns the table of findings.
fn rows(findings: &[RerunFinding]) -> Vec<[String; 5]> {
    let head = ["finding", "ratio there", "ratio here", "outcome", ""].map(str::to_owned);
    let row = |one: &RerunFinding| {
        let place = format!("{}, {}: {}", one.step, one.clients, one.variant);
        let size = match one.is_size_alike {
            Some(false) if one.outcome == RerunOutcome::Reproduced => "of another size",
            Some(_) | None => "",
        };
        let here = one.here.as_ref().map_or_else(|| "NA".to_owned(), ratio);
        let name = match &one.claim {
            Some(claim) => claim.clone(),
            None => format!("{place}, {}", one.metric),
        };
        [name, ratio(&one.there), here, one.outcome.name().to_owned(), size.to_owned()]
    };
    std::iter::once(head).chain(findings.iter().map(row)).collect()
}

fn ratio(effect: &Effect) -> String {
    let limits = effect.interval.as_ref().map(|of| format!(" {}", interval(of)));
    format!("{:.2}{}", effect.ratio, limits.unwrap_or_default())
}

/// Returns the facts in which two hosts differ.
fn differences(there: &Host, here: &Host) -> Vec<String> {
    let known = host_differences(&[there, here]);
    if known.is_empty() {
        return vec!["\nHosts    no recorded fact differs".to_owned()];
    }
    let value = |value: &Option<String>| value.clone().unwrap_or_else(|| "unknown".to_owned());
    let row = |one: &analysis::HostDifference| {
        let [there, here] = [0, 1].map(|at| one.values.get(at).map_or_else(String::new, value));
        [format!("  {}", one.fact), there, here]
    };
    let head = ["Hosts", "there", "here"].map(str::to_owned);
    let rows: Vec<_> = std::iter::once(head).chain(known.iter().map(row)).collect();
    std::iter::once(String::new()).chain(aligned(&rows)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_build_without_a_hash_is_linked_only_where_it_is_recorded_as_such() {
        let library = Library {
            path: PathBuf::new(),
            sha256: "c0ffee".to_owned(),
            origin: String::new(),
            facts: BTreeMap::new(),
            places: Vec::new(),
        };
        let build = |origin: &str, sha256: Option<&str>| Identity {
            origin: origin.to_owned(),
            sha256: sha256.map(str::to_owned),
            ..Identity::default()
        };
        let (linked, server, hashed) =
            (build("linked", None), build("a server", None), build("/lib/a.so", Some("c0ffee")));
        let text = |before, here| same_build(before, here);
        assert!(text(Some(&linked), None).starts_with("linked into Assay "));
        assert_eq!(text(Some(&hashed), Some(&library)), "the same build (sha256 c0ffee)");
        let unknown = "maybe another: of unknown hash there, ";
        for before in [None, Some(&server), Some(&linked)] {
            assert_eq!(text(before, Some(&library)), format!("{unknown}sha256 c0ffee here"));
        }
        assert!(text(None, None).starts_with(unknown), "{}", text(None, None));
        let other = text(Some(&hashed), None);
        assert!(other.starts_with("ANOTHER build of that name: sha256 c0ffee there"), "{other}");
    }
}
