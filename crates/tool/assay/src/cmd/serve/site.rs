//! The addresses of the site.

use archive::Results;
use render::site::{Frame, PageHost, message_page, style_sheet};
use serve::{Answer, Feed, File, Request, Site};

use super::feed::RunFeed;
use super::launch::Launcher;
use super::shelf::{Selected, Shelf};
use crate::environment::Environment;
use crate::ui::Ui;

/// The site of an archive.
pub(super) struct Dashboard {
    pub(super) environment: Environment,
    pub(super) results: Results,
    pub(super) shelf: Shelf,
    pub(super) launcher: Launcher,
    /// What answers requests that start nothing.
    pub(super) host: PageHost,
    pub(super) ui: Ui,
}

impl Dashboard {
    /// Returns the site of the environment's archive.
    pub(super) fn new(environment: Environment, host: PageHost, ui: Ui) -> Self {
        let results = Results::at(&environment.results);
        Self {
            environment,
            results,
            shelf: Shelf::default(),
            launcher: Launcher::default(),
            host,
            ui,
        }
    }

    /// Returns the frame of the page of a request.
    pub(super) fn frame(&self, request: &Request) -> Frame {
        Frame {
            root: request.root(),
            has_script: serve::has_scripts(),
            host: if request.is_open_for_runs { PageHost::Runs } else { self.host },
        }
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
            || matches!(path[..], ["run"] | ["run", "progress"] if request.is_open_for_runs)
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
            ["history", ref rest @ ..] => self.history(&frame, request, rest),
            ["run"] if request.is_open_for_runs => Ok(self.editor(&frame, request)),
            ["run", "progress"] if request.is_open_for_runs => Ok(self.launched(&frame)),
            ["compare", ref rest @ ..] => self.compared(&frame, request, rest),
            ["e", name, id, ref rest @ ..] => Selected::whole(&self.results, name, id)
                .and_then(|selected| self.experiment(&frame, request, selected, rest)),
            _ => Ok(not_found(&frame, "This address has no page.")),
        };
        answer.unwrap_or_else(|report| {
            Answer::NotFound(message_page(&frame, "This cannot be shown", &message(&report)))
        })
    }

    fn act(&self, request: &Request, body: &str) -> Answer {
        let frame = self.frame(request);
        self.acted(&frame, request, body).unwrap_or_else(|report| {
            Answer::Invalid(message_page(&frame, "Not done", &message(&report)))
        })
    }

    fn feed(&self, request: &Request) -> Option<Box<dyn Feed>> {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let ["e", name, id, "live", "events"] = path[..] else { return None };
        let selected = Selected::whole(&self.results, name, id).ok()?;
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
