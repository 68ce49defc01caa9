//! Fans that stand still.

use model::record::Severity;

use super::temperature::sensors;
use super::{Check, Probe};
use crate::outcome::Outcome;
use crate::source::Source;

pub(crate) static CHECK: Check = Check {
    code: "fans",
    name: "fans",
    severity: Severity::Note,
    why: "If a fan that should turn stands still, the machine heats up and slows down.",
    source: "[Linux hwmon]",
    ..Check::of(Probe::live(run))
};

fn run(source: &Source) -> Outcome {
    let fans = sensors(source, "fan");
    let speed = |(dir, fan): &(String, String)| source.number(format!("{dir}/{fan}_input"));
    let speeds: Vec<u64> = fans.iter().filter_map(speed).collect();
    let stopped = speeds.iter().filter(|rpm| **rpm == 0).count();
    match speeds.iter().max() {
        None => Outcome::unknown("the kernel reports no fans"),
        Some(rpm) if stopped == 0 => {
            Outcome::fine(format!("{} turn, up to {rpm} rpm", speeds.len()))
        }
        Some(_) => {
            let evidence = format!("{stopped} of {} fans do not turn", speeds.len());
            Outcome::finding(evidence.clone(), evidence)
                .fix("# check the fans, and their mode in the BIOS")
        }
    }
}
