//! Terminal output: results on stdout, everything else on stderr.

use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr, stdout};

use miette::MietteHandlerOpts;

use crate::environment::Environment;

/// Columns when stdout is not a terminal.
const WIDTH_DEFAULT: usize = 120;

/// Output settings of this process.
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
    /// Detects terminals and colour support.
    pub(crate) fn of_process(environment: &Environment) -> Self {
        let is_live = stderr().is_terminal();
        Self {
            width: if stdout().is_terminal() { columns() } else { WIDTH_DEFAULT },
            has_colour: stdout().is_terminal() && !environment.is_colour_disabled,
            is_live,
        }
    }

    /// Prints results; a closed pipe is not an error.
    pub(crate) fn print(&self, text: impl Display) {
        let text = text.to_string();
        if writeln!(stdout(), "{}", text.trim_end_matches('\n')).is_err() {
            // The pipe is closed.
        }
    }

    /// Prints a status line on stderr.
    pub(crate) fn status(&self, text: impl Display) {
        if writeln!(stderr(), "{text}").is_err() {
            // As above.
        }
    }

    /// Prints an error with its place and remedy.
    pub(crate) fn error(&self, report: &miette::Report) {
        self.status(format!("{report:?}").trim_end());
    }

    /// Returns the style of tables.
    pub(crate) fn style(&self) -> render::Style {
        render::Style { width: self.width, has_colour: self.has_colour, has_costs: false }
    }
}

/// Sets the error style: coloured on a terminal, plain elsewhere.
pub(crate) fn draw_errors(environment: &Environment, ui: &Ui) {
    let has_colour = ui.is_live && !environment.is_colour_disabled;
    miette::set_hook(Box::new(move |_| {
        let options = MietteHandlerOpts::new().color(has_colour).unicode(true).width(100);
        Box::new(options.terminal_links(false).build())
    }))
    .expect("the hook is set once");
}

/// Returns the columns of the terminal, within what tables can use.
fn columns() -> usize {
    let (_, columns) = console::Term::stdout().size();
    usize::from(columns).clamp(60, 200)
}

/// Formats rows with aligned columns.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let wide = |text: &String| text.chars().count();
    let widths: [usize; N] =
        std::array::from_fn(|at| rows.iter().map(|row| wide(&row[at])).max().unwrap_or(0));
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
