//! Terminal output: results on stdout, everything else on stderr.

use std::backtrace::Backtrace;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdin, stdout};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use indicatif::MultiProgress;
use miette::{GraphicalReportHandler, GraphicalTheme, Report, ThemeStyles, miette};
use model::secret::{has_secret, masked, masked_value};
use model::{ShellCommand, visible};
use render::Format;

use crate::diagnostic::system_remedy;
use crate::environment::Environment;
use crate::phase;

/// The live lines on stderr.
static LIVE: Mutex<Option<MultiProgress>> = Mutex::new(None);

/// Columns when stdout is not a terminal.
const WIDTH_DEFAULT: usize = 120;

/// Widest column that is aligned: a longer cell stands out of it.
///
/// Our choice: twice the usual width of a terminal.
const COLUMN_MAX: usize = 160;

/// Columns of errors.
const ERROR_WIDTH: usize = 100;

/// Head of each further error of a file. It carries nothing, so it is left out.
///
/// Source: miette 7, `GraphicalReportHandler`, `render_related`.
const FURTHER: &str = "\nError: \n";

/// The process: its environment and its output.
#[derive(Clone, Copy)]
pub(crate) struct Process<'a> {
    pub(crate) environment: &'a Environment,
    pub(crate) ui: &'a Ui,
}

/// Output settings of this process.
#[derive(Debug, Clone)]
pub(crate) struct Ui {
    /// Columns of tables on stdout.
    pub(crate) width: usize,
    /// Whether stdout takes colour.
    pub(crate) has_colour: bool,
    /// Whether stderr is a terminal, so that progress can be live.
    pub(crate) is_live: bool,
    /// Style of errors.
    error_theme: GraphicalTheme,
    /// Where files are made: a lack of inodes there is the cause of an error.
    places: [PathBuf; 3],
    /// The first error of stdout, if any; reported at the end.
    failure: Arc<OnceLock<io::Error>>,
    /// The command that shows the results that are stored, if any.
    stored: Arc<OnceLock<String>>,
}

impl Ui {
    /// Detects terminals and colour support.
    pub(crate) fn of_process(environment: &Environment) -> Self {
        let is_live = stderr().is_terminal();
        let has_colour = is_live && !environment.is_colour_disabled;
        let styles = if has_colour { ThemeStyles::ansi() } else { ThemeStyles::none() };
        Self {
            width: if stdout().is_terminal() { columns() } else { WIDTH_DEFAULT },
            has_colour: stdout().is_terminal() && !environment.is_colour_disabled,
            is_live,
            error_theme: GraphicalTheme { styles, ..GraphicalTheme::unicode_nocolor() },
            places: [&environment.data_dir, &environment.results, &std::env::temp_dir()]
                .map(Clone::clone),
            failure: Arc::default(),
            stored: Arc::default(),
        }
    }

    /// Prints plain text; control characters are made visible.
    pub(crate) fn print(&self, text: impl Display) {
        self.rendered(&visible(&text.to_string()));
    }

    /// Prints the output of `render`, which may be coloured.
    pub(crate) fn rendered(&self, text: &str) {
        self.secret(&masked(text.trim_end_matches('\n')));
    }

    /// Prints a line with a secret of Assay that the user needs, as it is.
    pub(crate) fn secret(&self, line: &str) {
        phase::note_output();
        if let Err(error) = writeln!(stdout(), "{line}") {
            self.failure.get_or_init(|| error);
        }
    }

    /// Prints a report in a format; an empty one prints nothing.
    pub(crate) fn report(&self, report: &(impl render::Report + ?Sized), format: Format) {
        let text = report.render(format, self.style());
        if !text.trim_end().is_empty() {
            self.rendered(&text);
        }
    }

    /// Flushes stdout.
    ///
    /// # Errors
    /// When anything printed was not written; a closed pipe is no error.
    pub(crate) fn finish(&self) -> Result<(), Report> {
        let written = match (self.failure.get(), stdout().flush()) {
            (Some(first), _) => Err(first),
            (None, Ok(())) => Ok(()),
            (None, Err(error)) => Err(self.failure.get_or_init(|| error)),
        };
        let stored = self.stored.get().map(String::as_str);
        written.or_else(|error| output_error(error, stored))
    }

    /// Notes the command that shows the results that are stored now, whatever is printed of them.
    pub(crate) fn note_stored(&self, command: &ShellCommand) {
        self.stored.get_or_init(|| command.to_string());
    }

    /// Prints a status line on stderr; control characters are made visible.
    pub(crate) fn status(&self, text: impl Display) {
        write_status(&visible(&text.to_string()));
    }

    /// Prints an error with its place and remedy.
    pub(crate) fn error(&self, report: &Report) {
        let plain = drawn(report);
        // Colours that the text itself has are not ours.
        let text = match plain.contains('\u{1b}') {
            true => visible(&plain).into_owned(),
            false => visible_in_colour(&themed(report, self.error_theme.clone())),
        };
        write_status(text.trim_end());
        if report.help().is_none()
            && let Some(remedy) = system_remedy(&report.to_string())
        {
            write_status(&format!("  help: {remedy}"));
        }
        let places = self.places.each_ref().map(PathBuf::as_path);
        if let Some(cause) = sampler::cause_of_full(&report.to_string(), &places) {
            write_status(&format!("  cause: {cause}"));
        }
    }

    /// Returns whether the user answers a question with yes, on a terminal.
    pub(crate) fn confirms(&self, question: &str) -> bool {
        if !stdin().is_terminal() || !self.is_live {
            return false;
        }
        let prompted = write!(stderr(), "{question} [y/N] ").and_then(|()| stderr().flush());
        let mut answer = String::new();
        let read = prompted.and_then(|()| stdin().read_line(&mut answer));
        read.is_ok() && ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
    }

    /// Returns the style of tables.
    pub(crate) fn style(&self) -> render::Style {
        render::Style { width: self.width, has_colour: self.has_colour, has_costs: false }
    }
}

/// Returns an error with its place and remedy, without colours.
pub(crate) fn drawn(report: &Report) -> String {
    themed(report, GraphicalTheme::unicode_nocolor())
}

fn themed(report: &Report, theme: GraphicalTheme) -> String {
    let mut text = String::new();
    let handler = GraphicalReportHandler::new_themed(theme).with_width(ERROR_WIDTH);
    handler.render_report(&mut text, report.as_ref()).expect("a text takes everything");
    text.replace(FURTHER, "\n")
}

/// Returns a line whose passwords are masked and whose control characters are visible.
pub(crate) fn clean(text: &str) -> String {
    visible(&masked(text)).into_owned()
}

/// Writes a line on stderr, passwords masked, above live lines; a failure cannot be reported.
pub(crate) fn write_status(text: &str) {
    phase::note_output();
    // A failure of stderr has no place to be reported.
    let write = || drop(writeln!(stderr(), "{}", masked(text)));
    match &*LIVE.lock().unwrap_or_else(PoisonError::into_inner) {
        Some(lines) => lines.suspend(write),
        None => write(),
    }
}

/// Lets lines on stderr be written above live lines, or where there are none any more.
pub(crate) fn set_live(lines: Option<MultiProgress>) {
    *LIVE.lock().unwrap_or_else(PoisonError::into_inner) = lines;
}

/// Returns an error of stdout as a report; a closed pipe is no error.
///
/// `stored` is the command that shows results that are stored.
pub(crate) fn output_error(error: &io::Error, stored: Option<&str>) -> Result<(), Report> {
    if error.kind() == ErrorKind::BrokenPipe {
        return Ok(());
    }
    let help = match stored {
        Some(show) => format!("only the output is incomplete; the results are stored: {show}"),
        None => "the output is incomplete: free disk space or choose another file, then run the \
                 command again"
            .to_owned(),
    };
    Err(miette!(help = help, "cannot write the standard output: {error}"))
}

/// Makes control characters visible, except those that set colours.
///
/// Source: ECMA-48, 1991, 5th edition, 8.3.117, select graphic rendition.
fn visible_in_colour(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let mut clean = visible(parts.next().unwrap_or_default()).into_owned();
    for part in parts {
        let is_code = |text: &&str| text.chars().all(|c| c.is_ascii_digit() || c == ';');
        let code = part.strip_prefix('[').and_then(|rest| rest.split_once('m'));
        if let Some((code, rest)) = code.filter(|(code, _)| is_code(code)) {
            clean.push_str(&format!("\u{1b}[{code}m{}", visible(rest)));
        } else {
            clean.push_str(&visible(&format!("\u{1b}{part}")));
        }
    }
    clean
}

/// Lets panics write their message, after its backtrace, as every other text is written.
pub(crate) fn mask_panics() {
    std::panic::set_hook(Box::new(|panic| {
        write_status(&format!("{}\n{panic}", Backtrace::capture()));
    }));
}

/// Refuses an argument with a password: every account of the host can read the command line.
///
/// # Errors
/// When an argument is, or contains, an address with a password or a named one.
pub(crate) fn check_arguments(arguments: &[OsString]) -> Result<(), Report> {
    let mut texts = arguments.iter().map(|argument| argument.to_string_lossy());
    let Some(text) = texts.find(|text| has_secret(text)) else { return Ok(()) };
    if plan::has_placeholder(&text) {
        let help = "write every part of the address; only the password may be a variable, \
                    ${ASSAY_PASSWORD_NAME}, within single quotes";
        let text = masked_value(&text);
        return Err(miette!(
            help = help,
            "`{text}` contains a placeholder, which nothing replaces"
        ));
    }
    let help = "commands accept no passwords, because every account of this host can read command \
                lines. \
                Put the password into a variable and write ${ASSAY_PASSWORD_NAME} in its place, \
                within single quotes, or write it into the `dsn` of a [[variant]] in an experiment \
                file";
    Err(miette!(help = help, "the argument `{}` contains a password", masked_value(&text)))
}

/// Returns the columns of the terminal, within what tables can use.
fn columns() -> usize {
    let (_, columns) = console::Term::stdout().size();
    usize::from(columns).clamp(60, 200)
}

/// Formats rows with aligned columns.
pub(crate) fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let wide = |text: &String| text.chars().count();
    let widths: [usize; N] = std::array::from_fn(|at| {
        let widths = rows.iter().map(|row| wide(&row[at])).filter(|width| *width <= COLUMN_MAX);
        widths.max().unwrap_or(0)
    });
    let line = |row: &[String; N]| {
        let padded = |(cell, width): (&String, usize)| {
            format!("{cell}{}", " ".repeat(width.saturating_sub(wide(cell))))
        };
        let cells: Vec<_> = row.iter().zip(widths).map(padded).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_cell_does_not_widen_the_other_rows() {
        let long = "x".repeat(100_000);
        let rows = [[long.clone(), "b".to_owned()], ["a".to_owned(), "b".to_owned()]];
        assert_eq!(aligned(&rows), [format!("{long}  b"), "a  b".to_owned()]);
    }

    #[test]
    fn errors_keep_their_colours_and_no_other_control_characters() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}]0;title\u{7} \u{1b}[2J";
        let clean = "\u{1b}[1;31mred\u{1b}[0m \\u{1b}]0;title\\u{7} \\u{1b}[2J";
        assert_eq!(visible_in_colour(text), clean);
    }

    #[test]
    fn an_argument_with_a_password_is_refused_without_it() {
        let check = |text: &str| check_arguments(&[OsString::from(text)]);
        for text in
            ["postgres://u:hu sh@h", "--option=mysql_pwd=hush", "a=jdbc:x://h?password=hush"]
        {
            let shown = check(text).unwrap_err().to_string();
            assert!(!shown.contains("hu") && shown.contains("***"), "{shown}");
        }
        for text in ["postgres://u@h/d", "rocksdb@9.10.0", "--durability=sync", "p99.9 < 2ms"] {
            assert!(check(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn only_a_closed_pipe_is_no_error() {
        assert!(output_error(&ErrorKind::BrokenPipe.into(), None).is_ok());
        let help = |stored| {
            let report = output_error(&ErrorKind::StorageFull.into(), stored).unwrap_err();
            report.help().expect("a remedy").to_string()
        };
        assert!(help(None).ends_with("then run the command again"));
        assert!(help(Some("assay compare a")).ends_with("the results are stored: assay compare a"));
    }
}
