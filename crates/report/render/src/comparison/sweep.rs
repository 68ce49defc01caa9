//! Sweeps over numbers of clients: throughput, Universal Scalability Law, rule of thumb.

use std::collections::BTreeSet;

use analysis::{
    CellComparison, Comparison, Fit, Level, NoFit, Origin, Peak, Scaling, StepComparison,
};
use model::Unit;

use super::section::Section;
use super::tables::{ratio_cell, spread_cell};
use crate::document::{Table, known};
use crate::figure::{self, digits, figure};
use crate::input::Compared;
use crate::label::{
    Loading, THROUGHPUT, counts_rows, is_sweep, loading, measured_steps, metric_label,
    variant_label,
};
use crate::sentence::{Claim, levels};
use crate::validity::rate;
use model::units::{clients, many};

/// A gain beyond this share contradicts the rule of thumb.
///
/// Source: [Callaghan 2022-11-29], whose relative tables flag < 0.95 and > 1.05.
const GAIN: f64 = 0.05;
/// p-value of lack of fit below which the law does not describe the runs (our choice).
const MISFIT: f64 = 0.01;

/// Returns a part for each step of a sweep, and for each search for a number of clients.
pub(super) fn parts<'a>(compared: &Compared<'a>) -> Vec<Section> {
    let comparison = compared.comparison;
    let mut parts = Vec::new();
    if is_sweep(comparison) {
        let with_scalings = |steps: Vec<&'a StepComparison>| {
            let own =
                |one: &&Scaling| one.origin == Origin::Factor && one.step_index == steps[0].index;
            let scalings: Vec<&Scaling> = in_order(compared).into_iter().filter(own).collect();
            (steps, scalings)
        };
        let mut swept: Vec<_> = by_step(comparison).into_iter().map(with_scalings).collect();
        // What the question is about comes first, then what varies with the clients.
        let has_headline = |steps: &[&StepComparison]| comparison.has_headline(steps[0]);
        swept.sort_by_key(|(steps, scalings)| (!has_headline(steps), scalings.is_empty()));
        for (steps, scalings) in swept {
            let (named, rates): (Vec<Claim>, Vec<Claim>) =
                claims(comparison, steps[0]).into_iter().partition(|it| it.metric != THROUGHPUT);
            parts.extend(named.iter().map(|claim| Section {
                title: format!(
                    "{} by clients: {}, and its ratio [95 % interval]",
                    steps[0].name, claim.metric
                ),
                sentences: levels(compared, &steps, claim),
                tables: vec![table(compared, &steps, &[], claim.metric)],
                ..Section::default()
            }));
            let laws = scalings.iter().map(|one| summary(one));
            let laws = laws.filter(|_| comparison.has_headline(steps[0]));
            let verdicts = rates.iter().flat_map(|claim| levels(compared, &steps, claim));
            parts.push(Section {
                title: title(&steps, !scalings.is_empty()),
                sentences: laws.chain(verdicts).collect(),
                tables: vec![table(compared, &steps, &scalings, THROUGHPUT)],
                ..Section::default()
            });
        }
    }
    let searches = in_order(compared).into_iter().filter(|one| one.origin == Origin::Search);
    parts.extend(searches.map(searched));
    parts
}

/// Returns the claims on a step of a sweep: on throughput, unless metrics are named.
fn claims(comparison: &Comparison, step: &StepComparison) -> Vec<Claim> {
    match (comparison.has_headline(step), step.answers.is_empty()) {
        (false, _) => Vec::new(),
        (true, false) => Claim::all_of(step),
        (true, true) => vec![Claim::on(step, THROUGHPUT)],
    }
}

/// Returns the scalings in the order of the variants.
fn in_order<'a>(compared: &'a Compared<'_>) -> Vec<&'a Scaling> {
    let variants = &compared.comparison.variants;
    let place = |one: &&Scaling| variants.iter().position(|it| it.name == one.variant);
    let mut scalings: Vec<&Scaling> = compared.scalings.iter().collect();
    scalings.sort_by_key(place);
    scalings
}

fn title(steps: &[&StepComparison], is_swept: bool) -> String {
    let name = &steps[0].name;
    let counted = if counts_rows(steps[0]) { "rows" } else { "operations" };
    if is_swept {
        format!(
            "{name} by clients: {counted} per second, efficiency X(N) / (N X(1)), CPUs in use, ratio \
             [95 % interval]"
        )
    } else {
        format!("{name}: {counted} per second; its clients are the same at every level")
    }
}

/// Returns the levels of each closed-loop step, in the order of steps.
fn by_step(comparison: &Comparison) -> Vec<Vec<&StepComparison>> {
    let steps = measured_steps(comparison);
    let closed: Vec<&StepComparison> =
        steps.into_iter().filter(|step| loading(step) == Loading::Closed).collect();
    let indices: BTreeSet<u32> = closed.iter().map(|step| step.index).collect();
    let levels = |index: u32| closed.iter().copied().filter(|step| step.index == index).collect();
    indices.into_iter().map(levels).collect()
}

/// Returns a metric of a step: a row per level, a column per variant, with its scaling if any.
fn table(
    compared: &Compared<'_>,
    steps: &[&StepComparison],
    scalings: &[&Scaling],
    metric: &str,
) -> Table {
    let comparison = compared.comparison;
    let unit = metric_label(steps[0], metric);
    let levels = steps.iter().map(|step| step.clients.level.to_string());
    let mut table = Table::named(format!("{}\nclients", steps[0].name), levels);
    for (index, variant) in comparison.variants.iter().enumerate() {
        let cells = || steps.iter().map(|step| &step.cells[index]);
        let heading = format!("{}\n{unit}", variant_label(comparison, &variant.name));
        table.figures(heading, cells().map(|cell| spread_cell(metric, cell)));
        if !scalings.is_empty() {
            let shares = steps.iter().map(|step| efficiency(steps, step, &step.cells[index]));
            table.figures("\nefficiency", shares);
            let busy =
                |cell: &CellComparison| Some(digits(cell.metric("busy_threads")?.spread.mean));
            table.figures("\nCPUs", cells().map(|cell| known(busy(cell))));
        }
        if variant.name != comparison.base {
            let ratios = steps
                .iter()
                .map(|step| ratio_cell(compared, metric, &step.cells[index], &step.cells));
            table.figures("\nvs base", ratios);
        }
    }
    table
}

/// Returns throughput as a share of linear scaling from one client.
fn efficiency(steps: &[&StepComparison], step: &StepComparison, cell: &CellComparison) -> String {
    let mean = |cell: &CellComparison| cell.metric(THROUGHPUT).map(|it| it.spread.mean);
    let single = steps.iter().find(|one| one.clients.level == 1).and_then(|one| {
        one.cells.iter().find(|single| single.variant == cell.variant).and_then(mean)
    });
    let share = mean(cell).zip(single).filter(|(_, single)| *single > 0.0);
    known(
        share.map(|(all, single)| {
            figure(Unit::Share, all / (f64::from(step.clients.level) * single))
        }),
    )
}

/// Returns the part of a search for a number of clients.
fn searched(scaling: &Scaling) -> Section {
    let levels = || scaling.levels.iter();
    let single = levels().find(|level| level.clients == 1);
    let ops = |value: f64| figure(Unit::OpsPerSecond, value);
    let share = |level: &Level| {
        let all = f64::from(level.clients) * single?.throughput.mean;
        Some(figure(Unit::Share, level.throughput.mean / all))
    };
    let good = |level: &Level| level.goodput.map(|good| ops(good.mean));
    let clients = levels().map(|level| level.clients.to_string());
    let mut table = Table::named(format!("{}\nclients", scaling.step), clients);
    let means = levels().map(|level| ops(level.throughput.mean));
    table.figures(format!("{}\nops/s", scaling.variant), means);
    table.figures("\ngoodput/s", levels().map(|level| known(good(level))));
    table.figures("\nefficiency", levels().map(|level| known(share(level))));
    Section {
        title: format!("{} of {}: clients searched", scaling.step, scaling.variant),
        sentences: vec![summary(scaling)],
        tables: vec![table],
        ..Section::default()
    }
}

/// Returns the best level, the fit and the rule of thumb of one variant, in words.
fn summary(scaling: &Scaling) -> String {
    let mut parts = vec![best_level(scaling), fit_text(&scaling.throughput_fit)];
    parts.extend(rule_of_thumb(scaling));
    format!("{} of {}: {}.", scaling.step, scaling.variant, parts.join(". "))
}

/// Returns the level of the highest throughput.
fn best_level(scaling: &Scaling) -> String {
    let Some(best) = highest(&scaling.levels.iter().collect::<Vec<_>>()) else {
        return "no level was measured".to_owned();
    };
    let single = scaling.levels.iter().find(|level| level.clients == 1 && best.clients > 1);
    let times = single.filter(|single| single.throughput.mean > 0.0).map(|single| {
        let times = best.throughput.mean / single.throughput.mean;
        format!(", {}x the throughput with one client", figure::digits(times))
    });
    format!(
        "throughput was highest with {}: {}{}",
        clients(best.clients),
        rate(best.throughput.mean),
        times.unwrap_or_default()
    )
}

/// Returns the level of the highest mean throughput.
fn highest<'a>(levels: &[&'a Level]) -> Option<&'a Level> {
    let by = |a: &&&Level, b: &&&Level| a.throughput.mean.total_cmp(&b.throughput.mean);
    levels.iter().max_by(by).copied()
}

/// Returns a fit in words.
fn fit_text(fit: &Result<Fit, NoFit>) -> String {
    let fit = match fit {
        Ok(fit) => fit,
        Err(NoFit::TooFewLevels { levels, needed }) => {
            return format!("USL: not fitted, {levels} levels are too few: a fit needs {needed}");
        }
        Err(NoFit::NoSingleClient) => return "USL: not fitted, no level has one client".into(),
    };
    let peak = match fit.peak {
        Peak::At(peak) => format!("peak at {peak:.1} clients"),
        Peak::NotMeasured => "no peak within the measured range".to_owned(),
    };
    let (alpha, beta) = (places(fit.alpha, 3), places(fit.beta, 4));
    let mut text = format!(
        "USL: contention {:.alpha$}, coherency {:.beta$} ({}significant): {peak}",
        fit.alpha,
        fit.beta,
        if fit.has_coherency() { "" } else { "not " }
    );
    if fit.lack_of_fit.is_some_and(|chance| chance < MISFIT) {
        text.push_str(
            "; the levels differ from the curve by more than repetitions differ from \
                       each other",
        );
    }
    text
}

/// Returns the decimal places that show a small share, `least` or more.
fn places(value: f64, least: usize) -> usize {
    let mut places = least;
    let mut scaled = value * 10_f64.powi(i32::try_from(least).unwrap_or(4));
    // Eight places: a coherency of 1e-8 has its peak at 10,000 clients.
    while value > 0.0 && scaled < 1.0 && places < 8 {
        scaled *= 10.0;
        places += 1;
    }
    places
}

/// Returns whether throughput stopped growing where busy threads outnumber the CPUs.
///
/// Source: [Callaghan 2022-07-20]: busy threads should not exceed the cores.
fn rule_of_thumb(scaling: &Scaling) -> Option<String> {
    let cpus = scaling.cpus?;
    if scaling.levels.iter().all(|level| level.busy.is_none()) {
        return None;
    }
    let is_over = |level: &&Level| level.busy.and_then(|busy| busy.is_over_cpus) == Some(true);
    let (over, within): (Vec<&Level>, Vec<&Level>) = scaling.levels.iter().partition(is_over);
    let limit = format!("{} of {}", many(cpus, "busy thread"), many(cpus, "CPU"));
    let Some((most, before)) = highest(&over).zip(highest(&within)) else {
        return Some(format!(
            "Rule of thumb (busy threads <= CPUs) not tested: all levels are on one side of {limit}"
        ));
    };
    let gain = most.throughput.mean / before.throughput.mean - 1.0;
    let (one, other) = (&most.throughput, &before.throughput);
    let is_apart = one.n > 1 && other.n > 1 && !one.overlaps(other);
    let verdict = match (gain > GAIN, is_apart) {
        (false, _) => "the rule of thumb (busy threads <= CPUs) held in these runs",
        (true, true) => "the rule of thumb (busy threads <= CPUs) did not hold in these runs",
        (true, false) => {
            "that may be noise, and these runs do not test the rule of thumb (busy threads <= CPUs)"
        }
    };
    Some(format!("Beyond {limit} throughput {}: {verdict}", gained(gain, most)))
}

/// Returns a gain in words.
fn gained(gain: f64, most: &Level) -> String {
    let percent = 100.0 * gain.abs();
    let (word, places) = (if gain < 0.0 { "lost" } else { "gained" }, usize::from(percent < 9.95));
    format!("{word} {percent:.places$} % ({})", clients(most.clients))
}

#[cfg(test)]
mod tests {
    use analysis::Busy;
    use stats::Spread;

    use super::*;

    /// Levels of two runs each on two CPUs, without background threads.
    fn scaling(levels: &[(u32, [f64; 2])]) -> Scaling {
        let level = |(clients, throughputs): &(u32, [f64; 2])| Level {
            clients: *clients,
            throughputs: throughputs.to_vec(),
            throughput: Spread::of(throughputs).unwrap(),
            goodput: None,
            busy: Some(Busy {
                client_threads: *clients,
                background_threads: Some(0),
                busy_threads: None,
                run_queue_share: None,
                is_over_cpus: Some(*clients > 2),
                is_waiting: None,
            }),
            is_beyond_cpus: Some(*clients > 2),
        };
        Scaling {
            variant: "lmdb".to_owned(),
            step_index: 2,
            step: "readrandom".to_owned(),
            origin: Origin::Factor,
            limit: None,
            cpus: Some(model::CpuCount::of(2)),
            levels: levels.iter().map(level).collect(),
            throughput_fit: Err(NoFit::TooFewLevels { levels: 3, needed: 6 }),
        }
    }

    const FEW: [(u32, [f64; 2]); 2] = [(1, [100.0, 101.0]), (2, [199.0, 201.0])];

    fn with(beyond: [f64; 2]) -> String {
        let mut levels = FEW.to_vec();
        levels.push((4, beyond));
        rule_of_thumb(&scaling(&levels)).unwrap()
    }

    #[test]
    fn the_rule_of_thumb_holds_where_more_threads_gain_little() {
        let text = with([205.0, 207.0]);
        assert!(text.contains("gained 3.0 % (4 clients): the rule of thumb"), "{text}");
        assert!(text.ends_with("held in these runs"), "{text}");
        assert!(with([150.0, 151.0]).contains("lost 25 % (4 clients)"));
    }

    #[test]
    fn gain_within_noise_refutes_nothing() {
        assert!(with([300.0, 310.0]).contains("did not hold in these runs"));
        assert!(with([190.0, 260.0]).contains("may be noise"));
    }

    #[test]
    fn unmeasured_levels_test_no_rule() {
        let text = rule_of_thumb(&scaling(&FEW)).unwrap();
        assert!(text.contains("all levels are on one side of 2 busy threads of 2 CPUs"), "{text}");
        let mut unknown = scaling(&[(2, [200.0, 200.0]), (4, [250.0, 250.0])]);
        for level in &mut unknown.levels {
            level.busy = None;
        }
        assert_eq!(rule_of_thumb(&unknown), None);
    }

    #[test]
    fn unfitted_law_states_its_reason() {
        let text = summary(&scaling(&FEW));
        assert!(text.starts_with("readrandom of lmdb: throughput was highest with 2 clients"));
        assert!(text.contains("USL: not fitted, 3 levels are too few: a fit needs 6"), "{text}");
    }

    #[test]
    fn small_shares_are_not_written_as_zero() {
        assert_eq!((places(0.0, 4), places(0.024, 4)), (4, 4));
        assert_eq!((places(0.000_04, 4), places(0.000_000_1, 4)), (5, 7));
    }
}
