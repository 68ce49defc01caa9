//! Each installed allocator, preloaded into a process of its own.
#![expect(clippy::print_stdout, reason = "a skipped test prints the reason")]

use std::hint::black_box;
use std::process::Command;

use malloc::{Heap, Libraries, MallocError, Tunables};
use model::{Allocator, metric};

/// Size of the allocations of the child, and how many: 30 MB.
const SIZE: usize = 300;
const COUNT: usize = 100_000;

/// Runs one of the ignored tests below in a process that preloads `library`.
fn child(test: &str, library: Option<&str>) {
    let mut command = Command::new(std::env::current_exe().expect("this very program"));
    command.args([test, "--exact", "--ignored", "--nocapture"]).env_remove("LD_PRELOAD");
    if let Some(library) = library {
        command.env("LD_PRELOAD", library);
    }
    let output = command.output().expect("this very program starts");
    let streams = [output.stdout, output.stderr];
    let [stdout, stderr] = streams.map(|text| String::from_utf8(text).expect("tests print UTF-8"));
    assert!(output.status.success(), "{stdout}\n{stderr}");
    assert!(stdout.contains("1 passed"), "{stdout}");
}

/// Returns the library of an allocator, or prints why a part of the test is skipped.
fn library(allocator: Allocator) -> Option<String> {
    let libraries = Libraries::of_loader(None, None);
    match libraries.find(allocator) {
        Ok(found) => found.map(|path| libraries.preload(&path)),
        Err(error) => {
            println!("skipped in part: {error}; {}", error.remedy());
            None
        }
    }
}

/// Goal: each allocator is recognised by the library that serves `malloc`, and its figures follow
/// the allocations of this process, Rust's own.
fn check_allocator(allocator: Allocator) {
    let library = Libraries::of_loader(None, None).find(allocator).expect("installed");
    let tunables: Tunables = [("MALLOC_CONF", "narenas:3"), ("MIMALLOC_PAGE_RESET", "0")]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into();
    let heap = Heap::expect(allocator, library.as_deref(), &tunables).expect("preloaded");
    let before = heap.readings();
    let held: Vec<Vec<u8>> = black_box((0..COUNT).map(|_| vec![1; SIZE]).collect());
    let after = heap.readings();
    assert!(after.keys().all(|name| metric::find(name).is_some()), "{after:?}");
    let bytes = (SIZE * COUNT) as f64;
    // mimalloc commits 32 MiB at a time, and reports nothing else.
    let has_allocated = allocator != Allocator::Mimalloc;
    assert_eq!(after.contains_key("malloc_allocated_bytes"), has_allocated, "{after:?}");
    assert!(after.contains_key("malloc_mapped_bytes"), "{after:?}");
    for (name, limit) in [("malloc_allocated_bytes", 1.3), ("malloc_mapped_bytes", 4.0)] {
        let Some(grown) = after.get(name).map(|after| after - before[name]) else { continue };
        assert!(grown > 0.9 * bytes && grown < limit * bytes, "{name} grew by {grown}");
    }
    let record = heap.record();
    assert_eq!((record.allocator, record.version.is_empty()), (allocator, false));
    let slabs = record.bins.iter().map(|bin| bin.mapped_bytes());
    assert!(slabs.is_sorted_by(|one, next| one >= next));
    let has_setting = |name: &str| record.settings.iter().any(|(known, _)| known == name);
    assert_eq!(has_setting("MALLOC_CONF"), allocator == Allocator::Jemalloc);
    assert_eq!(has_setting("MIMALLOC_PAGE_RESET"), allocator == Allocator::Mimalloc);
    assert_eq!(heap.text().is_some(), !allocator.is_system());
    if allocator == Allocator::Jemalloc {
        assert!(has_setting("narenas") && has_setting("dirty_decay_ms"), "{:?}", record.settings);
        let bin = &record.bins[0];
        assert!(bin.size == 320 && bin.regions >= COUNT as u64, "{bin:?}");
        let has_bins = heap.text().is_some_and(|text| text.contains("curslabs"));
        assert!(has_bins, "its report has the bins");
    }
    drop(held);
}

#[test]
#[ignore = "runs in a process that preloads nothing"]
fn child_system() {
    check_allocator(Allocator::System);
}

#[test]
#[ignore = "runs in a process that preloads jemalloc"]
fn child_jemalloc() {
    check_allocator(Allocator::Jemalloc);
}

#[test]
#[ignore = "runs in a process that preloads tcmalloc"]
fn child_tcmalloc() {
    check_allocator(Allocator::Tcmalloc);
}

#[test]
#[ignore = "runs in a process that preloads mimalloc"]
fn child_mimalloc() {
    check_allocator(Allocator::Mimalloc);
}

#[test]
#[ignore = "runs in a process that preloads what the loader ignores"]
fn child_of_a_bogus_library() {
    let error = Heap::expect(Allocator::Jemalloc, None, &Tunables::new()).unwrap_err();
    let MallocError::Other { requested, found } = &error else { panic!("{error}") };
    assert_eq!(requested, "jemalloc");
    assert!(found.display().to_string().contains("libc.so"), "{error}");
}

#[test]
#[ignore = "runs in a process that preloads an allocator not requested"]
fn child_with_an_unrequested_allocator() {
    let error = Heap::expect(Allocator::System, None, &Tunables::new()).unwrap_err();
    assert!(error.to_string().starts_with("system was requested, but `malloc`"), "{error}");
}

#[test]
fn each_allocator_reports_on_its_own_process() {
    child("child_system", None);
    for allocator in [Allocator::Jemalloc, Allocator::Tcmalloc, Allocator::Mimalloc] {
        if let Some(library) = library(allocator) {
            child(&format!("child_{allocator}"), Some(&library));
        }
    }
}

#[test]
fn a_library_that_the_loader_ignores_is_detected() {
    let dir = tempfile::tempdir().unwrap();
    let bogus = dir.path().join("libjemalloc.so.2");
    std::fs::write(&bogus, "no library").unwrap();
    child("child_of_a_bogus_library", bogus.to_str());
}

#[test]
fn an_unrequested_allocator_is_detected() {
    let Some(library) = Allocator::ALL.into_iter().find_map(library) else {
        println!("skipped: no allocator is installed");
        return;
    };
    child("child_with_an_unrequested_allocator", Some(&library));
}
