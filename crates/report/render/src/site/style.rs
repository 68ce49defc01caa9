//! The style sheet that the site shares with the static page.

use crate::html::PAGE_STYLE;
use crate::plot::STYLE;

/// Returns the style sheet of all pages of the site, without that of the script.
pub fn style_sheet() -> String {
    format!("{PAGE_STYLE}{STYLE}")
}
