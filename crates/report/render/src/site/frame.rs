//! The frame of a page of the site: head, navigation, footer.

use maud::{DOCTYPE, Markup, html};
use model::visible;

/// Where a page stands, and what its host offers.
#[derive(Debug, Clone)]
pub struct Frame {
    /// Relative address of the root: empty, or `../` for each directory above the page.
    pub root: String,
    /// Whether the script is there.
    pub has_script: bool,
    /// What answers requests.
    pub host: PageHost,
}

/// What answers requests for pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageHost {
    /// Any web server: pages are files, and forms have no answer.
    Files,
    /// Assay, which reads the archive.
    Archive,
    /// Assay, which also starts and stops runs.
    Runs,
}

/// An entry of the navigation: its directory below the root and its text.
const AREAS: [(&str, &str); 4] =
    [("", "Archive"), ("history/", "History"), ("compare/", "Compare"), ("run/", "Run")];

impl Frame {
    /// Returns a page; `area` is the entry of the navigation that it belongs to.
    pub(crate) fn page(&self, title: &str, area: &str, body: &Markup) -> String {
        let page = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (title) }
                    // A browser would request it from the origin's root.
                    link rel="icon" href="data:,";
                    link rel="stylesheet" href=(self.to("report.css"));
                    @if self.has_script {
                        link rel="stylesheet" href=(self.to("assets/app.css"));
                        script src=(self.to("assets/app.js")) defer {}
                    }
                }
                body.site {
                    nav.site aria-label="Pages" {
                        strong { "Assay" }
                        @for (to, text) in AREAS.into_iter().filter(|(to, _)| self.has(to)) {
                            a href=(self.to(to)) aria-current=[(to == area).then_some("page")] { (text) }
                        }
                    }
                    (body)
                }
            }
        };
        visible(&page.into_string()).into_owned()
    }

    fn has(&self, area: &str) -> bool {
        match area {
            "run/" => self.host == PageHost::Runs,
            "compare/" => self.has_forms(),
            _ => true,
        }
    }

    /// Returns whether forms have an answer.
    pub(crate) fn has_forms(&self) -> bool {
        self.host != PageHost::Files
    }

    /// Returns the relative address of a place below the root.
    pub fn to(&self, place: &str) -> String {
        let address = format!("{}{place}", self.root);
        if address.is_empty() { "./".to_owned() } else { address }
    }
}
