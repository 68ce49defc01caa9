//! Reasons against explaining a difference, and what is needed.

use model::validity::LoadStatus;
use model::{Load, Metric, RunRecord, StepRecord};
use serde::Serialize;
use stats::{Effect, Verdict};

use super::account::Account;
use super::account::Subject;
use crate::metrics::clients;

/// Largest share of the change without an account.
///
/// Our choice: with more than a fifth unexplained, another component may be the cause.
const RESIDUAL_MAX: f64 = 0.2;

/// Reason against an explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The comparison is bogus.
    Bogus,
    /// Too few runs to estimate the noise.
    FewRuns,
    /// The sides had different loads.
    LoadedUnalike,
    /// A side was overloaded.
    Overloaded,
    /// The difference is not established.
    NotEstablished,
    /// The records lack the evidence.
    NoEvidence,
    /// Too much of the change is in no component.
    Residual,
    /// No component's difference is significant.
    NothingApart,
}

/// A reason against an explanation, with evidence and remedy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The rule.
    pub rule: Rule,
    /// The evidence, with figures.
    pub evidence: String,
    /// What an explanation needs.
    pub needed: String,
}

/// Evidence against an explanation, and what an explanation needs.
struct Reason {
    evidence: String,
    needed: String,
}

/// Returns one reason, if the case has it.
type Check = fn(&Case<'_>) -> Option<Reason>;

fn reason(evidence: impl Into<String>, needed: impl Into<String>) -> Option<Reason> {
    Some(Reason { evidence: evidence.into(), needed: needed.into() })
}

/// Runs of one side, with the step in question.
pub(super) type Side<'a> = [(&'a RunRecord, &'a StepRecord)];

/// Input of the rules.
pub(super) struct Case<'a> {
    pub(super) base: &'a Side<'a>,
    pub(super) variant: &'a Side<'a>,
    pub(super) metric: Metric,
    pub(super) subject: Subject,
    pub(super) effect: Option<&'a Effect>,
    pub(super) account: Option<&'a Account>,
    /// The variant whose background writers missed their rate.
    pub(super) missed: Option<&'a str>,
    pub(super) blocking: &'a [String],
}

/// Returns the first reason against an explanation; empty when there is none.
pub(super) fn refusals(case: &Case<'_>) -> Vec<Refusal> {
    // One reason is enough: later rules rely on figures that an earlier one rejects.
    let rules: [(Rule, Check); 7] = [
        (Rule::FewRuns, few_runs),
        (Rule::LoadedUnalike, loaded_unalike),
        (Rule::Overloaded, overloaded),
        (Rule::NotEstablished, not_established),
        (Rule::NoEvidence, no_evidence),
        (Rule::Residual, residual),
        (Rule::NothingApart, nothing_apart),
    ];
    let refusal = |rule, Reason { evidence, needed }| Refusal { rule, evidence, needed };
    if !case.blocking.is_empty() {
        let needed = "fix what blocks the verdict, then run the experiment again";
        let each = case.blocking.iter().filter_map(|evidence| reason(evidence, needed));
        return each.map(|reason| refusal(Rule::Bogus, reason)).collect();
    }
    let first = rules.iter().find_map(|(rule, check)| Some(refusal(*rule, check(case)?)));
    first.into_iter().collect()
}

fn few_runs(case: &Case<'_>) -> Option<Reason> {
    let (base, variant) = (case.base.len(), case.variant.len());
    let needed = "at least two runs of each variant, to estimate the noise between runs";
    match base.min(variant) {
        0 | 1 => reason(format!("there are {base} and {variant} runs to compare"), needed),
        _ => None,
    }
}

/// Rejects different numbers of clients, slower writers, and rates chosen by a search.
fn loaded_unalike(case: &Case<'_>) -> Option<Reason> {
    if let Some(evidence) = case.missed {
        return reason(evidence, "a rate that the background writers sustain");
    }
    let all = || case.base.iter().chain(case.variant).map(|(_, step)| step);
    if all().any(|step| matches!(step.step.load, Load::FindRate(_))) {
        let evidence = "each run was measured at the rate that its search found";
        return reason(evidence, "the same rate for both variants: --rate");
    }
    let least = all().map(|step| clients(step)).min()?;
    let most = all().map(|step| clients(step)).max().filter(|most| *most > least)?;
    let needed = "the same number of clients for both variants: --clients";
    reason(format!("the runs had {least} to {most} clients"), needed)
}

fn overloaded(case: &Case<'_>) -> Option<Reason> {
    let is_late = |status: &LoadStatus| *status != LoadStatus::Sustained;
    let mut all = case.base.iter().chain(case.variant);
    let (run, _) = all.find(|(_, step)| step.load_status.as_ref().is_some_and(is_late))?;
    let run = &run.cell.id;
    let evidence = format!("{run} was overloaded: no steady response time exists at this rate");
    reason(evidence, "a rate that both variants sustain")
}

/// Rejects a difference that may be noise.
///
/// By the verdict on the metric; an open loop by the interval of the mean response time.
fn not_established(case: &Case<'_>) -> Option<Reason> {
    const MORE: &str = "more runs: --repetitions";
    let metric = case.metric;
    if !case.subject.is_of_metric() {
        case.account.filter(|account| !account.total.is_apart())?;
        return reason(
            "the interval of the difference of the mean response times contains 0",
            MORE,
        );
    }
    let Some(effect) = case.effect else {
        return reason(
            format!(
                "{metric} has no ratio: a variant lacks it, measured 0, or ran at a given rate"
            ),
            "another metric (--metric), or runs in which both variants have the metric",
        );
    };
    match effect.verdict {
        Verdict::Above | Verdict::Below | Verdict::SmallButReal => None,
        Verdict::Equivalent => reason(
            format!("{metric} is the same within the margin"),
            "nothing: there is no difference to explain",
        ),
        Verdict::Inconclusive => {
            let least = model::difference(effect.detectable);
            reason(format!("a difference of {metric} of less than {least} is not detectable"), MORE)
        }
    }
}

fn no_evidence(case: &Case<'_>) -> Option<Reason> {
    let needed = "runs by this version of Assay, on a kernel that counts CPU and waiting times";
    match case.account {
        _ if case.subject == Subject::Other => None,
        None => reason("a run has no operations, or no times of operations", needed),
        Some(account) if account.components.is_empty() => {
            reason(format!("the records lack {}", account.missing.join(", ")), needed)
        }
        Some(_) => None,
    }
}

fn residual(case: &Case<'_>) -> Option<Reason> {
    let account = case.account?;
    let share = account.share(&account.residual)?.abs();
    let evidence = format!("no component explains {:.0} % of the change", share * 100.0);
    match account.missing.join(", ") {
        _ if share <= RESIDUAL_MAX => None,
        missing if !missing.is_empty() => reason(evidence, format!("records with {missing}")),
        _ => reason(
            evidence,
            "longer steps or more runs, for more samples of the waits; the cause may also lie \
             outside of the components",
        ),
    }
}

fn nothing_apart(case: &Case<'_>) -> Option<Reason> {
    let mut components = case.account?.components.iter();
    if components.any(|component| component.us.is_apart()) {
        return None;
    }
    let evidence = "the interval of every component's difference contains 0";
    reason(evidence, "longer steps, or more runs: --repetitions")
}
