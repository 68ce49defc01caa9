//! The steps by name.

use model::{Arrivals, DataShape, Direction, Load, OpenLoad, Pace, Pacing, Rate, Step, StepInfo};

use super::recipe::{Recipe, Stage};
use super::steps::STEPS;
use crate::generator::WorkloadError;
use crate::request::Presence;
use crate::stream::Action;

/// Returns every step a benchmark may name.
pub fn catalog() -> Vec<StepInfo> {
    STEPS.iter().map(Recipe::info).collect()
}

/// Returns the step of that name.
///
/// # Errors
/// [`WorkloadError::UnknownStep`], which lists the names there are.
pub(crate) fn find(name: &str) -> Result<&'static Recipe, WorkloadError> {
    STEPS.iter().find(|recipe| recipe.name == name).ok_or_else(|| {
        let known: Vec<_> = STEPS.iter().map(|recipe| recipe.name).collect();
        WorkloadError::UnknownStep(name.to_owned(), known.join(", "))
    })
}

/// Returns the stages after the step's clients; empty for most steps.
pub fn stages(step: &str) -> &'static [Stage] {
    find(step).map_or(&[], |recipe| recipe.stages)
}

/// Returns whether the step reads ranges downwards.
pub fn reads_downwards(step: &str) -> bool {
    let clients = find(step).ok().and_then(|recipe| recipe.clients);
    clients.is_some_and(|pattern| pattern.action == Action::Scan(Direction::Reverse))
}

/// Returns which rows are present after `step` has run to its end.
///
/// An empty engine begins with [`Presence::Some`]. A step that ended early leaves
/// [`Presence::Some`] too; the caller decides.
pub fn presence_after(step: &str, before: Presence) -> Presence {
    find(step).map_or(before, |recipe| recipe.leaves.unwrap_or(before))
}

/// Returns the load of the background writers; `None` without any.
///
/// The rate limit counts bytes of keys and values. Without a limit the writer is closed-loop.
pub fn writer_load(step: &Step, data: &DataShape) -> Option<Load> {
    let recipe = find(&step.name).ok().filter(|recipe| recipe.has_writer)?;
    debug_assert!(recipe.clients.is_some(), "a writer runs with clients");
    Some(match step.writer_bytes_per_s {
        Some(rate) => Load::Open(OpenLoad {
            rate: Rate::constant(rate.0 as f64 / data.row_bytes() as f64),
            pace: Pace { arrivals: Arrivals::Constant, pacing: Pacing::Auto },
        }),
        None => Load::Closed,
    })
}

#[cfg(test)]
mod tests {
    use model::{Bytes, Nanos, OpKind, StepRole, StopRule};

    use super::*;
    use crate::generator::Group;

    #[test]
    fn names_are_unique_and_known() {
        let names: Vec<_> = catalog().into_iter().map(|info| info.name.into_owned()).collect();
        let expected = "fillseq fillrandom filluniquerandom overwrite overwritesome \
            overwriteandwait deleterandom readrandom readmissing multireadrandom fwdrange revrange \
            partialupdate fieldread append readseqno readwhilewriting fwdrangewhilewriting \
            revrangewhilewriting ycsb-a ycsb-b ycsb-c ycsb-d ycsb-e ycsb-f settle compact";
        assert_eq!(names, expected.split_whitespace().collect::<Vec<_>>());
    }

    #[test]
    fn every_step_declares_its_needs_and_its_end() {
        for info in catalog() {
            let is_maintenance = info.role == StepRole::Maintain;
            assert_eq!(info.needs.is_empty(), is_maintenance, "{}", info.name);
            assert_eq!(is_maintenance, !stages(&info.name).is_empty() && info.needs.is_empty());
            let writes = info.needs.iter().any(|kind| kind.is_write());
            let may_write = !matches!(info.role, StepRole::Read | StepRole::Maintain);
            assert_eq!(writes, may_write, "{}", info.name);
            assert_eq!(info.role == StepRole::Load, info.share_of_rows == Some(1.0));
            assert!(!info.about.is_empty() && !info.about.ends_with('.'), "{}", info.name);
            assert!(!info.about.contains("  "), "{}", info.about);
        }
    }

    #[test]
    fn readers_with_a_writer_need_both_kinds() {
        let recipe = find("fwdrangewhilewriting").unwrap();
        let info = recipe.info();
        assert_eq!(info.needs, [OpKind::Scan, OpKind::Put].into());
        assert_eq!(recipe.kinds(Group::Clients), [OpKind::Scan].into());
        assert_eq!(recipe.kinds(Group::Writers), [OpKind::Put].into());
        assert!(info.has_writer && info.share_of_rows.is_none());
    }

    #[test]
    fn presence_follows_the_fills_and_the_deletes() {
        let after = |steps: &[&str]| {
            steps.iter().fold(Presence::Some, |before, step| presence_after(step, before))
        };
        assert_eq!(after(&["fillseq", "settle", "overwrite", "readrandom"]), Presence::All);
        assert_eq!(after(&["filluniquerandom"]), Presence::All);
        assert_eq!(after(&["fillrandom", "overwritesome"]), Presence::Some);
        assert_eq!(after(&["fillseq", "deleterandom", "readrandom"]), Presence::Some);
    }

    #[test]
    fn the_writer_s_rate_counts_keys_and_values() {
        let data = DataShape { rows: 10, key_bytes: 20, value_bytes: 400, compressible_to: 0.5 };
        let step = |name: &str, rate| Step {
            writer_bytes_per_s: rate,
            ..Step::new(name, StopRule::Duration(Nanos::SECOND))
        };
        let limited = step("readwhilewriting", Some(Bytes(2_100_000)));
        let Some(Load::Open(open)) = writer_load(&limited, &data) else {
            panic!("a limited writer")
        };
        assert_eq!(open.rate, Rate::constant(5000.0));
        assert_eq!(writer_load(&step("readwhilewriting", None), &data), Some(Load::Closed));
        assert_eq!(writer_load(&step("readrandom", Some(Bytes(1))), &data), None);
    }

    #[test]
    fn settling_flushes_before_it_compacts() {
        let names: Vec<_> = stages("settle").iter().map(|stage| stage.name()).collect();
        assert_eq!(names, ["clean", "flush", "wait_idle", "compact_level0", "wait_idle"]);
        assert_eq!(stages("overwriteandwait"), [Stage::WaitIdle]);
        assert!(stages("readrandom").is_empty() && stages("nonsense").is_empty());
    }

    #[test]
    fn roles_are_those_of_the_model() {
        for info in catalog() {
            let step = Step::new(&*info.name, StopRule::Operations(1));
            assert_eq!(step.role(None), info.role, "{}", info.name);
        }
    }
}
