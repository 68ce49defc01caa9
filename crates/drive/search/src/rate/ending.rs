//! Why a search for a rate ended, in a sentence.

use model::Nanos;
use model::units::{per_second, thousands};
use model::validity::SearchResult;

use crate::rate::spec::RateSpec;

/// Why a search ended.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Ending {
    /// A rate was confirmed, over this time.
    Found(Nanos),
    /// No rate passed; the lowest tried.
    NoRate(f64),
    /// Rates passed a short probe, and none the confirmation; the lowest tried.
    Unconfirmed(f64),
    /// The longest probe has too few operations to tell of the limit.
    TooFew {
        /// Operations that are needed.
        needed: u64,
        /// Operations that the closed loop does in that time.
        has: f64,
        /// Length of the longest probe.
        longest: Nanos,
    },
    /// Not one operation ended in the closed loop.
    NothingDone,
    /// The client was late in too many probes.
    ClientLate,
    /// All probes were used up.
    UsedUp(usize),
    /// It was stopped, for this reason.
    Stopped(String),
}

impl Ending {
    /// Returns the sentence; `found` is what was confirmed, if anything.
    pub(super) fn sentence(&self, found: Option<SearchResult>, spec: &RateSpec) -> String {
        match self {
            Self::Found(length) => found.map_or_else(String::new, |found| {
                let rate = per_second(found.ops_per_s);
                let rest = above(&found, spec);
                format!("{rate} kept the limit and was sustained for {length}; {rest}")
            }),
            Self::NoRate(lowest) => {
                format!("no rate meets the limit: {} does not either", per_second(*lowest))
            }
            Self::Unconfirmed(lowest) => format!(
                "no rate was confirmed: short probes passed, and the long one at {} did not",
                per_second(*lowest)
            ),
            Self::TooFew { needed, has, longest } => format!(
                "{} operations are needed to tell of the limit, and {longest} have {has:.0}: make \
                 the step longer, or the percentile lower",
                thousands(*needed)
            ),
            Self::NothingDone => "not one operation ended in the closed loop".to_owned(),
            Self::ClientLate => "the client was late too often".to_owned(),
            Self::UsedUp(probes) => format!("{probes} probes were not enough"),
            Self::Stopped(why) => format!("it was stopped: {why}"),
        }
    }
}

/// Says what is known of higher rates.
fn above(found: &SearchResult, spec: &RateSpec) -> String {
    if let Some(failed) = found.failed_ops_per_s {
        return format!("{} did not", per_second(failed));
    }
    if found.ops_per_s >= spec.cap_ops_per_s() * (1.0 - 1e-9) {
        let ceiling = per_second(spec.ceiling_ops_per_s);
        return format!(
            "client-bound: the engine can do more than this client can offer (0.8 of its ceiling \
             of {ceiling})"
        );
    }
    "nothing above it could be decided".to_owned()
}
