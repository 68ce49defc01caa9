//! Temperatures near their limits.

use model::record::Severity;

use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "temperature",
    name: "temperatures",
    severity: Severity::Warning,
    why: "Hot CPUs and drives slow themselves down.",
    source: "[Linux hwmon]",
    ..Check::of(Probe::live(run))
};

/// Sensors report thousandths.
const MILLI: i64 = 1_000;
/// Distance to the limit at which it is reported, thousandths of a degree. Our choice.
const NEAR: i64 = 10_000;

fn run(source: &Source) -> Outcome {
    let mut hottest: Option<(i64, String)> = None;
    for (dir, sensor) in sensors(source, "temp") {
        let of = |what: &str| source.read(format!("{dir}/{sensor}_{what}"))?.parse::<i64>().ok();
        let limit = of("max").or_else(|| of("crit")).filter(|limit| *limit > 0);
        let (Some(now), Some(limit)) = (of("input"), limit) else { continue };
        let name = source.read(format!("{dir}/name")).unwrap_or_else(|| dir.clone());
        let text = format!("{name} {sensor} {} C of {} C", now / MILLI, limit / MILLI);
        if hottest.as_ref().is_none_or(|(left, _)| limit - now < *left) {
            hottest = Some((limit - now, text));
        }
    }
    match hottest {
        None => Outcome::unknown(
            "no temperature sensor with a limit was found (drivers: \
                                  sensors-detect)",
        ),
        Some((left, text)) if left > NEAR => Outcome::fine(text),
        Some((_, text)) => Outcome::finding(
            text.clone(),
            format!(
                "a sensor is near its limit: \
                                                                   {text}"
            ),
        )
        .fix("# cool the machine, raise the speed of its fans, or lower the power limit"),
    }
}

/// Returns directory and name of each sensor of a kind: `temp1`, `fan2`.
pub(super) fn sensors(source: &Source, kind: &str) -> Vec<(String, String)> {
    let root = "/sys/class/hwmon";
    let dirs = source.names(root).into_iter().map(|name| format!("{root}/{name}"));
    let of = |dir: String| {
        let names = source.names(&dir).into_iter();
        let inputs = names.filter_map(|name| Some(name.strip_suffix("_input")?.to_owned()));
        let own = inputs.filter(|name| name.starts_with(kind));
        own.map(|name| (dir.clone(), name)).collect::<Vec<_>>()
    };
    dirs.flat_map(of).collect()
}
