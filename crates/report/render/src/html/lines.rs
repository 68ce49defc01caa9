//! Lines of public reports, folded below the costs.

use crate::document::Part;
use crate::input::{Compared, ReportInput};
use crate::lines::{Lines, folded_lines};

/// Returns the report of the experiment's kind, then the device's; those without a value are left
/// out.
///
/// The names of all insert benchmarks begin with their report's.
pub(super) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let experiment = &input.manifest.plan.experiment;
    let own = match &experiment.application {
        Some(application) => {
            application.name.starts_with(Lines::Ibench.name()).then_some(Lines::Ibench)
        }
        None => experiment.device.is_none().then_some(Lines::Rocksdb),
    };
    let all = own.into_iter().chain([Lines::Iostat]);
    all.filter_map(|lines| folded_lines(compared, lines, input.manifest.host.cpus)).collect()
}
