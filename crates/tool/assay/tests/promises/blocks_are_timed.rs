//! `assay micro`: what a block costs, for programs and in words, and what it refuses.

use crate::place::Place;

#[test]
fn every_kernel_of_the_crates_is_timed() {
    let said = Place::new().assay(&["micro", "--rounds", "6", "--span", "1ms", "--format", "csv"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let lines: Vec<&str> = said.out.lines().collect();
    assert_eq!(lines.len(), 13, "a header, six kernels, two sizes: {}", said.out);
    for kernel in ["crc32c", "xxh3", "lz4-uncompress", "zstd-compress"] {
        let start = format!("{kernel},4096,crates,6,");
        assert!(lines.iter().any(|line| line.starts_with(&start)), "{}", said.out);
    }
}

#[test]
fn the_answer_names_who_served_and_what_was_published() {
    let arguments = ["micro", "--kernel", "xxh3", "--block", "4KiB", "--span", "1ms"];
    let said = Place::new().assay(&arguments);
    assert_eq!(said.code, 0, "{}", said.err);
    for words in ["ns/block", "crate twox-hash", "Callaghan, 2023-01-03", "23,119 MB/s"] {
        assert!(said.out.contains(words), "{words}: {}", said.out);
    }
}

#[test]
fn what_has_no_such_code_is_refused() {
    let place = Place::new();
    for (arguments, words) in [
        (["--engine", "sqlite"], "only RocksDB's libraries do"),
        (["--engine", "rocksdb"], "which version of rocksdb?"),
        (["--kernel", "md5"], "`md5` is no kernel"),
        (["--block", "5"], "not between 64 bytes and 1.00 MiB"),
    ] {
        let said = place.assay(&[&["micro"], &arguments[..]].concat());
        assert_ne!(said.code, 0);
        assert!(said.err.contains(words), "{}", said.err);
    }
}
