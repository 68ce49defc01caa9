//! A064: the drive reported errors or heat in a run.

use model::{DriveHealth, DriveSpan};

use super::{Checks, Observation, Rule};
use crate::context::RunContext;

pub(crate) static RULE: Rule = Rule {
    code: "A064",
    name: "drive in trouble",
    trigger: "during a run, the drive counted media errors or minutes above its warning \
              temperature, or the drive reported that it is failing",
    why: "A hot drive slows down, and a drive that corrects errors answers late. Such a run \
          measures the drive's state and not the engine.",
    remedy: "cool or replace the drive (assay doctor shows its state), and repeat",
    source: "[NVM Express 1.4], section 5.14.1.2, SMART / Health Information",
    ..Rule::of(Checks { run: Some(run), ..Checks::NONE })
};

/// A counter of a drive.
type Counter = fn(&DriveHealth) -> Option<u64>;

/// Counters that should not grow, in words.
const COUNTERS: [(Counter, &str); 2] = [
    (|health| health.media_errors, "media errors"),
    (|health| health.hot_minutes, "minutes above its warning temperature"),
];

fn run(context: &RunContext<'_>) -> Vec<Observation> {
    let Some(drive) = &context.run.drive else { return Vec::new() };
    let growth = |(counter, name): &(Counter, &str)| {
        let grown = drive.growth(counter).filter(|grown| *grown > 0)?;
        Some(format!("the drive counted {grown} {name}"))
    };
    let failing = is_failing(drive).then(|| "the drive reports that it is failing".to_owned());
    let evidence: Vec<String> = COUNTERS.iter().filter_map(growth).chain(failing).collect();
    if evidence.is_empty() { Vec::new() } else { vec![Observation::new(evidence.join("; "))] }
}

fn is_failing(drive: &DriveSpan) -> bool {
    drive.after.as_ref().unwrap_or(&drive.before).is_failing == Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{experiment, in_runs, runs};

    fn with(after: DriveHealth) -> Vec<String> {
        let before = DriveHealth {
            media_errors: Some(2),
            hot_minutes: Some(10),
            is_failing: Some(false),
            ..DriveHealth::default()
        };
        let mut all = runs(&["a"]);
        all.truncate(1);
        all[0].drive = Some(Box::new(DriveSpan { before, after: Some(after) }));
        let found = in_runs(&RULE, &experiment(&["a"]), &all);
        found.into_iter().map(|(_, evidence)| evidence).collect()
    }

    #[test]
    fn growing_counters_and_a_failing_drive_are_reported() {
        let same = DriveHealth {
            media_errors: Some(2),
            hot_minutes: Some(10),
            is_failing: Some(false),
            ..DriveHealth::default()
        };
        assert_eq!(with(same.clone()), [""; 0]);
        assert_eq!(with(DriveHealth::default()), [""; 0], "it is no longer reported");
        let found = with(DriveHealth { media_errors: Some(5), ..same.clone() });
        assert!(found[0].contains("the drive counted 3 media errors"), "{found:?}");
        let found = with(DriveHealth { hot_minutes: Some(12), is_failing: Some(true), ..same });
        let both = "the drive counted 2 minutes above its warning temperature; the drive reports \
                    that it is failing";
        assert!(found[0].contains(both), "{found:?}");
    }
}
