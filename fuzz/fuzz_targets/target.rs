//! The fuzz target that has the name of this program.
#![no_main]

use std::sync::LazyLock;

use fuzz_targets::{Target, target};

static TARGET: LazyLock<Target> =
    LazyLock::new(|| target(env!("CARGO_BIN_NAME")).expect("a target has its line in the table"));

libfuzzer_sys::fuzz_target!(|data: &[u8]| TARGET(data));
