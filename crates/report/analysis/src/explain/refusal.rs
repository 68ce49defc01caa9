//! When nothing may be said of a difference, and what would be needed to.

use model::validity::LoadStatus;
use model::{Load, RunRecord, StepRecord};
use serde::Serialize;
use stats::{Effect, Verdict};

use super::account::Account;
use super::explanation::Subject;
use crate::metrics::clients;

/// Share of the change that may be left without an account.
///
/// Source: the project's reference, analysis, section 6, rule 4.
const RESIDUAL_MAX: f64 = 0.2;

/// Why nothing may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The comparison is bogus.
    Bogus,
    /// There are too few runs to tell a difference from noise.
    FewRuns,
    /// The sides were not loaded alike.
    LoadedUnalike,
    /// A side could not keep up with its arrivals.
    Overloaded,
    /// The difference is not established.
    NotEstablished,
    /// The records do not tell where the time went.
    NoEvidence,
    /// Too much of the change is in no component.
    Residual,
    /// No component's difference is told from zero.
    NothingApart,
}

/// A reason to say nothing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Which.
    pub rule: Rule,
    /// What was seen, with the figures.
    pub evidence: String,
    /// What would be needed.
    pub needed: String,
}

impl Refusal {
    fn new(rule: Rule, evidence: impl Into<String>, needed: impl Into<String>) -> Self {
        Self { rule, evidence: evidence.into(), needed: needed.into() }
    }
}

/// Runs of one side, with the step in question.
pub(super) type Side<'a> = [(&'a RunRecord, &'a StepRecord)];

/// What decides whether something may be said.
pub(super) struct Case<'a> {
    pub(super) base: &'a Side<'a>,
    pub(super) variant: &'a Side<'a>,
    pub(super) subject: Subject,
    pub(super) effect: Option<&'a Effect>,
    pub(super) account: Option<&'a Account>,
    /// Whose background writers missed their rate.
    pub(super) missed: Option<&'a str>,
    pub(super) blocking: &'a [String],
}

/// Returns why nothing may be said, the most fundamental reason first; none when something may.
pub(super) fn refusals(case: &Case<'_>) -> Vec<Refusal> {
    // One reason is enough; the later ones would be about figures that the earlier one doubts.
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
        let needed = "what blocks it put right, and new runs";
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
            "two runs of each at least: the noise between runs is not known",
        )
    })
}

/// Refuses what ran with other numbers of clients, beside slower writers, or at rates that a search
/// chose.
fn loaded_unalike(case: &Case<'_>) -> Option<Refusal> {
    if let Some(evidence) = case.missed {
        return Some(Refusal::new(
            Rule::LoadedUnalike,
            evidence,
            "background writers that keep their rate: a lower one",
        ));
    }
    let all = || case.base.iter().chain(case.variant).map(|(_, step)| step);
    let is_search = all().any(|step| matches!(step.step.load, Load::FindRate(_)));
    if is_search {
        return Some(Refusal::new(
            Rule::LoadedUnalike,
            "each run was measured at the rate that its own search found",
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
        format!("{} could not keep up: no steady response time exists at this rate", run.cell.id),
        "a rate that both keep up with",
    ))
}

/// Refuses a difference that may be noise.
///
/// A closed loop's is judged by its throughput; an open loop's by the interval of the mean
/// response time.
fn not_established(case: &Case<'_>) -> Option<Refusal> {
    let refuse =
        |evidence: String, needed| Some(Refusal::new(Rule::NotEstablished, evidence, needed));
    match case.subject {
        Subject::TimePerOperation => match case.effect.map(|effect| effect.verdict) {
            Some(Verdict::Above | Verdict::Below | Verdict::SmallButReal) => None,
            Some(Verdict::Equivalent) => refuse(
                "throughput is the same within the margin".to_owned(),
                "nothing: there is no difference to explain",
            ),
            Some(Verdict::Inconclusive) | None => refuse(
                case.effect.map_or_else(
                    || "no throughput is known of one side".to_owned(),
                    |effect| {
                        let evidence = 100.0 * effect.detectable;
                        format!(
                            "a difference of less than {evidence:.1} % would not have been seen"
                        )
                    },
                ),
                "more runs: --repetitions",
            ),
        },
        Subject::ResponseTime => match case.account {
            Some(account) if !account.total.is_apart() => {
                let evidence = "the interval of its difference holds 0".to_owned();
                refuse(evidence, "more runs: --repetitions")
            }
            Some(_) | None => None,
        },
    }
}

fn no_evidence(case: &Case<'_>) -> Option<Refusal> {
    let needed = "runs by this version of Assay on a kernel that counts these";
    let Some(account) = case.account else {
        let evidence = "a run did no operation, or has no time for it";
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
    let evidence = format!("{:.0} % of the change is in no component", share * 100.0);
    let needed = if account.missing.is_empty() {
        "longer steps or more runs, for more looks at what is waited for; or it is in none of \
         these accounts"
            .to_owned()
    } else {
        format!("records that tell {}", account.missing.join(", "))
    };
    Some(Refusal::new(Rule::Residual, evidence, needed))
}

fn nothing_apart(case: &Case<'_>) -> Option<Refusal> {
    let account = case.account?;
    let is_apart = account.components.iter().any(|component| component.us.is_apart());
    (!is_apart).then(|| {
        let evidence = "the interval of every component's difference holds 0";
        Refusal::new(Rule::NothingApart, evidence, "longer steps, or more runs: --repetitions")
    })
}
