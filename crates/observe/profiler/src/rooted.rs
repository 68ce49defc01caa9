//! Decides whether a stack is whole: whether it reaches the process's entry or the client.

use model::Frame;
use model::profile::UNKNOWN;

/// Functions in which threads and processes begin.
///
/// Source: glibc 2.36, sysdeps/nptl and csu; GCC, libstdc++-v3/src/c++11/thread.cc.
const ENTRIES: [&str; 8] = [
    "_start",
    "__libc_start_call_main",
    "main",
    "start_thread",
    "clone",
    "clone3",
    "__clone3",
    "execute_native_thread_routine",
];
/// Start of the names of the C library's entry, which versions end differently.
const LIBC_ENTRY: &str = "__libc_start_main";
/// Start of the name of the C library's file.
const LIBC: &str = "libc.so";
/// Start of the name of the file of C++'s library, in which its threads begin.
const LIBSTDCXX: &str = "libstdc++.so";
/// End of the name of the entry of Rust's threads. Source: Rust, std/src/sys/thread/unix.rs.
const RUST_ENTRY: &str = "::thread_start";
/// Starts of the names of modules that engines and clients call, and which are no engine.
const NO_ENGINE: [&str; 4] = [LIBC, "libm.so", "ld-linux", "["];

/// Returns whether a stack, from the root to the sampled function, reaches the entry of its thread.
///
/// With `client`, the name of the client's program, a stack in which the client calls an engine is
/// whole too: what lies above the call is the client.
pub(crate) fn is_rooted(frames: &[&Frame], client: Option<&str>) -> bool {
    let outermost = frames.iter().find(|frame| frame.function != UNKNOWN);
    if outermost.is_some_and(|frame| is_entry(&frame.function)) || is_called_by_library(frames) {
        return true;
    }
    let Some(client) = client else { return false };
    let is_engine = |frame: &&Frame| {
        frame.module != client && !NO_ENGINE.iter().any(|start| frame.module.starts_with(start))
    };
    frames.iter().skip_while(|frame| frame.module != client).any(is_engine)
}

/// Returns whether a function without a name in a library in which threads begin calls all others:
/// a stripped library names no `start_thread`, `clone3` or `execute_native_thread_routine`.
fn is_called_by_library(frames: &[&Frame]) -> bool {
    let Some(root) = frames.first().filter(|root| root.function == UNKNOWN) else { return false };
    let begins_threads = [LIBC, LIBSTDCXX].iter().any(|start| root.module.starts_with(start));
    begins_threads && frames.iter().any(|frame| frame.module != root.module)
}

fn is_entry(function: &str) -> bool {
    ENTRIES.contains(&function)
        || function.starts_with(LIBC_ENTRY)
        || function.ends_with(RUST_ENTRY)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_rooted(stack: &str, client: Option<&str>) -> bool {
        let frame = |text: &str| {
            let (module, function) = text.split_once('`').unwrap();
            Frame { module: module.to_owned(), function: function.to_owned() }
        };
        let frames: Vec<Frame> = stack.split_whitespace().map(frame).collect();
        super::is_rooted(&frames.iter().collect::<Vec<_>>(), client)
    }

    #[test]
    fn a_stack_from_an_entry_is_rooted() {
        assert!(is_rooted("libc.so.6`__libc_start_main_impl postgres`main", None));
        assert!(is_rooted("assay`std::sys::thread::unix::Thread::new::thread_start", None));
        assert!(is_rooted("mysqld`[unknown] mysqld`start_thread mysqld`f", None));
    }

    #[test]
    fn a_stack_that_ends_early_is_not_rooted() {
        assert!(!is_rooted("postgres`ExecScan postgres`main", None));
        assert!(!is_rooted("postgres`[unknown]", None));
        assert!(!is_rooted("", Some("assay")));
    }

    #[test]
    fn a_stripped_library_is_the_entry_of_what_it_calls() {
        assert!(is_rooted("libstdc++.so.6.0.30`[unknown] librocksdb.so`rocksdb::Flush", None));
        assert!(!is_rooted("libstdc++.so.6.0.30`[unknown] libstdc++.so.6.0.30`append", None));
        assert!(is_rooted("libc.so.6`[unknown] libc.so.6`[unknown] mysqld`handle", None));
        assert!(!is_rooted("libc.so.6`[unknown] libc.so.6`memcpy", None));
        assert!(!is_rooted("libc.so.6`qsort postgres`compare", None));
    }

    #[test]
    fn a_stack_in_which_the_client_calls_an_engine_is_rooted() {
        let stack = "assay`driver::get librocksdb.so.7.8`rocksdb_get";
        assert!(is_rooted(stack, Some("assay")));
        assert!(!is_rooted(stack, None));
        assert!(!is_rooted("librocksdb.so.7.8`rocksdb_get libc.so.6`memcpy", Some("assay")));
    }

    #[test]
    fn the_c_library_and_the_kernel_are_no_engine() {
        assert!(!is_rooted("assay`mdb_get libc.so.6`memcmp", Some("assay")));
        assert!(!is_rooted("assay`mdb_get [kernel]`asm_exc_page_fault", Some("assay")));
    }
}
