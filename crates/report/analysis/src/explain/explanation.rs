//! Data types of an explanation.

use model::{Better, OpUnit, StepClients, metric};
use serde::Serialize;
use stats::{Effect, Verdict};

use super::account::{Account, Subject};
use super::bound::Bound;
use super::declared::Declared;
use super::identity::Identity;
use super::moved::{Moved, SettleCost};
use super::network::Network;
use super::refusal::Refusal;
use crate::profile::FunctionAccount;

/// Level of the explanation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// No explanation: see [`Explanation::refusals`].
    Nothing,
    /// Accounting, and what else moved in the same runs.
    Association,
    /// Also the cause: one thing that was set on purpose.
    Cause,
}

/// Explanation of the difference between two variants in one step.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The step's name.
    pub step: String,
    /// Its position in the run, 0-based.
    pub index: u32,
    /// What counts as one operation.
    pub unit: OpUnit,
    /// Level of the clients factor, and the step's clients.
    #[serde(flatten)]
    pub clients: StepClients,
    /// Name of the base.
    pub base: String,
    /// Name of the variant.
    pub variant: String,
    /// Runs counted of each.
    pub runs: (u32, u32),
    /// The metric that is explained: its verdict, and what it is made of.
    pub metric: &'static str,
    /// What is explained.
    pub subject: Subject,
    /// The metric, variant to base; `None` where it has no ratio.
    pub effect: Option<Effect>,
    /// Time by component; `None` without the records.
    pub account: Option<Account>,
    /// The CPU by function; `None` without comparable profiles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<FunctionAccount>,
    /// Why the profiles that there are cannot be compared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_functions: Option<String>,
    /// Parts divided into factors.
    pub identities: Vec<Identity>,
    /// Metrics with an established change, the most relevant first.
    pub moved: Vec<Moved>,
    /// Costs of the settle after the step, which are no part of its time.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub settle: Vec<SettleCost>,
    /// Costs of the network; `None` without a server or its metrics.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Network>,
    /// How much of each resource each variant used.
    pub bounds: Vec<Bound>,
    /// Declared differences of the variants.
    pub declared: Declared,
    /// Reasons against an explanation, if any.
    pub refusals: Vec<Refusal>,
    /// Level of the explanation.
    pub rung: Rung,
}

impl Explanation {
    /// Returns hidden regressions: costs that grew at equal throughput.
    ///
    /// Our choice: throughput within the margin does not show a cost that another limit hides.
    pub fn hidden(&self) -> Vec<&Moved> {
        let is_equal = self.subject == Subject::TimePerOperation
            && self.effect.is_some_and(|effect| effect.verdict == Verdict::Equivalent);
        let is_cost = |one: &&Moved| {
            let better = metric::find(one.metric).map(|metric| metric.better);
            is_equal && better == Some(Better::Lower) && one.effect.verdict == Verdict::Above
        };
        self.moved.iter().filter(is_cost).collect()
    }
}
