//! The switch of turbo boost.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "boost",
    name: "CPU boost",
    severity: Severity::Warning,
    why: "A boosted clock depends on heat and on the number of busy cores, so results vary with \
          the time of day.",
    source: "[Callaghan 2022-10-24]",
    ..Check::of(Probe::in_manifests(run))
};

/// Intel's switch: 1 is off.
const NO_TURBO: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
/// The generic switch: 1 is on.
const BOOST: &str = "/sys/devices/system/cpu/cpufreq/boost";

fn run(source: &Source) -> Outcome {
    let intel = source.read(NO_TURBO).map(|text| (text != "1", NO_TURBO, "1", "0"));
    let generic = || source.read(BOOST).map(|text| (text == "1", BOOST, "0", "1"));
    match intel.or_else(generic) {
        None => Outcome::unknown("the kernel has no boost switch, as in most guests"),
        Some((false, ..)) => Outcome::fine("off"),
        Some((true, path, off, on)) => {
            Outcome::finding("on", "the CPU may clock above its base frequency")
                .write(path, off, on)
        }
    }
}
