//! Pauses, retries and the limit of a procedure's calls.

use model::Nanos;
use model::limits::{ATTEMPTS_MAX, PAUSE_MAX_MS, RETRY_MAX, WAIT_MAX_MS};
use model::sql::{CallPolicy, Retry};
use reader::error::{PlanError, refuse};
use reader::syntax::{Fields, Node};

use crate::names::Names;
use crate::procedure::Written;

impl<'a> Names<'a> {
    /// Returns how a procedure is called.
    pub(super) fn policy(&self, written: &Written<'a>) -> Result<CallPolicy, PlanError> {
        let wait = |key: &str, least| {
            written.get(key).map(|node| self.wait(node, (least, WAIT_MAX_MS), key)).transpose()
        };
        let calls = written.get("calls").map(|node| self.number(node, 1, "calls"));
        Ok(CallPolicy {
            calls: calls.transpose()?.unwrap_or(0),
            retry: written.get("retry").map(|node| self.retry(node)).transpose()?,
            keying: wait("keying_ms", 0)?.unwrap_or_default(),
            think: wait("think_ms", 0)?.unwrap_or_default(),
            limit: wait("limit_ms", 1)?,
        })
    }

    fn retry(&self, node: &'a Node<'a>) -> Result<Retry, PlanError> {
        let keys = ["attempts", "pause_ms", "pause_max_ms"];
        let fields = Fields::of(node, "a retry", &keys)?;
        let attempts = (2, ATTEMPTS_MAX.into());
        let attempts = self.number_within(fields.required("attempts")?, attempts, "attempts")?;
        let range = (0, PAUSE_MAX_MS);
        let pause = self.wait(fields.required("pause_ms")?, range, "pause_ms")?;
        let pause_max = match fields.get("pause_max_ms") {
            Some(node) => {
                let most = self.wait(node, range, "pause_max_ms")?;
                if most < pause {
                    return Err(PlanError::here(node.span(), "`pause_max_ms` is below `pause_ms`"));
                }
                most
            }
            None => Nanos::from_millis(PAUSE_MAX_MS),
        };
        let retry = Retry { attempts, pause, pause_max };
        let all = retry.all_pauses();
        if all > RETRY_MAX {
            let why = format!("the pauses of the retries sum up to {all}");
            let remedy = format!(
                "use fewer attempts or a smaller `pause_max_ms`: the pauses may take {RETRY_MAX}"
            );
            return refuse(node.span(), why, remedy);
        }
        Ok(retry)
    }

    fn wait(&self, node: &'a Node<'a>, range: (i64, u64), what: &str) -> Result<Nanos, PlanError> {
        Ok(Nanos::from_millis(self.number_within(node, range, what)?))
    }
}
