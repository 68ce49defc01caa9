//! Length of campaigns.

/// Variable that sets the length of every campaign: `long`, or a sample without it.
const CAMPAIGN: &str = "ASSAY_CAMPAIGN";

/// Returns whether campaigns run at full length.
pub(crate) fn is_long() -> bool {
    match variable(CAMPAIGN).as_deref() {
        None | Some("") => false,
        Some("long") => true,
        Some(other) => panic!("{CAMPAIGN}={other} is no length: set it to `long`, or leave it out"),
    }
}

/// Returns the number of cases: of a sample, or of the long form.
pub(crate) fn cases(sample: u64, long: u64) -> u64 {
    if is_long() { long } else { sample }
}

/// Returns the value of a variable, if it is set.
#[expect(clippy::disallowed_methods, reason = "the length of a campaign is configurable")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}
