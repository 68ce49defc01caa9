//! Thermal throttling of the CPU since the boot.

use model::record::Severity;
use model::units::many;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "throttled",
    name: "CPU throttling by heat",
    severity: Severity::Warning,
    why: "A CPU that was throttled because of heat will be throttled again under the same load.",
    source: "[Linux sysfs-cpu]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let count = |cpu: &String| {
        let of =
            |kind: &str| source.number(format!("{cpu}/thermal_throttle/{kind}_throttle_count"));
        Some(of("core")?.max(of("package").unwrap_or(0)))
    };
    let counts: Vec<u64> = source.cpus().iter().filter_map(count).collect();
    match counts.iter().max() {
        None => Outcome::unknown("the kernel does not count throttling, as on AMD and in guests"),
        Some(0) => Outcome::fine("never"),
        Some(most) => {
            let times = many(*most, "time");
            let evidence = format!("heat throttled a CPU {times} since boot");
            Outcome::finding(times, evidence)
                .fix("# cool the machine; switch boost off (check boost)")
        }
    }
}
