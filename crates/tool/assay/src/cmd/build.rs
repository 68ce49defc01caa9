//! `assay engine build`: compiles a release with a given compiler and flags.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread::available_parallelism;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use load::{Clock, SteadyClock};
use miette::Result;
use model::{BuildRef, Nanos};
use supply::{CompileEvent, CompileOrder};

use super::cached_build::{line, store};
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::ui::Ui;

/// Time between progress lines without a terminal.
const BETWEEN_LINES: Nanos = Nanos::from_secs(20);

/// Arguments of `assay engine build`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay engine build rocksdb@10.4.2
  assay engine build rocksdb@10.4.2 --cflags '-O3 -march=native' --lto
  assay engine build rocksdb@10.4.2 --cc clang --cflags '-O3 -march=native'
  assay engine build lmdb@0.9.70 --cc gcc-13 --cflags '-O2 -g' --name debug

The build is named after compiler and flags, rocksdb@10.4.2-gcc12-O3-march-native-lto, and
can be used like any other. An interrupted build continues where it stopped.")]
pub(crate) struct Args {
    /// Release to compile (`assay engine list` shows them)
    build: BuildRef,
    /// Compiler: gcc, clang, or one with its version as gcc-13
    #[arg(long, default_value = "gcc", value_name = "COMPILER")]
    cc: String,
    /// Its flags, separated by spaces
    #[arg(long, default_value = "-O2", value_name = "FLAGS", allow_hyphen_values = true)]
    cflags: String,
    /// Enable link-time optimisation
    #[arg(long)]
    lto: bool,
    /// Suffix of the version in the build's name [default: compiler and flags]
    #[arg(long)]
    name: Option<String>,
    /// Number of parallel compilations [default: one per CPU]
    #[arg(long, value_name = "N")]
    jobs: Option<NonZeroUsize>,
}

/// Compiles the release unless it is cached.
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
    let (artifact, is_new) = outcome.into_report()?;
    if !is_new {
        ui.status(format_args!("{} is already compiled", artifact.build));
    }
    ui.print(line(&artifact));
    Ok(ExitCode::SUCCESS)
}

/// Compilation progress: a bar on a terminal, periodic lines elsewhere.
struct Screen<'a> {
    ui: &'a Ui,
    build: &'a BuildRef,
    clock: SteadyClock,
    /// The bar of a terminal, once files are counted.
    bar: Option<ProgressBar>,
    /// Start of counting, and the files done then.
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
                let elapsed = now.since(begun);
                let left = left(elapsed, done - before, total - done);
                let file = file.and_then(|file| file.file_name()).unwrap_or_default();
                if self.bar.is_none() && self.ui.is_live {
                    self.bar = Some(bar());
                }
                if let Some(bar) = &self.bar {
                    bar.set_length(total as u64);
                    bar.set_position(done as u64);
                    bar.set_message(progress_suffix(left, &file.to_string_lossy()));
                } else if now.since(self.last_line) >= BETWEEN_LINES {
                    self.last_line = now;
                    let suffix = progress_suffix(left, &file.to_string_lossy());
                    self.ui.status(format_args!("{}: {done} of {total} files{suffix}", self.build));
                }
            }
        }
    }

    fn stage(&self, what: &str) {
        let text = format!("{}: {what}", self.build);
        match &self.bar {
            Some(bar) => bar.println(text),
            None => self.ui.status(text),
        }
    }

    fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Creates the progress bar.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:24} {pos} of {len} files{msg}")
        .expect("the template is a constant that is tested");
    ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_style(style)
}

/// Estimates the time left from the files compiled so far.
fn left(elapsed: Nanos, done: usize, to_do: usize) -> Option<Nanos> {
    let per_file = elapsed.0.checked_div(done as u64)?;
    Some(Nanos(per_file.saturating_mul(to_do as u64)))
}

/// Formats time left and file name.
fn progress_suffix(left: Option<Nanos>, file: &str) -> String {
    let left = left.map_or(String::new(), |left| format!(", {left} left"));
    if file.is_empty() { left } else { format!("{left}  {file}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_pace_so_far() {
        assert_eq!(left(Nanos::from_secs(10), 0, 300), None);
        let left = left(Nanos::from_secs(20), 10, 300);
        assert_eq!(left, Some(Nanos::from_secs(600)));
        assert_eq!(
            progress_suffix(left, "c.cc"),
            format!(", {} left  c.cc", Nanos::from_secs(600))
        );
        assert_eq!(progress_suffix(None, ""), "");
    }

    #[test]
    fn bar_template_is_valid() {
        drop(bar());
    }
}
