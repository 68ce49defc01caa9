//! The time account of an explanation as a table on one scale.

use analysis::Explanation;
use analysis::explain::{Part, Rule, Rung, Subject};
use stats::MeanDifference;

use crate::document::Table;
use crate::figure;

/// Cells of a bar for the whole of a difference.
const BAR: u32 = 20;

/// Returns where the time is; `None` where the records lack it or must not be used.
///
/// Shares of the difference are shown only where it may be explained.
pub(super) fn table(explanation: &Explanation) -> Option<Table> {
    let account = explanation.account.as_ref()?;
    if explanation.refusals.iter().any(|refusal| is_hidden(refusal.rule)) {
        return None;
    }
    let scale = Scale::of(&account.total);
    let (what, whole) = match explanation.subject {
        Subject::TimePerOperation if !explanation.unit.is_operation() => {
            ("per row", "time per row")
        }
        Subject::TimePerOperation => ("per operation", "time per operation"),
        Subject::ResponseTime => ("of a response", "response time"),
        Subject::Cpu | Subject::ServerCpu | Subject::Other => match explanation.unit.is_operation()
        {
            true => ("of CPU per operation", "CPU per operation"),
            false => ("of CPU per row", "CPU per row"),
        },
    };
    let mut table = Table::new([
        &format!("arithmetic mean {} {what}", scale.unit),
        &explanation.base,
        &explanation.variant,
        "difference",
        "95 % interval",
        "share",
        "<",
    ]);
    let mut push = |name: String, us: &MeanDifference, is_part: bool| {
        let is_shown = is_part && explanation.rung > Rung::Nothing;
        // What went the other way is no share of the difference.
        let share = account.share(us).filter(|share| is_shown && *share >= 0.0);
        table.push([
            name,
            scale.plain(us.base),
            scale.plain(us.variant),
            scale.signed(us.difference),
            scale.interval(us.interval),
            share.map_or_else(String::new, percent),
            share.map_or_else(String::new, bar),
        ]);
    };
    push(whole.to_owned(), &account.total, false);
    for component in &account.components {
        push(format!("  {}", component.part.phrase()), &component.us, true);
        if let Some(waits) = account.waits.as_ref().filter(|_| component.part == Part::ServerWait) {
            for part in &waits.parts {
                push(format!("    {}", part.name), &part.us, true);
            }
            push("    in no event".to_owned(), &waits.residual, true);
        }
    }
    push("  residual".to_owned(), &account.residual, true);
    Some(table)
}

/// Returns whether a reason against an explanation hides its figures, too.
pub(super) const fn is_hidden(rule: Rule) -> bool {
    matches!(rule, Rule::Bogus | Rule::LoadedUnalike)
}

/// Returns a share in whole percent.
pub(super) fn percent(share: f64) -> String {
    // No share is written -0.
    format!("{:.0} %", (share * 100.0).round() + 0.0)
}

/// Returns a share of the difference in brackets, in words where a part went the other way.
pub(super) fn share_note(share: f64) -> String {
    if share < 0.0 { "(the other way)".to_owned() } else { format!("({})", percent(share)) }
}

/// Returns a bar for a share of the difference.
fn bar(share: f64) -> String {
    let cells = (1..=BAR).filter(|cell| share * f64::from(BAR) + 0.5 >= f64::from(*cell));
    cells.map(|_| '\u{2588}').collect()
}

/// One unit and one number of decimals for all figures of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    pub(super) unit: &'static str,
    by: f64,
    decimals: usize,
}

impl Scale {
    /// Returns the scale in which the whole has three or four digits.
    pub(super) fn of(total: &MeanDifference) -> Self {
        let most_us = total.base.max(total.variant);
        let (unit, by) = match most_us {
            us if us < 1.0 => ("ns", 1e3),
            us if us < 1e4 => ("\u{b5}s", 1.0),
            us if us < 1e7 => ("ms", 1e-3),
            _ => ("s", 1e-6),
        };
        let most = most_us * by;
        Self { unit, by, decimals: usize::from(most < 10.0) + usize::from(most < 1_000.0) }
    }

    /// Returns a figure without its sign where it is 0.
    pub(super) fn plain(&self, us: f64) -> String {
        let decimals = self.decimals;
        let text = format!("{:.decimals$}", us * self.by);
        if text.contains(|c| matches!(c, '1'..='9')) { text } else { format!("{:.decimals$}", 0.0) }
    }

    /// Returns the scale with one more decimal: functions are small parts of the whole.
    pub(super) const fn finer(self) -> Self {
        Self { decimals: self.decimals + 1, ..self }
    }

    /// Returns a figure as it is shown, us.
    pub(super) fn rounded(&self, us: f64) -> f64 {
        let digits = 10_f64.powi(i32::try_from(self.decimals).unwrap_or(0));
        (us * self.by * digits).round() / digits / self.by
    }

    /// Returns an interval with signs; empty for none.
    pub(super) fn interval(&self, limits: Option<(f64, f64)>) -> String {
        let signed = |(low, high)| figure::limits(self.signed(low), self.signed(high));
        limits.map_or_else(String::new, signed)
    }

    /// Returns a figure with its sign.
    pub(super) fn signed(&self, us: f64) -> String {
        let text = self.plain(us);
        let is_positive = us > 0.0 && text.contains(|c| matches!(c, '1'..='9'));
        if is_positive { format!("+{text}") } else { text }
    }
}
