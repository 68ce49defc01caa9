//! `assay micro` measures kernels per block and rejects invalid arguments.

use crate::workspace::{ProgramOutput, Workspace};

#[test]
fn every_linked_kernel_is_measured() {
    let output =
        Workspace::new().assay(&["micro", "--rounds", "6", "--span", "1ms", "--format", "csv"]);
    assert_eq!(output.code, 0, "{}", output.err);
    let lines: Vec<&str> = output.out.lines().collect();
    assert_eq!(lines.len(), 13, "a header, six kernels, two sizes: {}", output.out);
    for kernel in ["crc32c", "xxh3", "lz4-uncompress", "zstd-compress"] {
        let start = format!("{kernel},4096,crates,6,");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{}", output.out);
    }
}

#[test]
fn output_names_implementations_and_published_figures() {
    let arguments = ["micro", "--kernel", "xxh3", "--block", "4KiB", "--span", "1ms"];
    let output = Workspace::new().assay(&arguments);
    assert_eq!(output.code, 0, "{}", output.err);
    for text in ["ns/block", "crate twox-hash", "Callaghan, 2023-01-03", "23,119 MB/s"] {
        assert!(output.out.contains(text), "{text}: {}", output.out);
    }
}

#[test]
fn invalid_micro_arguments_are_rejected() {
    let workspace = Workspace::new();
    for (arguments, expected) in [
        (["--engine", "sqlite"], "only RocksDB's libraries export them"),
        (["--engine", "rocksdb"], "rocksdb names no version"),
        (["--kernel", "md5"], "`md5` is not a kernel"),
        (["--block", "5"], "not between 64 bytes and 1.00 MiB"),
    ] {
        let output = workspace.assay(&[&["micro"], &arguments[..]].concat());
        assert_ne!(output.code, 0);
        assert!(output.err.contains(expected), "{}", output.err);
    }
}

/// Goal: what a library prints is never taken for a response: they share no stream.
#[test]
fn the_process_of_a_library_serves_its_parent_alone() {
    let workspace = Workspace::new();
    let mut program = workspace.program(&["micro", "--serve", "crates"]);
    let output = program.write_stdin("{\"number\":0,\"message\":\"Serves\"}\n").output();
    let output = ProgramOutput::of(output.expect("it starts"));
    assert_eq!((output.code, output.out.as_str()), (1, ""), "{}", output.err);
    assert!(output.err.contains("only Assay itself starts this command"), "{}", output.err);
}
