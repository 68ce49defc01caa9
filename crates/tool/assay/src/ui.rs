//! What the user sees: answers on stdout, everything else on stderr.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};

use miette::MietteHandlerOpts;

use crate::environment::Environment;

/// Columns assumed when nobody says otherwise.
const WIDTH_DEFAULT: usize = 120;

/// How this process may speak.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ui {
    /// Columns of tables on stdout.
    pub(crate) width: usize,
    /// Whether stdout takes colour.
    pub(crate) has_colour: bool,
    /// Whether stderr is a terminal, so that progress can be live.
    pub(crate) is_live: bool,
}

impl Ui {
    /// Finds out how this process may speak.
    pub(crate) fn of_process(environment: &Environment) -> Self {
        let is_live = stderr().is_terminal();
        Self {
            width: if stdout().is_terminal() { columns() } else { WIDTH_DEFAULT },
            has_colour: stdout().is_terminal() && !environment.is_colour_refused,
            is_live,
        }
    }

    /// Prints part of the answer; a closed pipe is the reader's way of saying enough.
    pub(crate) fn answer(&self, text: impl Display) {
        let text = text.to_string();
        if writeln!(stdout(), "{}", text.trim_end_matches('\n')).is_err() {
            // Nobody reads any more, and there is nobody to tell.
        }
    }

    /// Prints a remark.
    pub(crate) fn remark(&self, text: impl Display) {
        if writeln!(stderr(), "{text}").is_err() {
            // As for answers.
        }
    }

    /// Prints an error with its place and remedy.
    pub(crate) fn error(&self, report: &miette::Report) {
        self.remark(format!("{report:?}").trim_end());
    }

    /// Returns how reports are to look.
    pub(crate) fn style(&self) -> render::Style {
        render::Style { width: self.width, has_colour: self.has_colour, has_costs: false }
    }
}

/// Decides how errors are drawn: with colour on a terminal, plain elsewhere.
pub(crate) fn draw_errors(environment: &Environment, ui: &Ui) {
    let has_colour = ui.is_live && !environment.is_colour_refused;
    miette::set_hook(Box::new(move |_| {
        let options = MietteHandlerOpts::new().color(has_colour).unicode(true).width(100);
        Box::new(options.terminal_links(false).build())
    }))
    .expect("nobody set a hook before");
}

/// Returns the columns of the terminal, within what tables can use.
fn columns() -> usize {
    let (_, columns) = console::Term::stdout().size();
    usize::from(columns).clamp(60, 200)
}
