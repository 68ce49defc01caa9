//! Study of histories: changes, relevance, and simultaneous events.

use model::Better;
use serde::Serialize;
use stats::change::{Change, Drift, Series, find};
use stats::family::benjamini_hochberg;

use super::gather::Gathered;
use super::problem::HistoryError;
use super::series::{History, Trend};

/// Largest adjusted p-value of a history's changes.
///
/// Source: [Benjamini Hochberg 1995] over the histories; 5 % is our choice, as for comparisons.
const MAX_Q: f64 = 0.05;
/// Fewest values of a studied history: two before a change and two after it.
pub const MIN_VALUES: usize = 4;

/// How histories are studied.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyOptions {
    /// Smallest change that matters, as a share.
    pub min_effect: f64,
    /// Strictness of the search: 4 for alarms, 3 to see more.
    pub strictness: f64,
    /// Label from which on a regression counts; all count when absent.
    pub since: Option<String>,
}

/// A change with its classification.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClassifiedChange {
    /// The change.
    #[serde(flatten)]
    pub change: Change,
    /// p-value, adjusted for the number of histories.
    pub q: f64,
    /// Whether it is good.
    pub trend: Trend,
    /// Whether it reaches the smallest change that matters.
    pub is_relevant: bool,
    /// Whether a later level recovered it.
    pub is_made_good: bool,
    /// The part of the effect that remains at the end of the history.
    pub left: f64,
    /// Event shared with other histories, if any.
    pub event: Option<usize>,
}

/// One history with its findings.
#[derive(Debug, Clone, PartialEq)]
pub struct Studied {
    /// The history.
    pub history: History,
    /// All findings.
    pub found: Series,
    /// The significant changes.
    pub changes: Vec<ClassifiedChange>,
    /// Changes that the adjustment for the number of histories withdrew.
    pub taken_back: usize,
    /// Regressions that are relevant, not recovered, and after `since`.
    pub regressions: usize,
}

/// Changes of several histories at the same place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Event {
    /// First place at which all of them may lie.
    pub earliest: usize,
    /// Last place at which all of them may lie.
    pub latest: usize,
    /// Positions of the histories.
    pub histories: Vec<usize>,
}

/// Findings of all histories.
#[derive(Debug, Clone, PartialEq)]
pub struct Study {
    /// The histories with enough values, in the order given.
    pub histories: Vec<Studied>,
    /// Histories with fewer than [`MIN_VALUES`] values, of which nothing is known yet.
    pub too_short: Vec<History>,
    /// Simultaneous changes.
    pub events: Vec<Event>,
    /// Smallest change that matters, as a share.
    pub min_effect: f64,
}

impl Study {
    /// Returns the number of regressions that count.
    pub fn regressions(&self) -> usize {
        self.histories.iter().map(|one| one.regressions).sum()
    }

    /// Returns whether nothing was found, and a lasting doubling would not have been anywhere.
    pub fn has_decided_nothing(&self) -> bool {
        let is_blind = |one: &Studied| {
            let is_open = one.changes.is_empty() && one.found.drifts.is_empty();
            is_open && one.found.detectable.is_some_and(|detectable| detectable.halfway > 1.0)
        };
        !self.histories.is_empty() && self.histories.iter().all(is_blind)
    }

    /// Returns whether the newest point is unknown, so that no check of it can pass.
    ///
    /// The last point of every history lacks a value, or the newest experiment has none.
    pub fn is_newest_unknown(&self, gathered: Option<&Gathered>) -> bool {
        let lacks = |one: &Studied| matches!(one.history.values[..], [.., None]);
        let lacks_last = !self.histories.is_empty() && self.histories.iter().all(lacks);
        lacks_last || gathered.is_some_and(|gathered| gathered.lacks_newest)
    }

    /// Rejects regressions of a history without a direction.
    ///
    /// # Errors
    /// [`HistoryError::NoDirection`] for the first such history.
    pub fn check_directions(&self) -> Result<(), HistoryError> {
        let mut all = self.histories.iter().map(|one| &one.history).chain(&self.too_short);
        match all.find(|one| !matches!(one.better, Some(Better::Higher | Better::Lower))) {
            Some(one) => Err(HistoryError::NoDirection(one.name.clone())),
            None => Ok(()),
        }
    }
}

/// Studies histories.
///
/// # Errors
/// When `since` is no label of a history with enough values.
///
/// Source: [`find`]; [`benjamini_hochberg`] over the histories.
pub fn study(histories: Vec<History>, options: &StudyOptions) -> Result<Study, HistoryError> {
    let (histories, too_short): (Vec<History>, Vec<History>) =
        histories.into_iter().partition(|one| one.known() >= MIN_VALUES);
    histories.iter().try_for_each(|one| check_since(one, options.since.as_ref()))?;
    let find = |one: &History| find(&one.values, options.strictness);
    let found: Vec<Series> = histories.iter().map(find).collect();
    let least = |series: &Series| series.changes.iter().map(|change| change.p).fold(1.0, f64::min);
    let ps: Vec<f64> = found.iter().map(least).collect();
    let qs = benjamini_hochberg(&ps);
    let significant = histories.into_iter().zip(found).zip(ps.iter().zip(qs));
    let mut histories: Vec<Studied> = significant
        .map(|((history, found), (p, q))| {
            let adjusted = |own: f64| if *p > 0.0 { (own * (q / p)).min(1.0) } else { own };
            classify(history, found, options, adjusted)
        })
        .collect();
    let events = events(&mut histories);
    Ok(Study { histories, too_short, events, min_effect: options.min_effect })
}

fn check_since(history: &History, since: Option<&String>) -> Result<(), HistoryError> {
    match since {
        Some(label) if !history.labels.contains(label) => {
            let [first, last] = [0, history.labels.len() - 1].map(|at| history.labels[at].clone());
            Err(HistoryError::UnknownLabel(label.clone(), first, last))
        }
        Some(_) | None => Ok(()),
    }
}

/// Classifies the findings of one history.
fn classify(
    history: History,
    found: Series,
    options: &StudyOptions,
    adjusted: impl Fn(f64) -> f64,
) -> Studied {
    let from = options.since.as_ref();
    let from = from.and_then(|label| history.labels.iter().position(|one| one == label));
    let last = found.pieces.last().map(|piece| piece.last);
    let significant: Vec<&Change> =
        found.changes.iter().filter(|change| adjusted(change.p) <= MAX_Q).collect();
    let changes: Vec<ClassifiedChange> = significant
        .iter()
        .map(|change| {
            let effect = change.effect.unwrap_or(f64::INFINITY * (change.after - change.before));
            let left = last.map_or(effect, |last| (last - change.before) / change.before.abs());
            // A change that does not matter is recovered by half of its own size.
            let recovered = options.min_effect.min(effect.abs() / 2.0);
            let is_worse = history.trend(effect) == Trend::Worse;
            ClassifiedChange {
                change: **change,
                q: adjusted(change.p),
                trend: history.trend(effect),
                is_relevant: effect.abs() >= options.min_effect,
                is_made_good: is_worse && !history.is_worse_by(left, recovered),
                left,
                event: None,
            }
        })
        .collect();
    let counts = |index: usize| from.is_none_or(|from| index >= from);
    let is_bad = |effect: f64| history.is_worse_by(effect, options.min_effect);
    let of_changes = changes.iter().filter(|one| {
        one.trend == Trend::Worse && one.is_relevant && is_bad(one.left) && counts(one.change.index)
    });
    let of_drifts = found.drifts.iter().filter(|drift| {
        let left = last.map(|last| (last - drift.before) / drift.before.abs());
        drift.effect.is_some_and(is_bad) && left.is_some_and(is_bad) && counts(drift.to)
    });
    Studied {
        regressions: of_changes.count() + of_drifts.count(),
        taken_back: found.changes.len() - changes.len(),
        history,
        found,
        changes,
    }
}

/// Groups changes of histories over the same points whose places overlap.
fn events(histories: &mut [Studied]) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    let mut places: Vec<(usize, usize)> = Vec::new();
    for (index, one) in histories.iter().enumerate() {
        places.extend((0..one.changes.len()).map(|change| (index, change)));
    }
    places.sort_by_key(|(index, change)| histories[*index].changes[*change].change.index);
    let axes = axes(histories);
    let mut of_place: Vec<usize> = Vec::new();
    for (index, at) in &places {
        let change = histories[*index].changes[*at].change;
        let joins = |event: &Event| {
            event.earliest.max(change.earliest) <= event.latest.min(change.latest)
                && !event.histories.contains(index)
                && event.histories.iter().all(|other| axes[*other] == axes[*index])
        };
        let event = events.iter().rposition(joins).unwrap_or_else(|| {
            let (earliest, latest) = (change.earliest, change.latest);
            events.push(Event { earliest, latest, histories: Vec::new() });
            events.len() - 1
        });
        let joined = &mut events[event];
        joined.earliest = joined.earliest.max(change.earliest);
        joined.latest = joined.latest.min(change.latest);
        joined.histories.push(*index);
        of_place.push(event);
    }
    // Events of one history are dropped.
    let mut number = vec![None; events.len()];
    let mut shared = Vec::new();
    for (index, event) in events.into_iter().enumerate() {
        if event.histories.len() > 1 {
            number[index] = Some(shared.len());
            shared.push(event);
        }
    }
    for ((index, at), event) in places.into_iter().zip(of_place) {
        histories[index].changes[at].event = number[event];
    }
    shared
}

/// Returns for each history the first one that is over the same points.
fn axes(histories: &[Studied]) -> Vec<usize> {
    let mut axes: Vec<usize> = Vec::new();
    for (index, one) in histories.iter().enumerate() {
        let same = |first: &&usize| histories[**first].history.labels == one.history.labels;
        let known = axes.iter().enumerate().filter(|(at, first)| at == *first);
        let axis = known.map(|(_, first)| first).find(same).copied().unwrap_or(index);
        axes.push(axis);
    }
    axes
}

impl Studied {
    /// Returns the drift that moves the level most.
    pub fn drift(&self) -> Option<&Drift> {
        let size = |drift: &Drift| drift.effect.map_or(f64::INFINITY, f64::abs);
        self.found.drifts.iter().max_by(|one, other| size(one).total_cmp(&size(other)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: StudyOptions = StudyOptions { min_effect: 0.02, strictness: 4.0, since: None };

    /// A history of sixty points whose level is multiplied at some of them.
    fn history(name: &str, changes: &[(usize, f64)]) -> History {
        let value = |point: usize| {
            let noise = f64::from(u32::try_from(point * 7_919 % 101).unwrap()) / 101.0 - 0.5;
            let level: f64 =
                changes.iter().filter(|(at, _)| *at <= point).map(|(_, by)| by).product();
            Some(level * (100.0 + 2.0 * noise))
        };
        History {
            name: name.to_owned(),
            subject: None,
            unit: None,
            better: Some(Better::Higher),
            labels: (0..60).map(|point| format!("b{point}")).collect(),
            is_order_checked: true,
            values: (0..60).map(value).collect(),
            origins: Vec::new(),
        }
    }

    fn regressions(changes: &[(usize, f64)], options: &StudyOptions) -> usize {
        study(vec![history("ops", changes)], options).unwrap().regressions()
    }

    #[test]
    fn history_that_can_miss_a_doubling_decides_nothing() {
        let noisy = |spread: f64| {
            let value = |at: u32| Some(100.0 * spread.powf(f64::from(at * 7 % 5) - 2.0));
            let values = (0..12).map(value).collect();
            let labels = (0..12).map(|at| at.to_string()).collect();
            let one = History { values, labels, ..history("ops", &[]) };
            study(vec![one], &OPTIONS).unwrap()
        };
        assert!(noisy(8.0).has_decided_nothing(), "{:?}", noisy(8.0).histories);
        assert!(!noisy(1.01).has_decided_nothing());
    }

    #[test]
    fn regression_counts_until_recovered() {
        assert_eq!(regressions(&[(30, 0.9)], &OPTIONS), 1);
        assert_eq!(regressions(&[(30, 1.1)], &OPTIONS), 0);
        assert_eq!(regressions(&[(20, 0.9), (40, 1.0 / 0.9)], &OPTIONS), 0);
        // The rest is still relevant.
        assert_eq!(regressions(&[(20, 0.9), (40, 1.05)], &OPTIONS), 1);
        // A lost gain is a regression.
        assert_eq!(regressions(&[(20, 1.1), (40, 1.0 / 1.1)], &OPTIONS), 1);
    }

    #[test]
    fn margin_and_since_select_the_regressions() {
        let large = StudyOptions { min_effect: 0.15, ..OPTIONS };
        let study_of = study(vec![history("ops", &[(30, 0.9)])], &large).unwrap();
        assert_eq!((study_of.regressions(), study_of.histories[0].changes.len()), (0, 1));
        let since = |label: &str| StudyOptions { since: Some(label.to_owned()), ..OPTIONS };
        assert_eq!(regressions(&[(30, 0.9)], &since("b30")), 1);
        assert_eq!(regressions(&[(30, 0.9)], &since("b31")), 0);
        let unknown = study(vec![history("ops", &[])], &since("b99"));
        assert!(matches!(unknown, Err(HistoryError::UnknownLabel { .. })));
    }

    #[test]
    fn change_below_the_margin_is_recovered_only_when_its_level_comes_back() {
        let margin = StudyOptions { min_effect: 0.2, ..OPTIONS };
        let recovered = |changes: &[(usize, f64)]| -> Vec<bool> {
            let found = study(vec![history("ops", changes)], &margin).unwrap();
            assert_eq!(found.regressions(), 0);
            found.histories[0].changes.iter().map(|one| one.is_made_good).collect()
        };
        assert_eq!(recovered(&[(30, 0.81)]), [false]);
        assert_eq!(recovered(&[(20, 0.81), (40, 1.05)]), [false, false]);
        assert_eq!(recovered(&[(20, 0.81), (40, 1.0 / 0.81)]), [true, false]);
    }

    #[test]
    fn short_history_does_not_stop_the_others() {
        let mut young = history("young", &[]);
        young.values[..57].fill(None);
        let found = study(vec![young, history("ops", &[(30, 0.9)])], &OPTIONS).unwrap();
        assert_eq!((found.regressions(), found.too_short[0].known()), (1, 3));
        assert!(!found.is_newest_unknown(None));
        let mut ended = history("ops", &[]);
        ended.values[59] = None;
        assert!(study(vec![ended], &OPTIONS).unwrap().is_newest_unknown(None));
    }

    #[test]
    fn histories_that_change_together_are_one_event() {
        let all = vec![
            history("a", &[(20, 0.9), (40, 1.3)]),
            history("b", &[(20, 1.2)]),
            history("c", &[(31, 0.8)]),
        ];
        let found = study(all, &OPTIONS).unwrap();
        assert_eq!(found.events.len(), 1, "{:?}", found.events);
        assert_eq!(found.events[0].histories, [0, 1]);
        let of = |index: usize| found.histories[index].changes.iter().map(|one| one.event);
        assert_eq!(of(0).collect::<Vec<_>>(), [Some(0), None]);
        assert_eq!(of(2).collect::<Vec<_>>(), [None]);
    }

    #[test]
    fn weak_change_is_withdrawn_among_many_histories() {
        // A short history, split at p = 1/200: alone it is significant.
        let mut weak = history("short", &[]);
        let values = [10.0, 10.4, 9.8, 10.2, 10.9, 11.3, 10.8, 11.1];
        weak.values = values.into_iter().map(Some).collect();
        weak.labels.truncate(values.len());
        let alone = study(vec![weak.clone()], &OPTIONS).unwrap();
        assert_eq!((alone.histories[0].changes.len(), alone.histories[0].taken_back), (1, 0));
        let mut many: Vec<History> = (0..60).map(|_| history("flat", &[])).collect();
        many.push(weak);
        let found = study(many, &OPTIONS).unwrap();
        let last = found.histories.last().unwrap();
        assert_eq!((last.changes.len(), last.taken_back), (0, 1), "{:?}", last.found.changes);
    }

    #[test]
    fn neutral_metric_has_no_regression() {
        let mut one = history("ops", &[(30, 0.9)]);
        one.better = None;
        let found = study(vec![one], &OPTIONS).unwrap();
        assert_eq!(found.histories[0].changes[0].trend, Trend::Neither);
        assert!(found.check_directions().is_err_and(|error| error.to_string().contains("`ops`")));
    }
}
