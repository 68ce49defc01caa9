//! `assay engine build`: a release compiled with a compiler and flags of one's choice.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread::available_parallelism;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use load::{Clock, SteadyClock};
use miette::Result;
use model::{BuildRef, Nanos};
use supply::{CompileEvent, CompileOrder};

use super::engine::{line, store};
use crate::environment::Environment;
use crate::told::Told as _;
use crate::ui::Ui;

/// Time between two lines where progress cannot be live.
const BETWEEN_LINES: Nanos = Nanos::from_secs(20);

/// A release, and how it is compiled.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay engine build rocksdb@10.4.2
  assay engine build rocksdb@10.4.2 --cflags '-O3 -march=native' --lto
  assay engine build rocksdb@10.4.2 --cc clang --cflags '-O3 -march=native'
  assay engine build lmdb@0.9.70 --cc gcc-13 --cflags '-O2 -g' --name debug

The build is named after compiler and flags, rocksdb@10.4.2-gcc12-O3-march-native-lto, and
can be used like any other; what was compiled when it is interrupted is not compiled again.")]
pub(crate) struct Args {
    /// Release whose source a Rust crate carries (listed by `assay engine list`)
    build: BuildRef,
    /// Compiler: gcc, clang, or one with its version as gcc-13
    #[arg(long, default_value = "gcc", value_name = "COMPILER")]
    cc: String,
    /// Its flags, separated by spaces
    #[arg(long, default_value = "-O2", value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: String,
    /// Optimise all files together when they are linked
    #[arg(long)]
    lto: bool,
    /// What follows the version in the build's name [default: compiler and flags]
    #[arg(long)]
    name: Option<String>,
    /// How many files are compiled at once [default: one for each CPU]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// Compiles it, or says that it is there already.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    let order = CompileOrder {
        build: args.build.clone(),
        compiler: args.cc.clone(),
        flags: args.cflags.clone(),
        is_lto: args.lto,
        name: args.name.clone(),
        jobs: args.jobs.or(available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN),
    };
    let store = store(environment)?;
    let mut screen = Screen::new(ui, &args.build);
    let outcome = store.compile(&order, &mut |event| screen.show(event));
    screen.close();
    let (artifact, is_new) = outcome.told()?;
    if !is_new {
        ui.remark(format_args!("{} was compiled before", artifact.build));
    }
    ui.answer(line(&artifact));
    Ok(ExitCode::SUCCESS)
}

/// Shows how far it is: a bar on a terminal, a line now and then elsewhere.
struct Screen<'a> {
    ui: &'a Ui,
    build: &'a BuildRef,
    clock: SteadyClock,
    /// The bar of a terminal, once there is something to count.
    bar: Option<ProgressBar>,
    /// When counting began, and how many files were done then.
    begun: Option<(Nanos, usize)>,
    last_line: Nanos,
}

impl<'a> Screen<'a> {
    fn new(ui: &'a Ui, build: &'a BuildRef) -> Self {
        let clock = SteadyClock::kernel();
        let last_line = clock.now();
        Self { ui, build, clock, bar: None, begun: None, last_line }
    }

    fn show(&mut self, event: CompileEvent<'_>) {
        match event {
            CompileEvent::Stage(what) => self.stage(what),
            CompileEvent::Compiled { done, total, file } => {
                let now = self.clock.now();
                let (begun, before) = *self.begun.get_or_insert((now, done));
                let spent = now.since(begun);
                let left = left(spent, done - before, total - done);
                let file = file.and_then(|file| file.file_name()).unwrap_or_default();
                if self.bar.is_none() && self.ui.is_live {
                    self.bar = Some(bar());
                }
                if let Some(bar) = &self.bar {
                    bar.set_length(total as u64);
                    bar.set_position(done as u64);
                    bar.set_message(told(left, &file.to_string_lossy()));
                } else if now.since(self.last_line) >= BETWEEN_LINES {
                    self.last_line = now;
                    let told = told(left, &file.to_string_lossy());
                    self.ui.remark(format_args!("{}: {done} of {total} files{told}", self.build));
                }
            }
        }
    }

    fn stage(&self, what: &str) {
        let text = format!("{}: {what}", self.build);
        match &self.bar {
            Some(bar) => bar.println(text),
            None => self.ui.remark(text),
        }
    }

    fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Returns the bar of a terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {pos} of {len} files{msg}")
        .expect("the template is a constant that is tested");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// Returns the time left at the pace of the files compiled so far.
fn left(spent: Nanos, done: usize, to_do: usize) -> Option<Nanos> {
    let per_file = spent.0.checked_div(done as u64)?;
    Some(Nanos(per_file.saturating_mul(to_do as u64)))
}

/// Returns the end of a line of progress.
fn told(left: Option<Nanos>, file: &str) -> String {
    let left = left.map_or(String::new(), |left| format!(", {left} left"));
    if file.is_empty() { left } else { format!("{left}  {file}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_is_told_by_the_pace_so_far() {
        assert_eq!(left(Nanos::from_secs(10), 0, 300), None);
        let left = left(Nanos::from_secs(20), 10, 300);
        assert_eq!(left, Some(Nanos::from_secs(600)));
        assert_eq!(told(left, "c.cc"), format!(", {} left  c.cc", Nanos::from_secs(600)));
        assert_eq!(told(None, ""), "");
    }

    #[test]
    fn the_template_of_the_bar_is_valid() {
        drop(bar());
    }
}
