//! Why a search for a rate ended.

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
    /// The longest probe has too few operations to test the limit.
    TooFew {
        /// Operations needed.
        needed: u64,
        /// Operations of the closed loop in that time.
        has: f64,
        /// Length of the longest probe.
        longest: Nanos,
    },
    /// No operation ended in the closed loop.
    NothingDone,
    /// The client was late in too many probes.
    ClientLate,
    /// All probes were used up.
    UsedUp(usize),
    /// Stopped, for this reason.
    Stopped(String),
}

impl Ending {
    /// Returns the sentence; `found` is the confirmed result, if any.
    pub(super) fn sentence(&self, found: Option<SearchResult>, spec: &RateSpec) -> String {
        match self {
            Self::Found(length) => found.map_or_else(String::new, |found| {
                let rate = per_second(found.ops_per_s);
                let rest = above(&found, spec);
                format!("{rate} met the limit and was sustained for {length}; {rest}")
            }),
            Self::NoRate(lowest) => {
                format!("no rate meets the limit: the lowest tried was {}", per_second(*lowest))
            }
            Self::Unconfirmed(lowest) => format!(
                "no rate was confirmed: short probes passed, the long one at {} failed",
                per_second(*lowest)
            ),
            Self::TooFew { needed, has, longest } => format!(
                "{} operations are needed to test the limit, {longest} have {has:.0}: make the \
                step longer, or the percentile lower",
                thousands(*needed)
            ),
            Self::NothingDone => "no operation ended in the closed loop".to_owned(),
            Self::ClientLate => "the client was late too often".to_owned(),
            Self::UsedUp(probes) => format!("{probes} probes were not enough"),
            Self::Stopped(why) => format!("stopped: {why}"),
        }
    }
}

/// Describes the result at higher rates.
fn above(found: &SearchResult, spec: &RateSpec) -> String {
    if let Some(failed) = found.failed_ops_per_s {
        return format!("{} failed", per_second(failed));
    }
    if found.ops_per_s >= spec.cap_ops_per_s() * (1.0 - 1e-9) {
        let ceiling = per_second(spec.ceiling_ops_per_s);
        return format!(
            "client-bound: the engine may sustain more than this client can offer (0.8 of its \
            ceiling of {ceiling})"
        );
    }
    "no higher rate was decided".to_owned()
}
