//! `assay micro`: cost of checksums and compression per block.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitCode, Stdio};

use child::Role;
use micro::{Request, Responder, Response, Set};
use miette::{Result, miette};
use model::units::{parse_size, parse_span};
use model::{BuildRef, Bytes, Implementation, Kernel, KernelTimes, MicroRecord, Nanos};
use render::Format;
use runner::{MessageReader, MessageWriter};
use sampler::with_thread_limit;

use super::format::{ALL, formats};
use super::requested_build;
use crate::diagnostic::IntoReport as _;
use crate::environment::Environment;
use crate::phase;
use crate::progress::counted;
use crate::ui::Ui;

/// Name of the linked crates among the implementations.
const CRATES: &str = "crates";

/// Arguments of `assay micro`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  assay micro                                             the linked crates only
  assay micro --engine rocksdb@7.10.2 --engine rocksdb@11.8.1
  assay micro --kernel crc32c --kernel xxh3 --engine rocksdb@8.10.0-gcc12-O2 --rounds 20
  assay micro --format csv >micro.csv
  assay micro --format json                               for programs")]
pub(crate) struct Args {
    /// RocksDB build whose code is measured too; repeat for more
    #[arg(long = "engine", value_name = "BUILD")]
    engines: Vec<BuildRef>,
    /// Kernel to measure; repeat for more [default: every kernel]
    #[arg(long = "kernel", value_name = "KERNEL")]
    kernels: Vec<Kernel>,
    /// Size of a block before compression; repeat for more
    #[arg(long = "block", value_name = "SIZE", value_parser = parse_block)]
    #[arg(default_values = ["4KiB", "8KiB"])]
    blocks: Vec<u32>,
    /// Rounds, interleaved over the implementations; a confidence interval needs six
    #[arg(long, default_value_t = 10, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=50))]
    rounds: u32,
    /// Time for one kernel in one round
    #[arg(long, default_value = "20ms", value_name = "SPAN", value_parser = positive_span)]
    span: Nanos,
    /// Output format
    #[arg(long, default_value = "text", value_name = "FORMAT", value_parser = formats(ALL))]
    format: Format,
    /// Serve requests for one library (used by `micro`)
    #[arg(long, hide = true, value_name = "LIBRARY")]
    serve: Option<PathBuf>,
}

/// Parses the size of a block.
fn parse_block(text: &str) -> Result<u32, String> {
    const LARGEST: Bytes = Bytes(1 << 20);
    let bytes = parse_size(text)?;
    match u32::try_from(bytes.0) {
        Ok(bytes @ 64..=1_048_576) => Ok(bytes),
        _ => Err(format!("the block size {bytes} is not between 64 bytes and {LARGEST}")),
    }
}

/// Measures and prints the kernels.
pub(crate) fn run(args: &Args, environment: &Environment, ui: &Ui) -> Result<ExitCode> {
    if let Some(library) = &args.serve {
        // Its parent waits for it.
        phase::leave();
        return serve(library);
    }
    phase::enter("for the cache of builds");
    let crates = Implementation {
        name: CRATES.to_owned(),
        origin: "crates of Assay itself".to_owned(),
        facts: BTreeMap::new(),
        serves: BTreeMap::new(),
    };
    let mut processes = vec![Server::start(crates.clone(), Path::new(CRATES))?];
    for build in &args.engines {
        if build.engine != "rocksdb" {
            return Err(miette!(
                help = "give a build of rocksdb, such as rocksdb@11.8.1",
                "{build} does not export the kernels: only RocksDB's libraries export them"
            ));
        }
        let Some(library) = requested_build::library(build, environment, ui)? else {
            return Err(miette!(
                help = "`assay engine list` shows the known versions",
                "{build} names no version"
            ));
        };
        let of_build = Implementation {
            name: build.to_string(),
            origin: library.origin,
            facts: library.facts,
            ..crates.clone()
        };
        processes.push(Server::start(of_build, &library.path)?);
    }
    if cfg!(debug_assertions) {
        ui.status("development build: `crates` are compiled with little optimisation");
    }
    let kernels = if args.kernels.is_empty() { Kernel::ALL.to_vec() } else { args.kernels.clone() };
    let times = measure(args, &kernels, &mut processes, ui)?;
    let record = MicroRecord {
        created_at: runner::now_utc(),
        assay_version: env!("CARGO_PKG_VERSION").to_owned(),
        host: sampler::host_facts(&std::env::temp_dir()),
        span_ns: args.span.0,
        implementations: processes.iter().map(|process| process.implementation.clone()).collect(),
        times,
    };
    ui.report(&record, args.format);
    Ok(ExitCode::SUCCESS)
}

/// Serves requests in a child process.
fn serve(library: &Path) -> Result<ExitCode> {
    // Before the library is loaded.
    let parent = runner::connect().into_report()?;
    let mut requests = MessageReader::new(BufReader::new(parent.try_clone().into_report()?));
    let mut responses = MessageWriter::new(parent);
    let set = if library == Path::new(CRATES) {
        Set::crates()
    } else {
        Set::rocksdb(library).into_report()?
    };
    let mut responder = Responder::new(set);
    while let Some(request) = requests.receive().into_report()? {
        responses.send(&responder.respond(request)).into_report()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Measures every process in turn, round by round, so that drift affects all.
fn measure(
    args: &Args,
    kernels: &[Kernel],
    processes: &mut [Server],
    ui: &Ui,
) -> Result<Vec<KernelTimes>> {
    let mut times: Vec<KernelTimes> = Vec::new();
    for &block_bytes in &args.blocks {
        for &kernel in kernels {
            let has_kernel = |process: &&Server| {
                matches!(process.implementation.serves.get(&kernel), Some(Ok(_)))
            };
            times.extend(processes.iter().filter(has_kernel).map(|process| KernelTimes {
                kernel,
                block_bytes,
                implementation: process.implementation.name.clone(),
                ns_per_block: Vec::new(),
            }));
        }
    }
    if times.is_empty() {
        return Err(miette!("no library contains any of the requested kernels"));
    }
    let bar = counted(
        ui,
        u64::from(args.rounds) * times.len() as u64,
        "{bar:30} {pos}/{len}  {eta} left",
    );
    for _round in 0..args.rounds {
        for of in &mut times {
            let process =
                processes.iter_mut().find(|one| one.implementation.name == of.implementation);
            let process = process.expect("times belong to a process");
            let KernelTimes { kernel, block_bytes, .. } = *of;
            let question = Request::Time { kernel, block_bytes, span: args.span };
            if let Response::Time(ns) = process.request(question)? {
                of.ns_per_block.push(ns);
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    Ok(times)
}

/// The process of one library.
struct Server {
    implementation: Implementation,
    process: Child,
    requests: MessageWriter<UnixStream>,
    responses: MessageReader<BufReader<UnixStream>>,
    /// What the process and its library print.
    errors: File,
}

impl Server {
    fn start(implementation: Implementation, library: &Path) -> Result<Self> {
        let program = std::env::current_exe().into_report()?;
        let (socket, theirs) = UnixStream::pair().into_report()?;
        let responses = MessageReader::new(BufReader::new(socket.try_clone().into_report()?));
        let requests = MessageWriter::new(socket);
        let errors = tempfile::tempfile().into_report()?;
        let process = child::command(Role::Worker, program)
            .arg("micro")
            .arg("--serve")
            .arg(library)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::null())
            .stderr(errors.try_clone().into_report()?)
            .spawn()
            .map_err(|error| miette!("cannot start a process: {}", with_thread_limit(error)))?;
        let mut server = Self { implementation, process, requests, responses, errors };
        if let Response::Serves(serves) = server.request(Request::Serves)? {
            server.implementation.serves = serves;
        }
        Ok(server)
    }

    /// Sends a request, and waits for the response.
    fn request(&mut self, question: Request) -> Result<Response> {
        let sent = self.requests.send(&question);
        let response = sent.map_or(Ok(None), |()| self.responses.receive());
        let name = &self.implementation.name;
        let untrusted = |error| {
            miette!(
                help = "the library may write to file descriptors that it did not open: leave the \
                        library out",
                "the messages of {name} cannot be trusted: {error}"
            )
        };
        if let Some(response) = response.map_err(untrusted)? {
            return Ok(response);
        }
        let mut printed = Vec::new();
        // Without its text the end is reported all the same.
        self.errors.rewind().and_then(|()| self.errors.read_to_end(&mut printed)).ok();
        let printed = String::from_utf8_lossy(&printed);
        let last = printed.lines().rev().find(|line| !line.trim().is_empty());
        Err(miette!(
            "the process of {name} ended before it responded: {}",
            last.unwrap_or("it printed nothing").trim()
        ))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The process is stateless, or has already ended.
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

/// Parses a span that is longer than zero.
fn positive_span(text: &str) -> std::result::Result<Nanos, String> {
    match parse_span(text)? {
        Nanos(0) => Err(format!("`{text}` is not above zero: write 20ms or 5s")),
        span => Ok(span),
    }
}
