//! Rows and duration of typed steps, chosen for the machine.

use model::units::many;
use model::{Bytes, Durability, Experiment, Setting, StepInfo, StepRole, StopRule};

use crate::catalog::Machine;
use crate::cost::{DISK_PER_ROW, ROWS_PER_S, SERVER_ROWS_PER_S};
use crate::expand::DISK_FLOOR_BYTES;
use crate::experiment::{KEY_BYTES_DEFAULT, VALUE_BYTES_DEFAULT};
use crate::overrides::Overrides;
use crate::settings::{CLIENTS, DURATION, KEY_BYTES, MEMORY, RATE, VALUE_BYTES};
use crate::value::Levels;

/// Time that the load of the rows may take. Our choice: as long as the measurement.
const LOAD_S: u64 = 10;
/// CPUs at which loads reach their estimated speed; fewer CPUs share it with the client.
const CPUS_OF_ESTIMATES: u32 = 4;
/// Rows per second when each is synced to the device: a cloud disk's syncs.
const SYNCED_ROWS_PER_S: u64 = 500;
/// Share of memory that the rows may take: caches and page cache hold them, and so does a server.
const MEMORY_SHARE: u64 = 8;
/// Share of the usable disk that one run may take.
const DISK_SHARE: u64 = 4;
/// Fewest rows.
const ROWS_MIN: u64 = 1_000;
/// Time that all measured steps of one run may take, and the most of one step.
const MEASURED_S: u64 = 60;
const STEP_S_MAX: u64 = 10;
/// Levels that a search for the best number of clients tries, about.
const SEARCHED_LEVELS: u64 = 8;

/// Sizes chosen for a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Chosen {
    pub(crate) rows: u64,
    /// Seconds of a step that ends by duration; `None` when a rate needs its own.
    pub(crate) duration_s: Option<u64>,
}

impl Chosen {
    /// Chooses sizes so that load and measurement take well under two minutes.
    pub(crate) fn of(
        machine: Machine,
        overrides: &Overrides,
        has_server: bool,
        timed_steps: usize,
    ) -> Self {
        let key_bytes = overrides.value(KEY_BYTES).unwrap_or(KEY_BYTES_DEFAULT);
        let value_bytes = overrides.value(VALUE_BYTES).unwrap_or(VALUE_BYTES_DEFAULT);
        let row_bytes = u64::from(key_bytes) + u64::from(value_bytes);
        let is_synced = overrides.get(Setting::Durability.name()) == Some(Durability::Sync.name());
        let rows_per_s = match (is_synced, has_server) {
            (true, _) => SYNCED_ROWS_PER_S,
            (false, true) => SERVER_ROWS_PER_S,
            (false, false) => ROWS_PER_S,
        };
        let cpus = u64::from(machine.cpus.whole().min(CPUS_OF_ESTIMATES));
        let in_time = LOAD_S * rows_per_s * cpus / u64::from(CPUS_OF_ESTIMATES);
        let in_memory = memory(machine, overrides).0 / MEMORY_SHARE / row_bytes.max(1);
        let usable = machine.free_bytes.0.saturating_sub(DISK_FLOOR_BYTES.0);
        let on_disk = usable / DISK_SHARE / DISK_PER_ROW / row_bytes.max(1);
        let is_adaptive = overrides.value(CLIENTS) == Some(Levels::Adaptive);
        let steps = timed_steps as u64 * if is_adaptive { SEARCHED_LEVELS } else { 1 };
        let duration_s = (MEASURED_S / steps.max(1)).clamp(1, STEP_S_MAX);
        Self {
            rows: rounded(in_time.min(in_memory).min(on_disk).max(ROWS_MIN)),
            duration_s: overrides.get(RATE.key).is_none().then_some(duration_s),
        }
    }

    /// Describes the choice in a line.
    pub(crate) fn line(
        self,
        machine: Machine,
        overrides: &Overrides,
        experiment: &Experiment,
    ) -> String {
        let is_timed = |stop| matches!(stop, StopRule::Duration(_));
        let is_used = overrides.get(DURATION.key).is_none()
            && experiment.steps.iter().any(|step| is_timed(step.stop));
        let duration = self.duration_s.filter(|_| is_used);
        let duration = duration.map_or(String::new(), |s| format!(" and duration {s}s"));
        let rows = match self.rows {
            millions if millions % 1_000_000 == 0 => format!("{}M", millions / 1_000_000),
            rows => format!("{}k", rows / 1_000),
        };
        let Machine { cpus, free_bytes, .. } = machine;
        let memory = memory(machine, overrides);
        let cpus = many(cpus, "CPU");
        format!(
            "rows {rows}{duration} chosen for this machine: {cpus}, {memory} of memory, \
             {free_bytes} of free disk"
        )
    }
}

/// Returns whether a step is measured for a duration.
pub(crate) fn is_timed(info: &StepInfo) -> bool {
    info.share_of_rows.is_none() && info.role != StepRole::Maintain
}

/// Returns the memory, or its cap.
fn memory(machine: Machine, overrides: &Overrides) -> Bytes {
    let cap = overrides.value(MEMORY);
    cap.map_or(machine.memory_bytes, |cap| cap.min(machine.memory_bytes))
}

/// Rounds down to 1, 2 or 5 times a power of ten.
fn rounded(rows: u64) -> u64 {
    let power = 10_u64.pow(rows.max(1).ilog10());
    [5, 2].into_iter().map(|times| times * power).find(|round| *round <= rows).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use model::CpuCount;

    use super::*;
    use crate::tests::sample::MACHINE;

    fn chosen(machine: Machine, typed: &[(&str, &str)], has_server: bool) -> u64 {
        let overrides =
            typed.iter().fold(Overrides::default(), |all, (key, text)| all.with(key, text));
        Chosen::of(machine, &overrides, has_server, 1).rows
    }

    #[test]
    fn rows_fit_time_memory_and_disk() {
        assert_eq!(chosen(MACHINE, &[], false), 1_000_000);
        assert_eq!(chosen(Machine { cpus: CpuCount::of(2), ..MACHINE }, &[], false), 500_000);
        assert_eq!(chosen(MACHINE, &[], true), 200_000);
        assert_eq!(chosen(MACHINE, &[("durability", "sync")], false), 5_000);
        assert_eq!(chosen(MACHINE, &[("memory", "512MiB")], false), 100_000);
        assert_eq!(chosen(MACHINE, &[("value_bytes", "1000000")], false), 2_000);
        let full = Machine { free_bytes: Bytes(3 << 30), ..MACHINE };
        assert_eq!(chosen(full, &[], false), 100_000);
        let none = Machine { free_bytes: Bytes(0), ..MACHINE };
        assert_eq!(chosen(none, &[], false), ROWS_MIN);
    }

    #[test]
    fn duration_is_shared_by_the_steps_and_left_to_a_rate() {
        let duration = |steps, typed: &[(&str, &str)]| {
            let overrides =
                typed.iter().fold(Overrides::default(), |all, (key, text)| all.with(key, text));
            Chosen::of(MACHINE, &overrides, false, steps).duration_s
        };
        assert_eq!(
            [duration(0, &[]), duration(1, &[]), duration(12, &[])],
            [Some(10), Some(10), Some(5)]
        );
        assert_eq!(duration(1, &[("clients", "adaptive")]), Some(7));
        assert_eq!(duration(1, &[("rate", "5k/s")]), None);
    }
}
