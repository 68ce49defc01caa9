//! Optional variants: left out where their builds cannot be had, with the commands that add them.

use std::collections::BTreeSet;

use miette::Result;
use model::BuildRef;
use plan::Checked;

use super::requested_build::{self, store};
use crate::ui::Process;

/// Obtains a build, or checks that it can be obtained.
pub(crate) type Obtain = fn(&BuildRef, Process<'_>) -> Result<()>;

/// Checks that a build can be obtained, as far as that shows without network.
pub(super) const CHECK: Obtain =
    |build, process| requested_build::check(build, process.environment);
/// Obtains a build.
pub(super) const OBTAIN: Obtain = |build, Process { environment, ui }| {
    requested_build::artifact(build, environment, ui).map(drop)
};

/// The optional variants whose builds cannot be had.
pub(super) struct LeftOut {
    /// Their names.
    pub(super) variants: Vec<String>,
    /// One line with the command that installs what the builds need, and a line for each build that
    /// is unavailable for another reason.
    pub(super) lines: Vec<String>,
}

/// Returns the optional variants whose builds cannot be had.
pub(super) fn left_out(checked: &Checked, obtain: Obtain, process: Process<'_>) -> Result<LeftOut> {
    let (mut variants, mut lines, mut uninstalled) = (Vec::new(), Vec::new(), Vec::new());
    let mut packages = BTreeSet::new();
    for variant in checked.optional() {
        let Err(report) = obtain(&variant.build, process) else { continue };
        variants.push(variant.name.clone());
        match store(process.environment)?.missing_packages(&variant.build) {
            Some(names) => {
                uninstalled.push(variant.name.as_str());
                packages.extend(names.split(' ').map(str::to_owned));
            }
            None => lines.push(format!("left out  {}: {report}", variant.name)),
        }
    }
    if !uninstalled.is_empty() {
        let packages: Vec<_> = packages.into_iter().collect();
        lines.push(format!(
            "left out  {}: to add them, run `apt install {}`, then this command again",
            uninstalled.join(", "),
            packages.join(" ")
        ));
    }
    Ok(LeftOut { variants, lines })
}
