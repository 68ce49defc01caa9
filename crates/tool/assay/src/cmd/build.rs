//! `assay engine build`: compiles a release with a given compiler and flags.

use std::num::NonZeroUsize;
use std::process::ExitCode;
use std::thread::available_parallelism;

use indicatif::ProgressBar;
use load::{Clock, SteadyClock};
use miette::Result;
use model::{BuildRef, Nanos, visible};
use supply::{CompileEvent, CompileOrder};

use super::requested_build::{line, store};
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::progress::counted;
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
    /// Flags of the compiler, separated by spaces
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
    screen.bar.finish_and_clear();
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
    /// Appears once files are counted.
    bar: ProgressBar,
    last_line: Nanos,
}

impl<'a> Screen<'a> {
    fn new(ui: &'a Ui, build: &'a BuildRef) -> Self {
        let clock = SteadyClock::kernel();
        let last_line = clock.now();
        let bar = counted(ui, 0, "{bar:24} {pos} of {len} files, {eta} left  {msg}");
        Self { ui, build, clock, bar, last_line }
    }

    fn show(&mut self, event: CompileEvent<'_>) {
        match event {
            CompileEvent::Stage(what) => {
                let text = format!("{}: {what}", self.build);
                self.bar.suspend(|| self.ui.status(text));
            }
            CompileEvent::Compiled { done, total, file } => {
                let now = self.clock.now();
                if self.ui.is_live {
                    let file = file.and_then(|file| file.file_name()).unwrap_or_default();
                    self.bar.set_length(total as u64);
                    self.bar.set_position(done as u64);
                    self.bar.set_message(visible(&file.to_string_lossy()).into_owned());
                } else if now.since(self.last_line) >= BETWEEN_LINES {
                    self.last_line = now;
                    self.ui.status(format_args!("{}: {done} of {total} files", self.build));
                }
            }
        }
    }
}
