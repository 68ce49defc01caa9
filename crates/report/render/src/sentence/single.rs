//! One variant against the base, by its verdict.

use stats::{Effect, Interval, Method, Verdict, Why};

use super::claim::Claim;
use crate::figure::{self, change, declared, interval, ratio};
use crate::trust::many;

/// A change within these ratios is written in percent, others as a multiple.
const PERCENT: std::ops::Range<f64> = 0.5..2.0;

/// One effect with its names.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Single<'a> {
    pub(crate) claim: &'a Claim,
    pub(crate) name: &'a str,
    pub(crate) base: &'a str,
    pub(crate) effect: &'a Effect,
    /// Runs of the base and of the variant.
    pub(crate) runs: [u32; 2],
    /// Smallest difference that matters, as a share.
    pub(crate) margin: f64,
    /// Comparisons of the family.
    pub(crate) family: u32,
}

impl Single<'_> {
    /// Returns the clause of the verdict, without a full stop.
    pub(crate) fn clause(&self) -> String {
        let Self { claim, name, base, effect, .. } = *self;
        let margin = declared(self.margin);
        let noun = claim.noun;
        let did = || format!("{name} {} {}", claim.verb, self.amount());
        let against = || format!("{name} against {base} {}", plain(effect));
        match effect.verdict {
            Verdict::Above | Verdict::Below => format!("{}{}", did(), self.history()),
            Verdict::SmallButReal => {
                let is_within = effect.interval.is_some_and(|it| lies_within(&it, self.margin));
                let size = if is_within { "smaller" } else { "by its estimate smaller" };
                format!("{}: a real difference, {size} than the {margin} that matter", did())
            }
            Verdict::Equivalent => {
                let narrow =
                    effect.interval90.map(|it| format!(" {} at 90 %", limits(effect, &it)));
                let change = amount_alone(effect);
                format!(
                    "no difference in {noun} beyond {margin}: {name} against {base} {change}{}",
                    narrow.unwrap_or_default()
                )
            }
            Verdict::Inconclusive => match effect.why {
                Some(Why::OneRun) => {
                    format!("{}: {}, which may be noise", self.runs_text(), did())
                }
                Some(Why::Wide) | None => {
                    format!("no detectable difference in {noun}: {}", against())
                }
                Some(Why::ShapeDependent) => {
                    let ranks = effect.second_estimate.map(|second_estimate| {
                        format!(
                            ", but {} by ranks",
                            amount_of(second_estimate.ratio, &second_estimate.interval)
                        )
                    });
                    format!(
                        "inconclusive in {noun}: {} by means{}, so it depends on the shape of the \
                         noise",
                        against(),
                        ranks.unwrap_or_default()
                    )
                }
                Some(Why::NoSpread) => format!(
                    "no verdict on {noun}: {}, but the runs of each do not differ at all, so \
                     the noise is not known",
                    against()
                ),
                Some(Why::Family) => format!(
                    "inconclusive in {noun}: {}, which does not stand out among {}",
                    against(),
                    among(self.family)
                ),
            },
        }
    }

    /// Returns `8.0 % more operations per second than old [+5.2 %, +11 %]`.
    pub(crate) fn amount(&self) -> String {
        let Self { claim, base, effect, .. } = *self;
        let brackets = effect.interval.map(|it| format!(" {}", limits(effect, &it)));
        let brackets = brackets.unwrap_or_default();
        if !PERCENT.contains(&effect.ratio) {
            return format!("{} times the {} of {base}{brackets}", ratio(effect.ratio), claim.noun);
        }
        let size = change(effect.ratio);
        if size == "+0.0 %" {
            return format!("the same {} as {base}{brackets}", claim.noun);
        }
        let size = size.trim_start_matches(['+', '-']);
        let word = if effect.ratio < 1.0 { claim.less } else { claim.more };
        format!("{size} {word} than {base}{brackets}")
    }

    /// Returns the note on an interval of one run each.
    fn history(&self) -> &'static str {
        if self.effect.method == Method::History {
            " (one run each, tested with the noise of other runs)"
        } else {
            ""
        }
    }

    fn runs_text(&self) -> String {
        match self.runs {
            [1, 1] => "one run each".to_owned(),
            [base, own] => {
                format!("{} of the base and {} of {}", many(base as usize, "run"), own, self.name)
            }
        }
    }
}

/// Returns the number of comparisons of a family.
pub(super) fn among(family: u32) -> String {
    match family {
        0 | 1 => "so many comparisons".to_owned(),
        count => format!("{count} comparisons"),
    }
}

/// Returns whether an interval holds nothing beyond the margin.
pub(crate) fn lies_within(of: &Interval, margin: f64) -> bool {
    of.low > 1.0 / (1.0 + margin) && of.high < 1.0 + margin
}

/// Returns a ratio with its 95 % interval: `+0.6 % [-1.3 %, +2.5 %]` or `3.5 times [3.4, 3.6]`.
pub(crate) fn plain(effect: &Effect) -> String {
    let brackets = effect.interval.map(|it| format!(" {}", limits(effect, &it)));
    format!("{}{}", amount_alone(effect), brackets.unwrap_or_default())
}

/// Returns a ratio alone: `+0.6 %` or `3.50 times`.
pub(crate) fn amount_alone(effect: &Effect) -> String {
    amount_of_ratio(effect.ratio)
}

fn amount_of_ratio(of: f64) -> String {
    if PERCENT.contains(&of) { change(of) } else { format!("{} times", ratio(of)) }
}

fn amount_of(of: f64, limits: &Interval) -> String {
    format!("{} {}", amount_of_ratio(of), limits_as(PERCENT.contains(&of), limits))
}

/// Returns an interval in the manner of the effect's ratio.
fn limits(effect: &Effect, of: &Interval) -> String {
    limits_as(PERCENT.contains(&effect.ratio), of)
}

fn limits_as(is_percent: bool, of: &Interval) -> String {
    if is_percent { figure::limits(change(of.low), change(of.high)) } else { interval(of) }
}
