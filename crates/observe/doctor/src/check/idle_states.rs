//! Deep idle states of the CPU (C-states).

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "idle_states",
    name: "CPU idle states",
    severity: Severity::Note,
    why: "Waking from a deep idle state adds latency to requests at low load, but not at high \
          load.",
    source: "[Linux cpuidle]",
    ..Check::of(Probe::in_manifests(run))
};

/// Latency from which a state is deep, us: about that of one read of an SSD. Our choice.
const DEEP_US: u64 = 50;

fn run(source: &Source) -> Outcome {
    let dir = "/sys/devices/system/cpu/cpu0/cpuidle";
    let state = |name: String| {
        let file = |file: &str| source.read(format!("{dir}/{name}/{file}"));
        let is_off = file("disable").is_some_and(|text| text != "0");
        let latency_us: u64 = file("latency")?.parse().ok()?;
        (!is_off).then_some((latency_us, file("name").unwrap_or(name)))
    };
    let deepest = source.names(dir).into_iter().filter_map(state).max();
    match deepest {
        None => Outcome::unknown("the kernel reports no idle states, as in most guests"),
        Some((us, name)) if us <= DEEP_US => Outcome::fine(format!("{name}, {us} us")),
        Some((us, name)) => {
            let evidence = format!("waking from {name} takes {us} us");
            Outcome::finding(format!("{name}, {us} us"), evidence)
                .fix(format!("cpupower idle-set --disable-by-latency {DEEP_US}"))
                .undo("cpupower idle-set --enable-all")
        }
    }
}
