//! What an explanation consists of: the nouns that outputs are made from.

use model::{Better, OpUnit, metric};
use serde::Serialize;
use stats::{Effect, Verdict};

use super::account::Account;
use super::bound::Bound;
use super::declared::Declared;
use super::identity::Identity;
use super::moved::Moved;
use super::refusal::Refusal;

/// What is explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Subject {
    /// A closed loop's time per operation: clients over throughput.
    TimePerOperation,
    /// An open loop's mean response time.
    ResponseTime,
}

/// How much may be said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Rung {
    /// Nothing of the difference: see [`Explanation::refusals`].
    Nothing,
    /// Where the time is, and what else moved in the same runs.
    Association,
    /// What made the difference, too: one thing that was set on purpose.
    Cause,
}

/// The difference between two variants in one step, explained as far as the runs allow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The step's name.
    pub step: String,
    /// Its position in the run, 0-based.
    pub index: u32,
    /// What counts as one operation.
    pub unit: OpUnit,
    /// Level of the clients factor.
    pub level: u32,
    /// Clients of the step itself.
    pub clients: u32,
    /// Name of the base.
    pub base: String,
    /// Name of the variant.
    pub variant: String,
    /// Runs counted of each.
    pub runs: (u32, u32),
    /// What is explained.
    pub subject: Subject,
    /// Throughput, variant to base; `None` where the experiment gives the rate.
    pub effect: Option<Effect>,
    /// Where the time goes; `None` when the records do not tell.
    pub account: Option<Account>,
    /// What some of its parts are products of.
    pub identities: Vec<Identity>,
    /// Metrics with an established change, the most telling first.
    pub moved: Vec<Moved>,
    /// How much of each resource each variant used.
    pub bounds: Vec<Bound>,
    /// What the two variants were said to differ in.
    pub declared: Declared,
    /// Why nothing may be said of the difference, if so.
    pub refusals: Vec<Refusal>,
    /// How much may be said.
    pub rung: Rung,
}

impl Explanation {
    /// Returns the costs that grew although throughput is the same within the margin.
    ///
    /// Source: the project's reference, analysis, section 6, rule 5.
    #[must_use]
    pub fn hidden(&self) -> Vec<&Moved> {
        let is_equal = self.effect.is_some_and(|effect| effect.verdict == Verdict::Equivalent);
        let is_cost = |one: &&Moved| {
            let better = metric::find(one.metric).map(|metric| metric.better);
            is_equal && better == Some(Better::Lower) && one.effect.verdict == Verdict::Above
        };
        self.moved.iter().filter(is_cost).collect()
    }
}
