//! What a server reports about the statements of a step.

use serde::{Deserialize, Serialize};

use crate::number::read_count;

/// Totals of a statement as its server counts them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementTotals {
    /// Executions.
    #[serde(deserialize_with = "read_count")]
    pub calls: u64,
    /// Time in the server, us.
    pub server_us: f64,
    /// Rows returned or changed.
    #[serde(deserialize_with = "read_count")]
    pub rows: u64,
    /// Rows read to find them; `None` where the server does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub examined: Option<u64>,
    /// Pages accessed, cached or read; `None` where the server does not count them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<u64>,
}

impl StatementTotals {
    /// Adds those of the same statement on another table.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let sum = |one: Option<u64>, other: Option<u64>| Some(one? + other?);
        Self {
            calls: self.calls + other.calls,
            server_us: self.server_us + other.server_us,
            rows: self.rows + other.rows,
            examined: sum(self.examined, other.examined),
            pages: sum(self.pages, other.pages),
        }
    }

    /// Returns the growth since earlier totals; `None` when the server has forgotten some.
    pub fn since(&self, earlier: &Self) -> Option<Self> {
        let less = |now: Option<u64>, then: Option<u64>| now?.checked_sub(then?);
        Some(Self {
            calls: self.calls.checked_sub(earlier.calls)?,
            server_us: self.server_us - earlier.server_us,
            rows: self.rows.checked_sub(earlier.rows)?,
            examined: less(self.examined, earlier.examined),
            pages: less(self.pages, earlier.pages),
        })
    }
}

/// One statement as its server sees it at one moment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementState {
    /// Position among the procedure's statements, from 1.
    pub number: u32,
    /// How the server would execute it: access paths without values and estimates.
    pub plan: Option<String>,
    /// The plan as the server reports it, executed where it only reads.
    pub text: String,
    /// Totals since the server's start.
    pub totals: Option<StatementTotals>,
    /// Identifiers of the entries of the server's statistics that the totals sum up.
    pub entries: Vec<String>,
}

/// One statement of a procedure in a step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementRecord {
    /// The procedure's name.
    pub procedure: String,
    /// Position among its statements, from 1.
    pub number: u32,
    /// Access paths when the step began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_before: Option<String>,
    /// Access paths when it had ended; absent where they are those of its beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_after: Option<String>,
    /// Totals of the step, warm-up included; absent where the server counted no call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<StatementTotals>,
    /// Other statements whose calls the totals include: the server counts them as one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shared_with: Vec<String>,
}

impl StatementRecord {
    /// Returns the record of a statement from its states before and after a step.
    pub fn of(procedure: &str, before: Option<StatementState>, after: StatementState) -> Self {
        let earlier = before.as_ref().and_then(|before| before.totals).unwrap_or_default();
        let plan_before = before.and_then(|before| before.plan);
        let grown = |totals: StatementTotals| {
            let earlier = StatementTotals {
                examined: earlier.examined.or(totals.examined.map(|_| 0)),
                pages: earlier.pages.or(totals.pages.map(|_| 0)),
                ..earlier
            };
            totals.since(&earlier).filter(|grown| grown.calls > 0)
        };
        Self {
            procedure: procedure.to_owned(),
            number: after.number,
            plan_after: after.plan.filter(|plan| plan_before.as_ref() != Some(plan)),
            plan_before,
            totals: after.totals.and_then(grown),
            shared_with: Vec::new(),
        }
    }

    /// Returns the procedure's name and the statement's number, as messages name it.
    pub fn name(&self) -> String {
        format!("{} {}", self.procedure, self.number)
    }

    /// Returns the access paths at the step's end.
    pub fn last_plan(&self) -> Option<&str> {
        self.plan_after.as_deref().or(self.plan_before.as_deref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(plan: &str, calls: u64) -> StatementState {
        let totals =
            StatementTotals { calls, server_us: 2.0, pages: Some(calls), ..Default::default() };
        StatementState {
            number: 1,
            plan: Some(plan.to_owned()),
            totals: Some(totals),
            ..Default::default()
        }
    }

    #[test]
    fn a_step_has_the_growth_of_totals_and_a_plan_that_changed() {
        let same = StatementRecord::of("read", Some(state("Seq Scan", 3)), state("Seq Scan", 10));
        assert_eq!((same.plan_after.as_deref(), same.last_plan()), (None, Some("Seq Scan")));
        let totals = same.totals.unwrap();
        assert_eq!((totals.calls, totals.pages, totals.examined), (7, Some(7), None));
        let other = StatementRecord::of("read", Some(state("Seq Scan", 3)), state("Index Scan", 3));
        assert_eq!((other.last_plan(), other.totals), (Some("Index Scan"), None), "never called");
        let first = StatementRecord::of("read", None, state("Seq Scan", 4));
        assert_eq!(first.totals.unwrap().calls, 4);
    }
}
