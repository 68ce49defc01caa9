//! Explains the difference of two variants in one step.

use model::{CpuCount, Experiment, Metric, RunRecord, StepClients, StepRecord, count, metric};

use super::account::{Account, Part, account, subject};
use super::bound::{bound, time_on_cpu};
use super::declared::{Declared, declared};
use super::explanation::{Explanation, Rung};
use super::functions::{StepProfiles, functions};
use super::identity::{Identity, Pair, identity};
use super::moved::{Explained, Moved, moved, settle};
use super::network::network;
use super::refusal::{Case, refusals};
use crate::comparison::{CellComparison, Comparison, StepComparison};
use crate::metrics::clients;
use crate::profile::Place;

/// Smallest share of the change that the storage wait is divided for.
const FACTORED_SHARE: f64 = 0.1;

/// Writes per read above which a storage wait is not for reads alone.
const WRITES_PER_READ: f64 = 0.1;

/// A metric's name in words, the metric, its first factor, and the names of both factors.
type Product = (&'static str, Metric, Metric, [&'static str; 2]);

/// Metrics that are products of two factors.
#[rustfmt::skip]
const PRODUCTS: [Product; 5] = [
    ("KiB read from the device/op", metric::DEVICE_READ_KIB_PER_OP, metric::DEVICE_READS_PER_OP,
        ["device reads/op", "KiB per read"]),
    ("KiB written to the device/op", metric::DEVICE_WRITE_KIB_PER_OP, metric::DEVICE_WRITES_PER_OP,
        ["device writes/op", "KiB per write"]),
    ("KiB the server read/op", metric::SERVER_READ_KIB_PER_OP, metric::SERVER_READS_PER_OP,
        ["server reads/op", "KiB per read"]),
    ("KiB the server wrote/op", metric::SERVER_WRITE_KIB_PER_OP, metric::SERVER_WRITES_PER_OP,
        ["server writes/op", "KiB per write"]),
    ("bytes written to the device per byte put", metric::WRITE_AMPLIFICATION_DEVICE,
        metric::WRITE_AMPLIFICATION_WITH_WAL,
        ["bytes the engine wrote per byte put", "device bytes per engine byte"]),
];

/// Input of an explanation.
#[derive(Debug, Clone, Copy)]
pub struct Question<'a> {
    /// The experiment.
    pub experiment: &'a Experiment,
    /// Its runs.
    pub runs: &'a [RunRecord],
    /// The comparison; its base is the explanation's.
    pub comparison: &'a Comparison,
    /// The step, one of the comparison's.
    pub step: &'a StepComparison,
    /// The variant that differs from the base.
    pub variant: &'a str,
    /// The metric to explain; that of the step's verdict when absent.
    pub metric: Option<Metric>,
    /// CPUs the runs could use.
    pub cpus: CpuCount,
    /// Blocking findings, each in a sentence: the comparison is bogus.
    pub blocking: &'a [String],
    /// The CPU profiles of the step.
    pub profiles: StepProfiles<'a>,
}

/// Explains the difference between the base and a variant.
///
/// `None` when either has no valid run of the step.
pub fn explain(question: &Question<'_>) -> Option<Explanation> {
    let (comparison, step) = (question.comparison, question.step);
    let (base, variant) = (comparison.base.as_str(), question.variant);
    let sides = [runs_of(question, base), runs_of(question, variant)];
    let first = sides[0].first()?.1;
    sides[1].first()?;
    let own = step.own_metrics().next().and_then(metric::find).copied();
    let metric = question.metric.or(own).unwrap_or(metric::THROUGHPUT_OPS_PER_S);
    let subject = subject(first, metric.name);
    let effect = step.cell(variant).and_then(|cell| cell.metric(metric)?.versus_base);
    let account = account(subject, &sides[0], &sides[1]);
    let refusals = refusals(&Case {
        base: &sides[0],
        variant: &sides[1],
        metric,
        subject,
        effect: effect.as_ref(),
        account: account.as_ref(),
        missed: missed(step, [base, variant]).as_deref(),
        blocking: question.blocking,
    });
    let names = Pair { base, variant };
    let moved = moved(step, names, Explained { metric, effect: effect.as_ref() });
    let of = |name: &str| question.experiment.variant(name);
    let first_runs = Pair { base: sides[0].first()?.0, variant: sides[1].first()?.0 };
    let declared = of(base).zip(of(variant)).map_or_else(Declared::default, |(base, variant)| {
        declared(Pair { base, variant }, first_runs)
    });
    let functions = functions(question.profiles, subject, &sides).transpose();
    let (functions, no_functions) = functions.map_or_else(|why| (None, Some(why)), |it| (it, None));
    let on_cpu = time_on_cpu(subject, account.as_ref());
    let is_caused = declared.intervention().is_some() && !declared.is_control;
    Some(Explanation {
        step: step.name.clone(),
        index: step.index,
        unit: first.step.unit,
        clients: StepClients { number: clients(first), ..step.clients },
        base: base.to_owned(),
        variant: variant.to_owned(),
        runs: (count(sides[0].len()), count(sides[1].len())),
        metric: metric.name,
        subject,
        effect,
        identities: identities(account.as_ref(), metric, &moved, step, names),
        account,
        functions,
        no_functions,
        moved,
        settle: settle(step, base, variant),
        network: network(&sides[0], &sides[1]),
        bounds: vec![
            bound(base, &sides[0], question.experiment.placement.cpus(question.cpus), on_cpu[0]),
            bound(variant, &sides[1], question.experiment.placement.cpus(question.cpus), on_cpu[1]),
        ],
        declared,
        rung: match refusals.is_empty() {
            false => Rung::Nothing,
            true if is_caused => Rung::Cause,
            true => Rung::Association,
        },
        refusals,
    })
}

/// Returns the variant whose background writers missed their rate, in words.
fn missed(step: &StepComparison, sides: [&str; 2]) -> Option<String> {
    let of_sides = |cell: &&CellComparison| sides.contains(&cell.variant.as_str());
    let late = step.cells.iter().filter(of_sides).find(|cell| cell.has_missed_rate())?;
    let share = late.metric(metric::WRITER_RATE_SHARE)?.spread.median;
    Some(format!(
        "the background writers of {} reached {:.0} % of their rate in the median run",
        late.variant,
        100.0 * share
    ))
}

/// Returns the valid runs of a variant that did the step, with the step.
fn runs_of<'a>(question: &Question<'a>, variant: &str) -> Vec<(&'a RunRecord, &'a StepRecord)> {
    let StepComparison { index, name, clients, .. } = question.step;
    let place = Place { variant, clients: clients.level, step: *index };
    let is_done =
        |(_, step): &(&RunRecord, &StepRecord)| step.step.name == *name && !step.clients.is_empty();
    place.steps(question.runs).filter(is_done).collect()
}

/// Divides what changed among factors, where both are known and it matters.
fn identities(
    account: Option<&Account>,
    explained: Metric,
    moved: &[Moved],
    step: &StepComparison,
    names: Pair<&str>,
) -> Vec<Identity> {
    let means = |metric: Metric| {
        let of = |wanted: &str| Some(step.cell(wanted)?.metric(metric)?.spread.mean);
        Some(Pair { base: of(names.base)?, variant: of(names.variant)? })
    };
    let storage = || {
        let account = account?;
        let wait = &account.component(Part::Storage)?.us;
        account.share(wait).filter(|share| share.abs() >= FACTORED_SHARE)?;
        let (reads, writes) =
            (means(metric::DEVICE_READS_PER_OP)?, means(metric::DEVICE_WRITES_PER_OP)?);
        let is_reading = |reads: f64, writes: f64| reads > 0.0 && writes <= WRITES_PER_READ * reads;
        if !is_reading(reads.base, writes.base) || !is_reading(reads.variant, writes.variant) {
            return None;
        }
        let whole = Pair { base: wait.base, variant: wait.variant };
        let factors = ["device reads/op", "µs waited per read"];
        identity("waiting for storage, µs/op", factors, whole, reads)
    };
    let product = |&(name, whole, first, factors): &Product| {
        let is_moved = moved.iter().any(|one| one.metric == whole.name);
        if is_moved || explained == whole {
            identity(name, factors, means(whole)?, means(first)?)
        } else {
            None
        }
    };
    let [read, written, server_read, server_written, amplified] = PRODUCTS.each_ref().map(product);
    // The device's figures include the server's and other processes'.
    let read = if server_read.is_some() { None } else { read };
    let written = if server_written.is_some() { None } else { written };
    let all = [storage(), read, written, server_read, server_written, amplified];
    all.into_iter().flatten().collect()
}
