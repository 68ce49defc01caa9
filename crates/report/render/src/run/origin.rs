//! The load and the drive of one run, in sentences.

use model::{Bytes, DriveHealth, DriveSpan, RunRecord};

/// Bytes of a unit that drives count. Source: [NVM Express 1.4], section 5.14.1.2.
const UNIT_BYTES: u64 = 512_000;

/// Returns the load that a run began from; `None` when it loaded for itself alone.
pub(super) fn load(run: &RunRecord) -> Option<String> {
    let load = run.load.as_ref()?;
    let maker = match load.made_by == run.id {
        true => "which this run saved".to_owned(),
        false => format!("loaded by {}", load.made_by),
    };
    Some(format!(
        "load: snapshot {}, {maker}; {} restored in {} ({})",
        load.snapshot,
        load.bytes,
        load.took_ns,
        load.transfer.name()
    ))
}

/// Returns what the drive counted over a run; `None` where it reports nothing.
pub(super) fn drive(drive: &DriveSpan) -> Option<String> {
    let written = drive.growth(|health| health.units_written);
    let written = written.map(|units| format!("{} written", Bytes(units * UNIT_BYTES)));
    let grown = |of: fn(&DriveHealth) -> Option<u64>, name: &str| {
        drive.growth(of).map(|grown| format!("{grown} {name}"))
    };
    let worn = drive.after.as_ref().and_then(|after| after.wear_percent);
    let known: Vec<_> = [
        written,
        grown(|health| health.media_errors, "media errors"),
        grown(|health| health.hot_minutes, "minutes too hot"),
        worn.map(|percent| format!("{percent} % worn")),
    ]
    .into_iter()
    .flatten()
    .collect();
    (!known.is_empty()).then(|| format!("the drive's own account: {}", known.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_drive_s_growth_is_shown_and_what_it_does_not_report_is_left_out() {
        let health = |units_written, wear_percent| DriveHealth {
            units_written,
            wear_percent,
            ..DriveHealth::default()
        };
        let (before, after) = (health(Some(10), None), Some(health(Some(30), Some(7))));
        let text = drive(&DriveSpan { before: before.clone(), after });
        assert_eq!(text.unwrap(), "the drive's own account: 9.77 MiB written, 7 % worn");
        assert_eq!(drive(&DriveSpan { before, after: None }), None);
    }
}
