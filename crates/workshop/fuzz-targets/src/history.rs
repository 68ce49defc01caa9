//! Target of imported histories.

use analysis::history::{StudyOptions, read_file, study};
use render::{Format, HistoryInput, Report, Style, plot_history};
use stats::change::STRICTNESS;

/// A history in CSV or JSON.
pub(crate) fn history(data: &[u8]) {
    let options = StudyOptions { min_effect: 0.02, strictness: STRICTNESS, since: None };
    match read_file(data).and_then(|histories| study(histories, &options)) {
        Ok(study) => {
            let input = HistoryInput { study: &study, gathered: None };
            for format in Format::ALL {
                input.render(format, Style::default());
            }
            plot_history(&input);
        }
        Err(error) => drop(error.to_string()),
    }
}
