//! The requested allocator serves engine and client, and reports statistics.
//!
//! One that cannot is rejected before any run.

use archive::Results;
use insta::assert_snapshot;
use malloc::Libraries;
use model::{Allocator, RunRecord};

use crate::rejection::{TINY, check_rejection, rejection};
use crate::workspace::Workspace;

/// Returns the library of an allocator; `None` for the system's.
///
/// Prints why and returns `None` when it is not installed.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn library(allocator: Allocator) -> Option<String> {
    match Libraries::of_loader(None, None).find(allocator) {
        Ok(library) => library.map(|library| library.display().to_string()),
        Err(error) => {
            println!("skipped: {error}; {}", error.remedy());
            None
        }
    }
}

/// Runs 50,000 rows of 200 bytes on the engine that is an ordered map in Rust.
fn run_of(allocator: Allocator) -> (Workspace, RunRecord) {
    let workspace = Workspace::new();
    let mut args = vec!["run", "fillseq", "readrandom", "--engine", "memory", "--rows", "50k"];
    args.extend(["--value-bytes", "200", "--duration", "50ms", "--cache", "16MiB"]);
    args.extend(["--allocator", allocator.name()]);
    workspace.recorded(&args);
    let dir = Results::at(&workspace.path("results")).find("quick-fillseq-readrandom");
    let run = dir
        .and_then(|dir| dir.runs(&dir.manifest()?))
        .expect("its results")
        .pop()
        .expect("its run");
    (workspace, run)
}

/// Goal: the allocator's bytes cover the engine's rows, and the record names the allocator.
#[test]
fn each_allocator_serves_engine_and_client_and_reports_statistics() {
    for allocator in Allocator::ALL {
        let library = library(allocator);
        if library.is_none() && !allocator.is_system() {
            continue;
        }
        let (workspace, run) = run_of(allocator);
        assert_eq!(run.variant.settings.allocator, allocator);
        let fact = &run.identity.as_ref().expect("opened").facts["malloc"];
        assert!(fact.starts_with(allocator.name()), "{fact}");
        assert!(library.is_none_or(|library| fact.contains(&library)), "{fact}");
        let step = run.steps.last().expect("readrandom");
        let report = step.malloc.as_ref().expect("allocator statistics");
        assert_eq!((report.allocator, report.version.is_empty()), (allocator, false));
        assert_eq!(report.bins.is_empty(), allocator != Allocator::Jemalloc);
        let rows = 50_000.0 * 200.0;
        let rss = step.gauges_end["rss_anon_bytes"];
        let has_allocated = step.gauges_end.contains_key("malloc_allocated_bytes");
        assert_eq!(has_allocated, allocator != Allocator::Mimalloc, "{allocator}");
        let names = ["malloc_mapped_bytes", "malloc_allocated_bytes"];
        for name in &names[..if has_allocated { 2 } else { 1 }] {
            let held = step.gauges_end[name];
            assert!(held > rows && held < rows + 200e6, "{allocator}: {name} {held}");
        }
        assert!(rss > rows, "{allocator}: {rss}");
        let shown = workspace.assay(&["show", "quick-fillseq-readrandom"]).out;
        let head = format!("Memory at the end of each step: {allocator} ");
        assert!(shown.contains(&head) && shown.contains("/cache"), "{shown}");
        let has_classes = shown.contains("Size classes of jemalloc after");
        assert_eq!(has_classes, allocator == Allocator::Jemalloc, "{shown}");
    }
}

/// Returns the error of an allocator under an environment variable.
fn rejected_under(workspace: &Workspace, allocator: &str, name: &str, value: &str) -> String {
    let settings = format!("\"sqlite\"\nallocator = \"{allocator}\"");
    workspace.write("mine.toml", TINY.replace("\"sqlite\"", &settings));
    let mut program = workspace.program(&["run", "mine.toml"]);
    let output = program.env_remove("LD_PRELOAD").env(name, value).output();
    let output = crate::workspace::ProgramOutput::of(output.expect("the program starts"));
    // Line breaks depend on the path's length.
    let message = check_rejection(workspace, &output).replace('\u{2502}', " ");
    message.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn invalid_allocator_library_is_rejected_with_the_loader_error() {
    let workspace = Workspace::new();
    workspace.write("libjemalloc.so.2", "no library");
    let dir = workspace.path("").canonicalize().expect("it exists");
    let output =
        rejected_under(&workspace, "jemalloc", "LD_LIBRARY_PATH", &dir.display().to_string());
    assert!(
        output.contains("variant one: jemalloc was requested, but `malloc` is served by"),
        "{output}"
    );
    assert!(output.contains("from LD_PRELOAD cannot be preloaded"), "{output}");
    assert!(output.contains("allocator = \"jemalloc\""), "{output}");
}

#[test]
fn preloaded_allocator_is_not_reported_as_the_requested_one() {
    let Some(library) = Allocator::ALL.into_iter().find_map(library) else { return };
    let is_installed = Libraries::of_loader(None, None).find(Allocator::Mimalloc).is_ok();
    for (requested, is_known) in [("system", true), ("mimalloc", is_installed)] {
        let output = rejected_under(&Workspace::new(), requested, "LD_PRELOAD", &library);
        let reason = match is_known {
            true => format!("{requested} was requested, but `malloc` is served by"),
            false => format!("{requested} is not installed"),
        };
        assert!(output.contains(&reason) && output.contains("help:"), "{reason}: {output}");
    }
}

#[test]
fn unknown_allocator_is_rejected_with_the_nearest_name() {
    assert_snapshot!(rejection("\"sqlite\"", "\"sqlite\"\nallocator = \"jemaloc\""), @r#"
     × unknown allocator `jemaloc`
       ╭─[mine.toml:13:13]
    12 │ engine = "sqlite"
    13 │ allocator = "jemaloc"
       ·             ────┬────
       ·                 ╰── here
       ╰────
     help: did you mean `jemalloc`?
     nothing was run
    "#);
}

#[test]
fn missing_allocator_is_rejected_with_its_package() {
    let is_absent =
        |allocator: &Allocator| Libraries::of_loader(None, None).find(*allocator).is_err();
    let Some(absent) = Allocator::ALL.into_iter().find(is_absent) else {
        return skipped("all allocators are installed");
    };
    let output = rejection("\"sqlite\"", &format!("\"sqlite\"\nallocator = \"{absent}\""));
    assert!(output.contains(&format!("{absent} is not installed")), "{output}");
    assert!(output.contains("apt install"), "{output}");
}

#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn skipped(why: &str) {
    println!("skipped: {why}");
}
