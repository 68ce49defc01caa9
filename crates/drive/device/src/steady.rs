//! Random writes in rounds until their rate is steady.

use model::{Bytes, SteadyLevel};
use stats::rounds::is_steady;

use crate::error::DeviceError;
use crate::fio::Fio;
use crate::job::{Job, Work, WriteTarget};

/// Length of a round, in seconds. Source: the write saturation test [SNIA 2013], a minute.
pub const ROUND_S: u64 = 60;

/// Most rounds of a level: what is not steady in four hours does not become so.
const MAX_ROUNDS: usize = 240;

/// Jobs that write at once.
///
/// Our choice: enough to keep a solid state drive busy, few enough for a small host.
const JOBS: u32 = 16;

/// The bytes that may still be written.
#[derive(Debug, Clone, Copy)]
pub struct WriteBudget {
    /// What is left.
    pub left: Bytes,
}

impl WriteBudget {
    /// Takes what was written.
    pub fn take(&mut self, bytes: Bytes) {
        self.left = Bytes(self.left.0.saturating_sub(bytes.0));
    }
}

/// Writes to a filled place in rounds, until their rate is steady or the budget is used up.
///
/// `level.written_bytes` already has the fill; `goes_on` is called before each round with the
/// level as far as it is known, and false ends it.
///
/// # Errors
/// Those of fio.
pub fn settle(
    fio: &Fio,
    target: WriteTarget<'_>,
    level: &mut SteadyLevel,
    budget: &mut WriteBudget,
    goes_on: &mut dyn FnMut(&SteadyLevel) -> bool,
) -> Result<(), DeviceError> {
    let WriteTarget { place, access, dir } = target;
    for seed in (1..).take(MAX_ROUNDS) {
        // Less than a request for each job is no round.
        if budget.left.0 < u64::from(JOBS) << 12 {
            level.ended = "the write limit is reached".to_owned();
            return Ok(());
        }
        if !goes_on(level) {
            level.ended = "interrupted".to_owned();
            return Ok(());
        }
        let work = Work::Round(level.round_s, budget.left);
        let sample = fio.run(&Job { place, access, work, jobs: JOBS, seed }, dir, None)?;
        let Some(write) = sample.write else {
            return Err(DeviceError::Fio("a round wrote nothing".to_owned()));
        };
        budget.take(Bytes(write.bytes));
        level.written_bytes = Bytes(level.written_bytes.0 + write.bytes);
        level.writes_per_s.push(write.per_s);
        if is_steady(&level.writes_per_s) {
            level.is_steady = true;
            level.ended = "steady".to_owned();
            return Ok(());
        }
    }
    level.ended = format!("not steady after {MAX_ROUNDS} rounds");
    Ok(())
}
