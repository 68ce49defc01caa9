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

impl Refusal {
    fn new(rule: Rule, evidence: impl Into<String>, needed: impl Into<String>) -> Self {
        Self { rule, evidence: evidence.into(), needed: needed.into() }
    }
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
    let rules: [fn(&Case<'_>) -> Option<Refusal>; 7] = [
        few_runs,
        loaded_unalike,
        overloaded,
        not_established,
        no_evidence,
        residual,
        nothing_apart,
    ];
    if !case.blocking.is_empty() {
        let each = case.blocking.iter();
        let needed = "fix what blocks the verdict, then run again";
        return each.map(|evidence| Refusal::new(Rule::Bogus, evidence, needed)).collect();
    }
    rules.iter().find_map(|rule| rule(case)).into_iter().collect()
}

fn few_runs(case: &Case<'_>) -> Option<Refusal> {
    let (base, variant) = (case.base.len(), case.variant.len());
    (base.min(variant) < 2).then(|| {
        Refusal::new(
            Rule::FewRuns,
            format!("there are {base} and {variant} runs to compare"),
            "at least two runs of each, because the noise between runs is not known",
        )
    })
}

/// Rejects different numbers of clients, slower writers, and rates chosen by a search.
fn loaded_unalike(case: &Case<'_>) -> Option<Refusal> {
    if let Some(evidence) = case.missed {
        return Some(Refusal::new(
            Rule::LoadedUnalike,
            evidence,
            "a rate that the background writers sustain",
        ));
    }
    let all = || case.base.iter().chain(case.variant).map(|(_, step)| step);
    let is_search = all().any(|step| matches!(step.step.load, Load::FindRate(_)));
    if is_search {
        return Some(Refusal::new(
            Rule::LoadedUnalike,
            "each run was measured at the rate that its search found",
            "the same rate for both: --rate",
        ));
    }
    let counts: Vec<u32> = all().map(|step| clients(step)).collect();
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    (least != most).then(|| {
        Refusal::new(
            Rule::LoadedUnalike,
            format!("the runs had {least} to {most} clients"),
            "the same number of clients for both: --clients",
        )
    })
}

fn overloaded(case: &Case<'_>) -> Option<Refusal> {
    let mut all = case.base.iter().chain(case.variant);
    let (run, _) = all.find(|(_, step)| {
        matches!(
            step.load_status,
            Some(LoadStatus::Overloaded { .. } | LoadStatus::ClientBound { .. })
        )
    })?;
    Some(Refusal::new(
        Rule::Overloaded,
        format!("{} was overloaded: no steady response time exists at this rate", run.cell.id),
        "a rate that both variants sustain",
    ))
}

/// Rejects a difference that may be noise.
///
/// By the verdict on the metric; an open loop by the interval of the mean response time.
fn not_established(case: &Case<'_>) -> Option<Refusal> {
    let metric = case.metric;
    let refuse =
        |evidence: String, needed| Some(Refusal::new(Rule::NotEstablished, evidence, needed));
    if !case.subject.is_of_metric() {
        case.account.filter(|account| !account.total.is_apart())?;
        let evidence = "the interval of its difference contains 0".to_owned();
        return refuse(evidence, "more runs: --repetitions");
    }
    match case.effect {
        Some(effect) => match effect.verdict {
            Verdict::Above | Verdict::Below | Verdict::SmallButReal => None,
            Verdict::Equivalent => refuse(
                format!("{metric} is the same within the margin"),
                "nothing: there is no difference to explain",
            ),
            Verdict::Inconclusive => {
                let detectable = model::difference(effect.detectable);
                let evidence =
                    format!("a difference of {metric} of less than {detectable} is not detectable");
                refuse(evidence, "more runs: --repetitions")
            }
        },
        None => refuse(
            format!(
                "{metric} has no ratio: a variant lacks it, measured 0, or ran at a given \
                     rate"
            ),
            "another metric (--metric), or runs in which both variants have it",
        ),
    }
}

fn no_evidence(case: &Case<'_>) -> Option<Refusal> {
    let needed = "runs by this version of Assay on a kernel that counts these times";
    if case.subject == Subject::Other {
        return None;
    }
    let Some(account) = case.account else {
        let evidence = "a run has no operations, or no time for them";
        return Some(Refusal::new(Rule::NoEvidence, evidence, needed));
    };
    account.components.is_empty().then(|| {
        let evidence = format!("the records lack {}", account.missing.join(", "));
        Refusal::new(Rule::NoEvidence, evidence, needed)
    })
}

fn residual(case: &Case<'_>) -> Option<Refusal> {
    let account = case.account?;
    let share = account.share(&account.residual)?.abs();
    if share <= RESIDUAL_MAX {
        return None;
    }
    let evidence = format!("no component explains {:.0} % of the change", share * 100.0);
    let needed = if account.missing.is_empty() {
        "longer steps or more runs, for more samples of the waits; or the cause lies outside of \
         these components"
            .to_owned()
    } else {
        format!("records with {}", account.missing.join(", "))
    };
    Some(Refusal::new(Rule::Residual, evidence, needed))
}

fn nothing_apart(case: &Case<'_>) -> Option<Refusal> {
    let account = case.account?;
    let is_apart = account.components.iter().any(|component| component.us.is_apart());
    (!is_apart).then(|| {
        let evidence = "the interval of every component's difference contains 0";
        Refusal::new(Rule::NothingApart, evidence, "longer steps, or more runs: --repetitions")
    })
}
