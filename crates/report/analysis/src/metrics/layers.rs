//! CPU of a SQL server inside and outside of its storage engine.

use model::{ProfileTarget, Readings, StepRecord, metric};

use super::cpu::target_cpu;

/// Divides the server's CPU per operation by the share of its samples inside of the engine.
///
/// Absent without a CPU profile of the server, and for servers without pluggable engines.
pub(super) fn set(step: &StepRecord, metrics: &mut Readings) {
    let server = ProfileTarget::Server;
    let share = step.profile(server).and_then(|one| one.storage_engine_share);
    let cpu_us = target_cpu(step, server);
    let inside = share.zip(cpu_us).map(|(share, us)| share * us);
    metrics.set(metric::SERVER_STORAGE_ENGINE_CPU_US_PER_OP, inside);
    let outside = inside.zip(cpu_us).map(|(inside, us)| us - inside);
    metrics.set(metric::SERVER_SQL_LAYER_CPU_US_PER_OP, outside);
}

#[cfg(test)]
mod tests {
    use model::ProfileRecord;

    use super::*;
    use crate::step_metrics;
    use crate::testing::{DATA, profile, readings, step};

    #[test]
    fn both_layers_are_the_server_s_cpu_and_absent_without_a_profile() {
        let mut step = step(0, "l.i0");
        step.counters = readings(&[
            (metric::SERVER_CPU_USER_US, 3_000.0),
            (metric::SERVER_CPU_KERNEL_US, 1_000.0),
        ]);
        let layers = |step: &StepRecord| {
            let metrics = step_metrics(step, &DATA);
            let of = |metric| metrics.value(metric);
            let cpu = of(metric::SERVER_CPU_US_PER_OP).unwrap();
            let inside = of(metric::SERVER_STORAGE_ENGINE_CPU_US_PER_OP);
            inside
                .zip(of(metric::SERVER_SQL_LAYER_CPU_US_PER_OP))
                .map(|(i, o)| [i, o].map(|us| (100.0 * us / cpu).round()))
        };
        assert_eq!(layers(&step), None);
        let storage_engine_share = Some(0.25);
        step.profiles =
            vec![ProfileRecord { storage_engine_share, ..profile(ProfileTarget::Server) }];
        assert_eq!(layers(&step), Some([25.0, 75.0]));
        step.profiles[0].refusal = Some("no sample".to_owned());
        assert_eq!(layers(&step), None);
    }
}
