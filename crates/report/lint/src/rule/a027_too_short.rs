//! A027: steps that are too short for their evidence.

use model::record::Severity;
use model::validity::Outcome;
use model::{Load, Nanos, Step, StepRecord, StopRule, TimeProfile, TrendClass, percent};

use super::{Checks, Observation, Origin, Rule};
use crate::context::{PlanContext, RunContext};
use crate::facts::requests;

pub(crate) static RULE: Rule = Rule {
    code: "A027",
    name: "too short",
    trigger: "Warning: a step is shorter than one period of its changing rate. Warning: the steady \
              part of a step that ends by time is worth less than 30 independent seconds, or \
              contains fewer than 3 cycles of the throughput. Note: the steady part of a step that \
              ends by count is worth less than 30 independent seconds, or contains fewer than 3 of \
              the step's cycles. Warning: a step has a latency limit, and fewer than 100 \
              operations are beyond the percentile of this limit. Note: a step of a plan is \
              measured for less than 60 s. Note: some probes of a search had no clear outcome. \
              Blocking: a step that ends by time has fewer than 12 operations",
    why: "A few correlated seconds give a poor estimate of the mean and a worse estimate of the \
          tail latency. A rate that was never offered was not tested.",
    remedy: "measure for longer (--duration 60s), or shorten the period of the changing rate",
    source: "our choice: 30 independent seconds, which estimate the mean within a fifth of a \
             standard deviation",
    ..Rule::of(Checks {
        origin: Origin::ChosenSize,
        plan: Some(plan),
        steps: &[few, short, tail, undecided],
        ..Checks::NONE
    })
};

/// Operations without which a span has no rate. Our choice: a dozen give it within a third.
const OPERATIONS_MIN: f64 = 12.0;
/// Window below which it is reported. Our choice.
const WINDOW: Nanos = Nanos::from_secs(60);
/// Independent seconds that are needed. Our choice.
const INDEPENDENT: f64 = 30.0;
/// Cycles that are needed. Our choice.
const CYCLES: f64 = 3.0;

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let steps = &context.experiment.steps;
    let mut evidence: Vec<Observation> = steps.iter().filter_map(unfinished_rate).collect();
    if context.is_before_runs() {
        evidence.extend(steps.iter().filter_map(short_window));
    }
    evidence
}

fn unfinished_rate(step: &Step) -> Option<Observation> {
    let (Load::Open(open), StopRule::Duration(span)) = (&step.load, step.stop) else { return None };
    let needed = open.rate.changes_for();
    (span < needed).then(|| {
        let evidence =
            format!("the step measures {span}, but a period of its changing rate is {needed}");
        Observation::new(evidence).step(&step.name).ranked("rate", 0.0)
    })
}

/// Reports a window that is short for any engine; a search makes its own.
fn short_window(step: &Step) -> Option<Observation> {
    let StopRule::Duration(span) = step.stop else { return None };
    let is_plain = matches!(step.load, Load::Closed | Load::Pipelined(_) | Load::Open(_));
    (is_plain && span < WINDOW).then(|| {
        let evidence = Observation::new(format!(
            "the step measures {span}; a step below {WINDOW} is seldom steady"
        ));
        evidence.step(&step.name).severity(Severity::Note).ranked("window", -span.as_secs_f64())
    })
}

/// Reports a span with next to no operations; a search that found nothing is A041's.
fn few(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let is_timed = matches!(step.step.stop, StopRule::Duration(_)) && step.search.is_none();
    let done = requests(step).filter(|done| is_timed && *done < OPERATIONS_MIN)?;
    let evidence = format!("{done:.0} operations in {} are too few for a rate", step.duration_ns);
    Some(Observation::new(evidence).severity(Severity::Blocking).ranked("few", -done))
}

/// Reports a steady part that is worth too little.
fn short(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let span = step.duration_ns;
    let time_profile = step.time_profile.as_ref();
    let worth =
        time_profile.map_or(span.as_secs_f64(), |time_profile| time_profile.effective_seconds);
    let is_steady = time_profile.is_some_and(|time_profile| time_profile.class.is_steady());
    let is_too_short =
        time_profile.is_none_or(|time_profile| time_profile.class == TrendClass::TooShort);
    let evidence = if is_too_short && worth < INDEPENDENT {
        requests(step)?;
        format!("{span} are too short to find out whether the step is steady")
    } else if is_steady && worth < INDEPENDENT {
        format!("{span} are worth {worth:.0} independent seconds, and {INDEPENDENT:.0} are needed")
    } else if let Some(cycles) = time_profile.and_then(cycles).filter(|cycles| *cycles < CYCLES) {
        format!("{span} cover {cycles:.1} cycles of the throughput, which rises and falls")
    } else {
        return None;
    };
    let severity = match step.step.stop {
        StopRule::Operations(_) => Severity::Note,
        StopRule::Duration(_) => Severity::Warning,
    };
    Some(Observation::new(evidence).severity(severity).ranked("short", -worth))
}

/// Returns how many of its cycles the steady part holds.
fn cycles(time_profile: &TimeProfile) -> Option<f64> {
    time_profile.cycle.map(|cycle| f64::from(time_profile.seconds) / cycle.period_ns.as_secs_f64())
}

/// Reports too few operations for the percentile that a limit is on.
fn tail(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let limit = step.step.limit.filter(|_| step.search.is_none())?;
    let (done, needed) = (requests(step)?, limit.operations_needed());
    (done < needed as f64).then(|| {
        let what = limit.percentile();
        let evidence =
            format!("{done:.0} operations are too few for a {what}, which needs {needed}");
        Observation::new(evidence).ranked("tail", -done)
    })
}

/// Reports probes without a clear outcome; a search that found nothing is A041's.
fn undecided(_: &RunContext<'_>, step: &StepRecord) -> Option<Observation> {
    let search = step.search.as_ref().filter(|search| search.found.is_some())?;
    let count = |outcome| search.probes.iter().filter(|probe| probe.outcome == outcome).count();
    let (undecided, invalid) = (count(Outcome::Undecided), count(Outcome::Invalid));
    let were = |count| if count == 1 { "was" } else { "were" };
    let mut parts = Vec::new();
    if undecided > 0 {
        parts.push(format!("{undecided} {} undecided and counted as failed", were(undecided)));
    }
    if invalid > 0 {
        parts.push(format!("{invalid} {} invalid", were(invalid)));
    }
    let share = (undecided + invalid) as f64 / search.probes.len().max(1) as f64;
    (!parts.is_empty()).then(|| {
        let evidence = format!(
            "of {} probes {}: {} had no clear outcome",
            search.probes.len(),
            parts.join(", "),
            percent(share)
        );
        let remedy = "the result may be too low: use longer probes on a quiet host";
        let evidence = Observation::new(evidence).severity(Severity::Note);
        evidence.remedy(remedy).ranked("probes", share)
    })
}

#[cfg(test)]
mod tests {
    use model::time_profile::Cycle;
    use model::{Limit, OpKind};

    use super::*;
    use crate::testing::{experiment, in_plan, search, summary, time_profile, when};

    #[test]
    fn short_windows_are_a_note_of_the_plan() {
        let mut spec = experiment(&["a"]);
        assert_eq!(in_plan(&RULE, &spec), []);
        spec.steps[0].stop = StopRule::Duration(Nanos::from_secs(2));
        let evidence = "readrandom: the step measures 2.00 s; a step below 1m00s is seldom steady";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Note, evidence.to_owned())]);
    }

    #[test]
    fn a_steady_part_must_be_worth_thirty_seconds_and_three_cycles() {
        let with = |effective_seconds, period_s| {
            when(&RULE, |step| {
                let period_ns = Nanos::from_secs(period_s);
                let cycle = Some(Cycle { period_ns, variance_share: 0.5 });
                step.time_profile =
                    Some(model::TimeProfile { effective_seconds, cycle, ..time_profile() });
            })
        };
        assert_eq!(with(30.0, 10), []);
        let evidence = "readrandom of b: 1m00s are worth 12 independent seconds, and 30 are needed \
                        (3 runs)";
        assert_eq!(with(12.4, 10), [(Severity::Warning, evidence.to_owned())]);
        assert!(with(40.0, 25)[0].1.contains("1m00s cover 2.4 cycles of the throughput"));
    }

    #[test]
    fn a_step_without_a_profile_is_classified_by_its_length() {
        let with = |ms| when(&RULE, |step| step.duration_ns = Nanos::from_millis(ms));
        assert_eq!(with(60_000), []);
        let evidence = "readrandom of b: 50.0 ms are too short to find out whether the step is \
                        steady (3 runs)";
        assert_eq!(with(50), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn a_span_with_next_to_no_operations_has_no_verdict() {
        let with = |done, stop| {
            when(&RULE, |step| {
                step.step.stop = stop;
                step.clients.insert(OpKind::Get, summary(done));
            })
        };
        let span = StopRule::Duration(Nanos::from_secs(60));
        assert_eq!(with(12, span), []);
        let evidence =
            "readrandom of b: 11 operations in 1m00s are too few for a rate (3 runs)".to_owned();
        assert_eq!(with(11, span), [(Severity::Blocking, evidence)]);
        assert_eq!(with(1, StopRule::Operations(1)), [], "a step that creates an index");
    }

    #[test]
    fn the_percentile_of_a_limit_needs_a_hundred_beyond_it() {
        let with = |done| {
            when(&RULE, |step| {
                step.step.limit = Some(Limit::parse("p99.9 < 2ms").unwrap());
                step.clients.insert(OpKind::Get, summary(done));
            })
        };
        assert_eq!(with(100_000), []);
        let evidence = "readrandom of b: 5000 operations are too few for a p99.9, which needs \
                        100000 (3 runs)";
        assert_eq!(with(5_000), [(Severity::Warning, evidence.to_owned())]);
    }

    #[test]
    fn probes_without_a_clear_outcome_are_a_note() {
        let found = |outcomes: &[Outcome], ops_per_s| {
            when(&RULE, |step| step.search = Some(search(outcomes, ops_per_s)))
        };
        let with = |outcomes: &[Outcome]| found(outcomes, Some(900.0));
        assert_eq!(with(&[Outcome::Passed, Outcome::Failed]), []);
        assert_eq!(found(&[Outcome::Invalid], None), []);
        let unclear = [Outcome::Passed, Outcome::Failed, Outcome::Undecided, Outcome::Invalid];
        let evidence = "readrandom of b: of 4 probes 1 was undecided and counted as failed, 1 was \
                        invalid: 50 % had no clear outcome (3 runs)";
        assert_eq!(with(&unclear), [(Severity::Note, evidence.to_owned())]);
    }
}
