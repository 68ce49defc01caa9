//! The allocator asked for serves engine and client, says what it holds, and is refused before
//! any run when it cannot.

use archive::Results;
use insta::assert_snapshot;
use malloc::Libraries;
use model::{Allocator, RunRecord};

use crate::place::Place;
use crate::refusal::{TINY, refusal, refused_as};

/// Returns the library of an allocator; `None` for the system's, or when none is installed, which
/// is then told.
#[expect(clippy::print_stdout, reason = "a test that is skipped says why")]
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
fn run_of(allocator: Allocator) -> (Place, RunRecord) {
    let place = Place::new();
    let mut words = vec!["run", "fillseq", "readrandom", "--engine", "memory", "--rows", "50k"];
    words.extend(["--value-bytes", "200", "--duration", "300ms", "--cache-size", "16MiB"]);
    words.extend(["--allocator", allocator.name()]);
    let said = place.assay(&words);
    assert_eq!(said.code, 0, "{}{}", said.out, said.err);
    let dir = Results::at(&place.path("results")).find("quick-fillseq-readrandom");
    let run = dir
        .and_then(|dir| dir.runs(&dir.manifest()?))
        .expect("its results")
        .pop()
        .expect("its run");
    (place, run)
}

/// Goal: what the allocator holds is at least what the engine, in Rust, was given; and its record
/// tells which it is.
#[test]
fn each_allocator_serves_engine_and_client_and_tells_what_it_holds() {
    for allocator in Allocator::ALL {
        let library = library(allocator);
        if library.is_none() && !allocator.is_system() {
            continue;
        }
        let (place, run) = run_of(allocator);
        assert_eq!(run.variant.settings.allocator, allocator);
        let fact = &run.identity.as_ref().expect("opened").facts["malloc"];
        assert!(fact.starts_with(allocator.name()), "{fact}");
        assert!(library.is_none_or(|library| fact.contains(&library)), "{fact}");
        let step = run.steps.last().expect("readrandom");
        let told = step.malloc.as_ref().expect("what the allocator told");
        assert_eq!((told.allocator, told.version.is_empty()), (allocator, false));
        assert_eq!(told.bins.is_empty(), allocator != Allocator::Jemalloc);
        let rows = 50_000.0 * 200.0;
        let rss = step.gauges_end["rss_anon_bytes"];
        for name in ["malloc_allocated_bytes", "malloc_mapped_bytes"] {
            let Some(held) = step.gauges_end.get(name) else { continue };
            assert!(*held > rows && *held < rows + 200e6, "{allocator}: {name} {held}");
        }
        assert!(rss > rows && step.gauges_end.contains_key("malloc_mapped_bytes"));
        let shown = place.assay(&["show", "quick-fillseq-readrandom"]).out;
        let head = format!("Memory at the end of each step: {allocator} ");
        assert!(shown.contains(&head) && shown.contains("/cache"), "{shown}");
        let has_classes = shown.contains("Size classes of jemalloc after");
        assert_eq!(has_classes, allocator == Allocator::Jemalloc, "{shown}");
    }
}

/// Returns what is said of an experiment with jemalloc under these words of the environment.
fn refused_under(place: &Place, allocator: &str, name: &str, value: &str) -> String {
    let words = format!("\"sqlite\"\nallocator = \"{allocator}\"");
    place.write("mine.toml", TINY.replace("\"sqlite\"", &words));
    let mut program = place.program(&["run", "mine.toml"]);
    let output = program.env_remove("LD_PRELOAD").env(name, value).output();
    let said = crate::place::PerDialect::of(output.expect("the program starts"));
    // However the lines are broken.
    let words = refused_as(place, &said).replace('\u{2502}', " ");
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn a_library_that_is_none_is_refused_at_its_word_with_the_loader_s_reason() {
    let place = Place::new();
    place.write("libjemalloc.so.2", "no library");
    let dir = place.path("").canonicalize().expect("it exists");
    let said = refused_under(&place, "jemalloc", "LD_LIBRARY_PATH", &dir.display().to_string());
    assert!(
        said.contains("variant one: jemalloc was asked for, but `malloc` is served by"),
        "{said}"
    );
    assert!(said.contains("from LD_PRELOAD cannot be preloaded"), "{said}");
    assert!(said.contains("allocator = \"jemalloc\""), "{said}");
}

#[test]
fn an_allocator_that_the_environment_brings_is_not_passed_off_as_the_one_asked_for() {
    let Some(library) = Allocator::ALL.into_iter().find_map(library) else { return };
    for asked in ["system", "mimalloc"] {
        let said = refused_under(&Place::new(), asked, "LD_PRELOAD", &library);
        let is_known = said.contains(&format!("{asked} was asked for, but `malloc` is served by"));
        assert!(is_known || said.contains("mimalloc is not installed"), "{said}");
        assert!(said.contains("help:"), "{said}");
    }
}

#[test]
fn an_allocator_that_nobody_knows_is_refused_with_the_nearest_name() {
    assert_snapshot!(refusal("\"sqlite\"", "\"sqlite\"\nallocator = \"jemaloc\""), @r#"
     × `jemaloc` is not an allocator known here
       ╭─[mine.toml:13:13]
    12 │ engine = "sqlite"
    13 │ allocator = "jemaloc"
       ·             ────┬────
       ·                 ╰── unknown allocator
       ╰────
     help: did you mean `jemalloc`?
     nothing was run
    "#);
}

#[test]
fn an_allocator_that_is_not_installed_is_refused_at_its_word_with_its_package() {
    let is_absent =
        |allocator: &Allocator| Libraries::of_loader(None, None).find(*allocator).is_err();
    let Some(absent) = Allocator::ALL.into_iter().find(is_absent) else {
        return skipped("all allocators are installed");
    };
    let said = refusal("\"sqlite\"", &format!("\"sqlite\"\nallocator = \"{absent}\""));
    assert!(said.contains(&format!("{absent} is not installed")), "{said}");
    assert!(said.contains("apt install"), "{said}");
}

#[expect(clippy::print_stdout, reason = "a test that is skipped says why")]
fn skipped(why: &str) {
    println!("skipped: {why}");
}
