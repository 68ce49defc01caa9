//! The section on CPU profiles: flame graphs, and the profiles that cannot be read.

use crate::document::Part;
use crate::flame;
use crate::input::{Compared, ReportInput};
use crate::plot::Picture;

pub(crate) use crate::flame::TITLE;

/// Returns the flame graphs, then each damaged profile with its reason.
pub(crate) fn section(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let damage = input.damaged_profiles.iter();
    let damage = damage.map(|reason| Part::Text(format!("Left out: {reason}")));
    flame::section(input, compared).into_iter().chain(damage).collect()
}

/// Returns the pictures among parts, those of folded parts too.
pub(crate) fn pictures(parts: &[Part]) -> Vec<&Picture> {
    let mut found = Vec::new();
    for part in parts {
        if let Part::Picture(picture) = part {
            found.push(picture);
        } else if let Part::Folded(_, parts) = part {
            found.extend(pictures(parts));
        }
    }
    found
}
