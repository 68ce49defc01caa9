//! The page where an experiment is written, checked and started.

use miette::{Diagnostic, Result, miette};
use plan::{DISK_FLOOR_BYTES, Overrides};
use render::Style;
use render::site::{Editor, Frame, Launch, Problem, editor_page, launch_page};
use serde::Serialize;
use serve::{Answer, Pair, Request};

use super::json::json;
use super::launch::{Start, Stop, stop};
use super::shelf::Selected;
use super::site::{Dashboard, file, not_found};
use crate::catalog::{Program, experiment, experiment_names};
use crate::cmd::optional::{self, LeftOut, left_out};
use crate::cmd::plan::lines as plan_lines;
use crate::cmd::run::planned;
use crate::ui::{Process, clean};

/// Name of a page's experiment file, in errors.
const FILE: &str = "experiment.toml";
/// The name of a form's field.
const TEXT: &str = "text";

/// A checked text: its errors, or its plan.
#[derive(Serialize)]
struct Checked {
    errors: Vec<Problem>,
    plan: String,
}

impl Dashboard {
    /// Returns the page of the editor, with the shipped experiment that the address names.
    pub(super) fn editor(&self, frame: &Frame, request: &Request) -> Answer {
        let text = experiment(request.value("from").unwrap_or("quickstart"));
        self.edited(frame, text.unwrap_or_default())
    }

    fn edited(&self, frame: &Frame, text: &str) -> Answer {
        let Checked { errors, plan } = self.checked(text);
        let examples: Vec<&str> = experiment_names().collect();
        let page = Editor { text, errors: &errors, plan: &plan, examples: &examples };
        Answer::Page(editor_page(frame, &page))
    }

    /// Answers a request that starts, stops or checks something.
    pub(super) fn acted(&self, frame: &Frame, request: &Request, body: &str) -> Result<Answer> {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        let field = |name: &str| {
            let pairs = Pair::parse(body).unwrap_or_default();
            let pair = pairs.into_iter().find(|pair| pair.name == name);
            // Source: HTML, "multipart and URL-encoded form data": line ends are CR LF.
            pair.map(|pair| pair.value.replace("\r\n", "\n")).unwrap_or_default()
        };
        match path[..] {
            ["run", "check"] => Ok(file("application/json", json(&self.checked(body)), None)),
            ["run"] => Ok(self.edited(frame, &field(TEXT))),
            ["run", "start"] => {
                let text = field(TEXT);
                if !self.checked(&text).errors.is_empty() {
                    return Err(miette!("the experiment has errors: go back, and check it"));
                }
                self.launcher.start(Start::New(&text), &self.environment)?;
                Ok(Answer::Redirect("progress/".to_owned()))
            }
            ["run", "progress", "stop"] => {
                self.launcher.stop()?;
                Ok(Answer::Redirect("./".to_owned()))
            }
            ["e", name, id, "live", "resume"] => {
                let selected = Selected::whole(&self.results, name, id)?;
                self.launcher.start(Start::Rest(selected.dir.path()), &self.environment)?;
                Ok(Answer::Redirect(frame.to("run/progress/")))
            }
            ["e", name, id, "live", "stop"] => {
                let selected = Selected::whole(&self.results, name, id)?;
                let when = if field("when") == "now" { Stop::Now } else { Stop::AfterRun };
                stop(&selected.dir, when)?;
                Ok(Answer::Redirect("./?stop=requested".to_owned()))
            }
            _ => Ok(not_found(frame, "This address starts nothing.")),
        }
    }

    /// Returns the page of the command started last, or leads to its run.
    pub(super) fn launched(&self, frame: &Frame) -> Answer {
        let Some(state) = self.launcher.state(&self.results) else {
            return Answer::Redirect("../".to_owned());
        };
        if let Some(dir) = state.writes {
            let name = Selected::of(dir).name();
            let parts: Vec<_> = name.split('/').map(render::site::encoded).collect();
            return Answer::Redirect(frame.to(&format!("e/{}/live/", parts.join("/"))));
        }
        let launch = Launch { output: &state.output, end: state.end.as_deref() };
        Answer::Page(launch_page(frame, &launch))
    }

    /// Checks an experiment as `assay run` does.
    fn checked(&self, text: &str) -> Checked {
        match self.planned(text) {
            Ok(plan) => Checked { errors: Vec::new(), plan },
            Err(report) => Checked { errors: problems(report.as_ref(), text), plan: String::new() },
        }
    }

    fn planned(&self, text: &str) -> Result<String> {
        let (environment, ui) = (&self.environment, &self.ui);
        let (catalog, machine) = (Program::of(environment), environment.machine());
        let process = Process { environment, ui };
        let load = |left_out| {
            let overrides = Overrides { left_out, ..Overrides::default() };
            plan::load(FILE, text, &overrides, &catalog, machine)
        };
        let mut checked = load(Vec::new())?;
        let LeftOut { variants, mut lines } = left_out(&checked, optional::CHECK, process)?;
        if !variants.is_empty() {
            checked = load(variants)?;
        }
        lines.extend(checked.warnings.iter().map(|line| format!("warning   {line}")));
        lines.extend(checked.chosen.clone());
        let (planned, _) = planned(&checked, DISK_FLOOR_BYTES, &self.results, process)?;
        lines.extend(plan_lines(&planned, Style::default()));
        Ok(clean(&lines.join("\n")))
    }
}

/// Returns an error and those related to it, each with its place in the text.
fn problems(error: &dyn Diagnostic, text: &str) -> Vec<Problem> {
    let start = error.labels().and_then(|mut labels| labels.next()).map(|label| label.offset());
    let before = start.and_then(|start| text.get(..start)).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let own = Problem {
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
        message: clean(&error.to_string()),
        help: error.help().map(|help| clean(&help.to_string())),
    };
    let related = error.related().into_iter().flatten();
    std::iter::once(own).chain(related.flat_map(|one| problems(one, text))).collect()
}
