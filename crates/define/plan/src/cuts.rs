//! Simulated crashes of every variant: the table `[durability]`.

use model::{CutLevel, CutPlan, Experiment, Survivors};
use reader::error::{PlanError, refuse};

use crate::settings::{
    CUT_CLIENTS, CUT_LEVELS, CUTS, DSN, FAULT, FILE_SYSTEM, NAME, STRICT, SURVIVORS,
};
use crate::spec::File;

/// Default number of cuts. Our choice: without a loss they bound it below 3 %.
const CUTS_DEFAULT: u32 = 100;

/// Returns the cuts that the file wants, if any.
///
/// # Errors
/// What an experiment with cuts cannot have.
pub(crate) fn cuts(file: &File, experiment: &Experiment) -> Result<Option<CutPlan>, PlanError> {
    let Some(table) = &file.durability else { return Ok(None) };
    if file.is_device {
        let remedy = "leave out [durability], or write a benchmark of engines";
        return refuse(table.place.clone(), "[durability] does not apply to storage", remedy);
    }
    if experiment.hosts.is_some() {
        let remedy = "leave out [durability], and cut the variants on one machine";
        return refuse(table.place.clone(), "[durability] does not apply with [hosts]", remedy);
    }
    let running = experiment.variants.iter().find(|variant| variant.dsn.is_some());
    if let Some(variant) = running {
        let of_file = file.variants.iter().find(|table| table.text(NAME) == variant.name);
        return refuse(
            of_file.map_or_else(|| table.place.clone(), |it| it.place_of(DSN)),
            format!(
                "variant {}: a running server is not cut: its data would be lost",
                variant.name
            ),
            "write `engine` with a version, which Assay starts, or leave out [durability]",
        );
    }
    let cuts = table.value(CUTS).unwrap_or(CUTS_DEFAULT);
    let clients = table.value(CUT_CLIENTS).unwrap_or(1);
    for (key, value, most) in
        [(&CUTS, cuts, CutPlan::CUTS_MAX), (&CUT_CLIENTS, clients, CutPlan::CLIENTS_MAX)]
    {
        if value > most {
            let why = format!("{value} {} are too many for simulated crashes", key.key);
            return refuse(table.place_of(key), why, format!("give at most {most}"));
        }
    }
    let plan = CutPlan {
        cuts,
        levels: table.value(CUT_LEVELS).unwrap_or_else(|| vec![CutLevel::Process, CutLevel::File]),
        survivors: table.value(SURVIVORS).unwrap_or(Survivors::Nothing),
        is_strict: table.value(STRICT) == Some(true),
        fault: table.value(FAULT),
        file_system: table.value(FILE_SYSTEM).unwrap_or_default(),
        clients,
    };
    match plan.unused() {
        Some((key, level)) => refuse(
            table.by_key(key).map_or_else(|| table.place.clone(), |it| it.place.clone()),
            format!("`{key}` has no effect at the levels of this experiment"),
            format!("add \"{level}\" to `levels`, or leave out `{key}`"),
        ),
        None => Ok(Some(plan)),
    }
}
