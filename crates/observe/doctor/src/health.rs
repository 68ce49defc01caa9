//! Health of a drive, from smartctl or nvme.

use model::{DriveHealth, Privilege};
use serde_json::Value;

use crate::outcome::with_privilege;
use crate::source::Source;

/// SATA attributes that count down from 100 as the SSD wears. Source: [smartmontools], drivedb.h.
const WEAR_ATTRIBUTES: [u64; 5] = [177, 202, 231, 232, 233];
/// What their names contain: of other drives the same numbers are temperatures and counts.
const WEAR_NAMES: [&str; 3] = ["Wear", "Life", "Endurance"];
/// SATA attributes of sectors that are or cannot be replaced: reallocated, pending, uncorrectable.
const ERROR_ATTRIBUTES: [u64; 4] = [5, 187, 197, 198];

/// Returns what the drive below the source's directory reports; `None` when it reports nothing.
///
/// Starts smartctl or nvme: some tens of milliseconds, outside of what is measured.
pub fn drive_health(source: &Source) -> Option<DriveHealth> {
    of(source).ok()
}

/// Returns the health of the device below the directory, or the reason why it is unknown.
pub(crate) fn of(source: &Source) -> Result<DriveHealth, String> {
    let name = source.disk()?.name;
    let device = format!("/dev/{name}");
    let smartctl = source.output("smartctl", &["--json", "--all", &device]);
    let refused = match smartctl.and_then(|text| parsed("smartctl", &text)) {
        Ok(found) => match of_smartctl(&found) {
            Some(health) => return Ok(health),
            None => {
                let message = &found["smartctl"]["messages"][0]["string"];
                let message = message.as_str().unwrap_or("no message");
                format!("smartctl reports no health of {device} ({message})")
            }
        },
        Err(reason) => reason,
    };
    let refused = with_privilege(refused, Privilege::DRIVE_HEALTH);
    if !name.starts_with("nvme") {
        return Err(refused);
    }
    let nvme = source.output("nvme", &["smart-log", "--output-format=json", &device]);
    let nvme = nvme.and_then(|text| parsed("nvme", &text));
    nvme.map(|found| of_nvme(&found)).map_err(|reason| format!("{refused}; {reason}"))
}

/// Returns the health in the JSON of smartctl. Source: [smartmontools], smartctl(8).
fn of_smartctl(found: &Value) -> Option<DriveHealth> {
    let is_failing = found["smart_status"]["passed"].as_bool().map(|passed| !passed);
    let log = &found["nvme_smart_health_information_log"];
    if log.is_object() {
        let health = of_log(log, ["percentage_used", "available_spare"]);
        let threshold = log["available_spare_threshold"].as_u64();
        return Some(DriveHealth { is_failing, spare_threshold_percent: threshold, ..health });
    }
    let table = found["ata_smart_attributes"]["table"].as_array()?;
    let of = |ids: &'static [u64]| {
        table.iter().filter(|one| one["id"].as_u64().is_some_and(|id| ids.contains(&id)))
    };
    let is_wear = |one: &&Value| {
        let name = one["name"].as_str().unwrap_or_default();
        WEAR_NAMES.iter().any(|part| name.contains(part))
    };
    let worn = of(&WEAR_ATTRIBUTES).filter(is_wear).filter_map(|one| one["value"].as_u64());
    // The drive's own statistics, since smartctl 7.4.
    let percent = |field: &str| found[field]["current_percent"].as_u64();
    // Attributes have been read: 0 errors is then a count, and none that are known is not.
    let errors: Vec<u64> =
        of(&ERROR_ATTRIBUTES).filter_map(|one| one["raw"]["value"].as_u64()).collect();
    Some(DriveHealth {
        wear_percent: percent("endurance_used")
            .or(worn.map(|left| 100_u64.saturating_sub(left)).max()),
        spare_percent: percent("spare_available"),
        media_errors: (!errors.is_empty()).then(|| errors.iter().sum()),
        is_failing,
        ..DriveHealth::default()
    })
}

/// Returns the health in the JSON of nvme-cli.
fn of_nvme(log: &Value) -> DriveHealth {
    let health = of_log(log, ["percent_used", "avail_spare"]);
    DriveHealth { spare_threshold_percent: log["spare_thresh"].as_u64(), ..health }
}

/// Returns the fields of a log page that both programs name alike, and those they do not.
///
/// Source: [NVM Express 1.4], section 5.14.1.2, SMART / Health Information.
fn of_log(log: &Value, [worn, spare]: [&str; 2]) -> DriveHealth {
    DriveHealth {
        wear_percent: log[worn].as_u64(),
        spare_percent: log[spare].as_u64(),
        spare_threshold_percent: None,
        media_errors: log["media_errors"].as_u64(),
        hot_minutes: log["warning_temp_time"].as_u64(),
        units_written: log["data_units_written"].as_u64(),
        is_failing: log["critical_warning"].as_u64().map(|bits| bits != 0),
    }
}

fn parsed(program: &str, text: &str) -> Result<Value, String> {
    serde_json::from_str(text)
        .map_err(|error| format!("the output of {program} is not JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn sata_attributes_count_down_and_their_errors_add_up() {
        let one = |id: u64, name: &str, value: u64, raw: u64| json!({"id": id, "name": name, "value": value, "raw": {"value": raw}});
        let table = [
            one(5, "Reallocated_Sector_Ct", 100, 2),
            one(177, "Wear_Leveling_Count", 5, 900),
            one(197, "Current_Pending_Sector", 100, 1),
            one(231, "Temperature_Celsius", 3, 41),
        ];
        let mut found = json!({"smart_status": {"passed": true},
            "ata_smart_attributes": {"table": table}});
        let health = of_smartctl(&found).unwrap();
        assert_eq!((health.wear_percent, health.media_errors), (Some(95), Some(3)));
        assert_eq!((health.is_failing, health.spare_percent), (Some(false), None));
        found["endurance_used"] = json!({"current_percent": 7});
        assert_eq!(of_smartctl(&found).unwrap().wear_percent, Some(7));
        assert_eq!(of_smartctl(&json!({})), None);
    }
}
