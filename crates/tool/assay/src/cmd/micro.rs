//! `assay micro`: what a block's checksum and compression cost by themselves.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _, stdin, stdout};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

use micro::{Answer, Question, Set};
use miette::{Result, miette};
use model::units::{parse_size, parse_span};
use model::{BuildRef, Bytes, Implementation, Kernel, KernelTimes, MicroRecord, Nanos};
use render::{Format, render_micro};

use super::engine;
use crate::environment::Environment;
use crate::told::Told as _;
use crate::ui::Ui;

/// Name of the well-kept crates among the implementations.
const CRATES: &str = "crates";

/// What is measured, and how.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay micro                                             well-kept libraries alone
  assay micro --engine rocksdb@7.10.2 --engine rocksdb@11.8.1
  assay micro --kernel crc32c --kernel xxh3 --engine rocksdb@8.10.0-gcc12-O2 --rounds 20
  assay micro --format csv >micro.csv")]
pub(crate) struct Args {
    /// RocksDB build whose own code is measured too; may be repeated
    #[arg(long = "engine", value_name = "BUILD")]
    engines: Vec<BuildRef>,
    /// Kernel to measure; every one when absent; may be repeated
    #[arg(long = "kernel", value_name = "KERNEL")]
    kernels: Vec<Kernel>,
    /// Size of a block before compression; may be repeated
    #[arg(long = "block", value_name = "SIZE", value_parser = parse_block)]
    #[arg(default_values = ["4KiB", "8KiB"])]
    blocks: Vec<u32>,
    /// Rounds, interleaved over the implementations; an interval takes six
    #[arg(long, default_value_t = 10, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=50))]
    rounds: u32,
    /// Time for one kernel in one round
    #[arg(long, default_value = "20ms", value_name = "SPAN", value_parser = parse_span)]
    span: Nanos,
    /// Form of output: text, markdown, csv or json
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// Answer questions on stdin for one library (used by `micro`)
    #[arg(long, hide = true, value_name = "LIBRARY")]
    serve: Option<PathBuf>,
}

/// Reads the size of a block.
fn parse_block(text: &str) -> Result<u32, String> {
    const LARGEST: Bytes = Bytes(1 << 20);
    let bytes = parse_size(text)?;
    match u32::try_from(bytes.0) {
        Ok(bytes @ 64..=1_048_576) => Ok(bytes),
        _ => Err(format!("a block of {bytes} is not between 64 bytes and {LARGEST}")),
    }
}

/// Measures.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    if let Some(library) = &args.serve {
        return serve(library);
    }
    let own = Implementation {
        name: CRATES.to_owned(),
        origin: "crates of Assay itself".to_owned(),
        facts: BTreeMap::new(),
        serves: BTreeMap::new(),
    };
    let mut children = vec![Server::start(own.clone(), Path::new(CRATES))?];
    for build in &args.engines {
        if build.engine != "rocksdb" {
            return Err(miette!(
                help = "give a build of rocksdb, such as rocksdb@11.8.1",
                "{build} exports none of these: only RocksDB's libraries do"
            ));
        }
        let Some(library) = engine::library(build, environment, ui)? else {
            return Err(miette!(
                help = "`assay engine list` shows known ones",
                "which version of {build}?"
            ));
        };
        let of_build = Implementation {
            name: build.to_string(),
            origin: library.origin,
            facts: library.facts,
            ..own.clone()
        };
        children.push(Server::start(of_build, &library.path)?);
    }
    if cfg!(debug_assertions) {
        ui.remark("a build for development: `crates` are compiled with little optimisation");
    }
    let kernels = if args.kernels.is_empty() { Kernel::ALL.to_vec() } else { args.kernels.clone() };
    let times = measure(args, &kernels, &mut children, ui)?;
    let record = MicroRecord {
        created_at: runner::now_utc(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        host: sampler::host_facts(&std::env::temp_dir()),
        span_ns: args.span.0,
        implementations: children.iter().map(|child| child.implementation.clone()).collect(),
        times,
    };
    ui.answer(render_micro(&record, args.format, ui.style()));
    Ok(ExitCode::SUCCESS)
}

/// Answers as a child.
fn serve(library: &Path) -> Result<ExitCode> {
    let set =
        if library == Path::new(CRATES) { Set::crates() } else { Set::rocksdb(library).told()? };
    micro::serve(set, BufReader::new(stdin()), stdout()).told()?;
    Ok(ExitCode::SUCCESS)
}

/// Asks every child in turn, round by round, so that a drifting machine drifts for all.
fn measure(
    args: &Args,
    kernels: &[Kernel],
    children: &mut [Server],
    ui: &Ui,
) -> Result<Vec<KernelTimes>> {
    let mut times: Vec<KernelTimes> = Vec::new();
    for &block_bytes in &args.blocks {
        for &kernel in kernels {
            let has_kernel =
                |child: &&Server| matches!(child.implementation.serves.get(&kernel), Some(Ok(_)));
            times.extend(children.iter().filter(has_kernel).map(|child| KernelTimes {
                kernel,
                block_bytes,
                implementation: child.implementation.name.clone(),
                ns_per_block: Vec::new(),
            }));
        }
    }
    if times.is_empty() {
        return Err(miette!("none of these libraries has any of these kernels"));
    }
    let bar = crate::progress::rounds(ui, u64::from(args.rounds) * times.len() as u64);
    for _round in 0..args.rounds {
        for of in &mut times {
            let child =
                children.iter_mut().find(|one| one.implementation.name == of.implementation);
            let child = child.expect("times are of children");
            let KernelTimes { kernel, block_bytes, .. } = *of;
            let question = Question::Time { kernel, block_bytes, span: args.span };
            if let Answer::Time(ns) = child.ask(question)? {
                of.ns_per_block.push(ns);
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(times)
}

/// One library's process.
struct Server {
    implementation: Implementation,
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Server {
    fn start(implementation: Implementation, library: &Path) -> Result<Self> {
        let program = std::env::current_exe().told()?;
        let mut child = Command::new(program)
            .arg("micro")
            .arg("--serve")
            .arg(library)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .told()?;
        let questions = child.stdin.take().expect("stdin is piped");
        let answers = BufReader::new(child.stdout.take().expect("stdout is piped"));
        let mut server = Self { implementation, child, questions, answers };
        if let Answer::Serves(serves) = server.ask(Question::Serves)? {
            server.implementation.serves = serves;
        }
        Ok(server)
    }

    /// Asks, and waits for the answer.
    fn ask(&mut self, question: Question) -> Result<Answer> {
        let text = serde_json::to_string(&question).told()?;
        let asked = writeln!(self.questions, "{text}").and_then(|()| self.questions.flush());
        let mut line = String::new();
        if asked.is_ok() && self.answers.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
            return serde_json::from_str(&line).told();
        }
        Err(miette!(
            help = "its own words stand above",
            "the process of {} ended before it answered",
            self.implementation.name
        ))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended by itself when there was an error, and has nothing to lose otherwise.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}
