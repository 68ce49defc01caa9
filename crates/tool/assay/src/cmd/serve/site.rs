//! The addresses of the site.

use archive::Results;
use render::site::{Frame, message_page, style_sheet};
use serve::{Answer, Feed, File, Request, Site};

use super::feed::RunFeed;
use super::shelf::{Selected, Shelf};
use crate::environment::Environment;
use crate::ui::Ui;

/// The site of an archive.
pub(super) struct Dashboard {
    pub(super) environment: Environment,
    pub(super) results: Results,
    pub(super) shelf: Shelf,
    pub(super) ui: Ui,
}

impl Dashboard {
    /// Returns the site of the environment's archive.
    pub(super) fn new(environment: Environment, ui: Ui) -> Self {
        let results = Results::at(&environment.results);
        Self { environment, results, shelf: Shelf::default(), ui }
    }

    /// Returns the frame of the page of a request.
    pub(super) fn frame(&self, request: &Request) -> Frame {
        Frame { root: request.root(), has_script: serve::has_scripts() }
    }
}

/// Returns a file that the browser shows, or saves under a name.
pub(super) fn file(media_type: &'static str, text: String, name: Option<String>) -> Answer {
    Answer::File(File { media_type, bytes: text.into_bytes(), download_name: name })
}

impl Site for Dashboard {
    fn answer(&self, request: &Request) -> Answer {
        let frame = self.frame(request);
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let is_page = matches!(path[..], [] | ["history" | "compare"])
            || matches!(path[..], ["e", _, _] | ["e", _, _, "live"])
            || matches!(path[..], ["e", _, _, part] if !part.contains('.'));
        if is_page && !request.is_directory {
            // Addresses in a page are relative to its directory.
            let last = path.last().copied().unwrap_or_default();
            return Answer::Redirect(format!("{}/", render::site::encoded(last)));
        }
        let answer = match path[..] {
            [] => Ok(self.archive(&frame, request)),
            ["report.css"] => Ok(file("text/css; charset=utf-8", style_sheet(), None)),
            ["history"] => Ok(self.history(&frame, request)),
            ["compare", ref rest @ ..] => self.compared(&frame, request, rest),
            ["e", name, id, ref rest @ ..] => {
                self.experiment(&frame, request, &format!("{name}/{id}"), rest)
            }
            _ => Ok(not_found(&frame, "This address has no page.")),
        };
        answer.unwrap_or_else(|report| not_found(&frame, &message(&report)))
    }

    fn act(&self, request: &Request, _: &str) -> Answer {
        not_found(&self.frame(request), "This address starts nothing.")
    }

    fn feed(&self, request: &Request) -> Option<Box<dyn Feed>> {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let ["e", name, id, "live", "events"] = path[..] else { return None };
        let selected = Selected::find(&self.results, &format!("{name}/{id}")).ok()?;
        RunFeed::of(selected, &self.results).map(|feed| Box::new(feed) as Box<dyn Feed>)
    }
}

/// Returns the page of an address without content.
pub(super) fn not_found(frame: &Frame, why: &str) -> Answer {
    Answer::NotFound(message_page(frame, "Not found", why))
}

/// Returns an error with its help, a line each.
pub(super) fn message(report: &miette::Report) -> String {
    let help = report.help().map(|help| format!("\n{help}")).unwrap_or_default();
    format!("{report}{help}")
}

/// Returns the values of a name in the address.
pub(super) fn values<'a>(request: &'a Request) -> impl Fn(&str) -> Vec<&'a str> {
    |name| request.values(name).collect()
}
