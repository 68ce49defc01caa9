//! Figures in the documents match the code.
//!
//! Goal: a changed constant names the sentence that quotes it. Method: the constant is searched in
//! its source as written, and the sentence in its page.

use std::fs;
use std::path::Path;

use model::Privilege;

/// Constants and the sentences that quote them.
type Quotes = &'static [(&'static str, &'static str)];

/// Sources below `crates/`, the page below `docs/`, and each constant with its sentence.
#[rustfmt::skip]
const QUOTES: &[(&str, &str, Quotes)] = &[
    ("drive/load/src/clock/steady.rs", "docs/method/timing.md", &[
        ("CALIBRATION: Nanos = Nanos::from_millis(50)", "process, over 50 ms"),
    ]),
    ("define/model/src/histogram.rs", "docs/method/timing.md", &[
        ("DIGITS: u8 = 3", "with 3 significant digits"),
    ]),
    ("drive/load/src/tally/layout.rs", "docs/method/timing.md", &[
        ("SUB_BUCKETS: u64 = 2048", "below 2,048 ns"),
    ]),
    ("drive/load/src/client/drive.rs", "docs/method/timing.md", &[
        ("FAILURES_IN_A_ROW_MAX: u32 = 1000", "After 1,000 failures in a row"),
    ]),
    ("report/analysis/src/metrics/times.rs", "docs/method/timing.md", &[
        ("MIN_BEYOND: u64 = 10", "at least ten operations lie beyond it"),
    ]),
    ("drive/workload/src/stream/position.rs", "docs/method/timing.md", &[
        ("CHECKED_POWER: u32 = 6", "One answer in 64"),
    ]),
    ("define/plan/src/resolve.rs", "docs/method/steady-state.md", &[
        ("WARMUP_MAX: Nanos = Nanos::from_secs(5)", "at most 5 s, unless"),
        ("Nanos(length.0 / 10)", "a tenth of the duration"),
        ("SETTLE_CAP_DEFAULT: Nanos = Nanos::from_secs(1200)", "(20 minutes if"),
    ]),
    ("define/plan/src/resolve.rs", "docs/workloads/key-value.md", &[
        ("WRITER_RATE_DEFAULT: Bytes = Bytes(2 << 20)", "2 MiB/s of keys and values"),
    ]),
    ("define/plan/src/experiment.rs", "docs/workloads/key-value.md", &[
        ("KEY_BYTES_DEFAULT: u32 = 20", "up to 20 bytes unless"),
        ("VALUE_BYTES_DEFAULT: u32 = 400", "Values (400 bytes unless"),
        ("COMPRESSIBLE_TO_DEFAULT: f64 = 0.5", "of their size, 0.5 unless"),
    ]),
    ("define/plan/src/preset.rs", "docs/workloads/key-value.md", &[
        ("(machine.cpus.whole() / 2).clamp(2, 12)", "half of the CPUs, at least 2 and at most 12"),
    ]),
    ("define/plan/src/cost.rs", "docs/workloads/key-value.md", &[
        ("DISK_PER_LIVE: u64 = 3", "room for 3 times its rows"),
    ]),
    ("define/plan/src/expand.rs", "docs/workloads/key-value.md", &[
        ("DISK_FLOOR_BYTES: Bytes = Bytes(2 << 30)", "above a floor of 2 GiB"),
    ]),
    ("observe/runner/src/worker/settle.rs", "docs/method/steady-state.md", &[
        ("POLL: Nanos = Nanos::from_millis(50)", "it polls every 50 ms"),
        ("IDLE_SAMPLES: u32 = 3", "three samples in a row"),
        ("STUCK: Nanos = Nanos::from_secs(5)", "has not moved for 5 s"),
    ]),
    ("report/analysis/src/metrics/server.rs", "docs/workloads/key-value.md", &[
        ("RATE_SUSTAINED: f64 = 0.95", "less than 95 % of its rate"),
    ]),
    ("observe/runner/src/validity/classify.rs", "docs/method/validity.md", &[
        ("LATE_SHARE: f64 = 0.01", "more than 1 % of the starts"),
        ("LAG_MIN: Nanos = Nanos(100_000)", ": 100 us, 5 % of the limit"),
        ("LAG_LIMIT_SHARE: f64 = 0.05", "5 % of the limit"),
        ("LAG_CALIBRATED: u64 = 3", "3 times the calibrated p99"),
        ("LAG_CALIBRATED_MAX: Nanos = Nanos(500_000)", "(up to 500 us)"),
        ("HARM_SHARE: f64 = 0.25", "a quarter of the late operations that the limit allows"),
        ("PAUSE_MIN_US: f64 = 30_000.0", "stood still for more than 30 ms"),
        ("THROTTLED_SHARE: f64 = 0.005", "for 0.5 % of the interval"),
        ("STEAL_SHARE: f64 = 0.05", "another guest took 5 % of the interval"),
    ]),
    ("observe/runner/src/supervisor/attribution.rs", "docs/method/validity.md", &[
        ("SPAN_SHARE: f64 = 0.1", "by more than a tenth of the interval"),
        ("PAUSE_MIN: Nanos = Nanos::from_millis(500)", "half a second or more"),
    ]),
    ("define/model/src/validity.rs", "docs/method/validity.md", &[
        ("RUN_QUEUE_SHARE: f64 = 0.05", "for more than 5 % of their working time"),
    ]),
    ("define/model/src/load.rs", "docs/method/validity.md", &[
        ("SERVED_SHARE: f64 = 0.99", "less than 99 % of the offered arrivals were served"),
    ]),
    ("define/fold/src/load_status.rs", "docs/method/validity.md", &[
        ("BACKLOG_MAX: Nanos = Nanos::SECOND", "longer than a second"),
        ("CLIENT_SHARE: f64 = 0.85", "explains 85 % of the clients' working time"),
        ("INVALID_SHARE_MAX: f64 = 0.2", "more than a fifth of its intervals, and at least two, are invalid"),
        ("INVALID_MIN: usize = 2", "at least two"),
    ]),
    ("drive/search/src/rate/bisection.rs", "docs/method/validity.md", &[
        ("FACTOR: f64 = 1.5", "rates rise by half"),
        ("ABOVE: f64 = 1.05", "at a rate 5 % above the rate found must then fail"),
    ]),
    ("drive/search/src/rate/spec.rs", "docs/method/validity.md", &[
        ("LONGER: u64 = 4", "a probe with four times the length"),
        ("CONFIRM: u64 = 10", "ten times as long as a probe"),
    ]),
    ("drive/search/src/steady.rs", "docs/method/validity.md", &[
        ("MAX_STALLED: f64 = 0.01", "stalled for more than 1 % of the time"),
    ]),
    ("define/model/src/load.rs", "docs/method/validity.md", &[
        ("SERVED_SHARE: f64 = 0.99", "less than 99 % of the arrivals served"),
    ]),
    ("drive/sql/server/src/user.rs", "docs/guide/privileges.md", &[
        ("only root starts programs under another account", "only root starts programs under another account"),
        ("sudo ASSAY_SERVER_USER={name} assay ...", "`sudo ASSAY_SERVER_USER=NAME assay ...`"),
        ("user.max_user_namespaces=10000", "`sudo sysctl -w user.max_user_namespaces=10000`"),
    ]),
    ("drive/sql/server/src/capabilities.rs", "docs/guide/privileges.md", &[
        ("docker run {}", "`docker run --cap-add NAME`"),
    ]),
    ("observe/sampler/src/limit/io_uring.rs", "docs/guide/privileges.md", &[
        ("it needs CAP_SYS_ADMIN or the group kernel.io_uring_group", "CAP_SYS_ADMIN or the group `kernel.io_uring_group`"),
        ("sudo sysctl -w kernel.io_uring_disabled=0", "`sudo sysctl -w kernel.io_uring_disabled=0`"),
    ]),
    ("observe/sampler/src/limit/aio_events.rs", "docs/guide/privileges.md", &[
        ("sudo sysctl -w {source}=", "`sudo sysctl -w fs.aio-max-nr=AMOUNT`"),
    ]),
    ("report/render/src/doctor.rs", "docs/guide/privileges.md", &[
        ("to read and run as root: assay doctor --script", "`assay doctor --script >remedies.sh`"),
    ]),
    ("observe/snapshot/src/transfer.rs", "docs/guide/privileges.md", &[
        ("Advice::DontNeed", "`posix_fadvise`"),
    ]),
];

/// Every privilege, by its name in `model::privilege`.
const PRIVILEGES: [(&str, Privilege); 10] = [
    ("CONTROL_GROUPS_V1", Privilege::CONTROL_GROUPS_V1),
    ("CONTROL_GROUPS_V2", Privilege::CONTROL_GROUPS_V2),
    ("IO_CONTROLLER", Privilege::IO_CONTROLLER),
    ("HARD_LIMITS", Privilege::HARD_LIMITS),
    ("BLOCK_DEVICE", Privilege::BLOCK_DEVICE),
    ("OTHER_PROCESSES", Privilege::OTHER_PROCESSES),
    ("TRACER", Privilege::TRACER),
    ("KERNEL_LOG", Privilege::KERNEL_LOG),
    ("PROFILES", Privilege::PROFILES),
    ("DRIVE_HEALTH", Privilege::DRIVE_HEALTH),
];

/// Reads a file of the repository, white space collapsed.
fn text_of(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let text = fs::read_to_string(root.join(path)).expect("a file of this repository");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn quoted_constants_match_the_code() {
    for (source, page, quotes) in QUOTES {
        let (code, text) = (text_of(&format!("crates/{source}")), text_of(page));
        for (constant, sentence) in *quotes {
            assert!(code.contains(constant), "{source} lacks `{constant}`: correct `{sentence}`");
            assert!(text.contains(sentence), "{page} lacks `{sentence}` for {constant}");
        }
    }
}

/// Goal: the page of privileges and the refusals name the same privileges and commands.
/// Method: each has a row with its need and its command, and a source of a refusal imports it.
#[test]
fn privileges_of_refusals_are_the_rows_of_their_page() {
    let page = text_of("docs/guide/privileges.md").replace("\\|", "|");
    let own = text_of("crates/define/model/src/privilege.rs");
    assert_eq!(own.matches("pub const ").count(), PRIVILEGES.len());
    let code = sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    let refusals = code.iter().filter(|text| !text.contains("pub const KERNEL_LOG"));
    let refusals = refusals.filter(|text| !text.contains("const PRIVILEGES"));
    for (name, Privilege(need, grant)) in PRIVILEGES {
        assert!(page.contains(&format!("| {need} |")), "no row for {name}: {need}");
        assert!(page.contains(&format!("| `{grant}` |")), "{name} lacks its command: {grant}");
        assert!(refusals.clone().any(|text| text.contains(name)), "no refusal names {name}");
    }
}

/// Goal: a guarantee of the threat model names code and tests that exist.
/// Method: each name in backquotes with an underscore is a test, each with a slash is a path.
#[test]
fn threat_model_names_code_and_tests_that_exist() {
    const PAGES: [&str; 4] = [
        "docs/method/threats.md",
        "docs/method/threats-files.md",
        "docs/method/threats-network.md",
        "docs/method/threats-strangers.md",
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let pages = PAGES.map(text_of);
    let code = sources(&root.join("crates"));
    let quoted = pages.iter().flat_map(|page| page.split('`').skip(1).step_by(2));
    let (mut paths, mut tests) = (0, 0);
    for name in quoted {
        if name.contains('/') {
            assert!(root.join(name).exists(), "no file `{name}`");
            paths += 1;
        } else if name.matches('_').count() > 1 && !name.starts_with("ASSAY_") {
            assert!(code.iter().any(|text| is_test(text, name)), "no test `{name}`");
            tests += 1;
        }
    }
    assert!(paths > 10 && tests > 20, "{paths} paths and {tests} tests");
}

/// Returns whether a source has a test of that name, or a part of tests with its own goal.
fn is_test(source: &str, name: &str) -> bool {
    let definition = format!("fn {name}(");
    source.match_indices(&definition).any(|(at, _)| {
        let before = source[..at].lines().rev().map(str::trim);
        let mut attributes = before.skip_while(|line| line.is_empty());
        attributes
            .by_ref()
            .take_while(|line| !line.ends_with('}'))
            .any(|line| line == "#[test]" || line.starts_with("/// Goal: "))
    })
}

/// Returns the texts of the Rust sources below a directory.
fn sources(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).expect("a folder of this repository").flatten();
    let entries = entries.map(|entry| entry.path());
    let texts = entries.map(|path| match path.extension() {
        _ if path.is_dir() => sources(&path),
        Some(extension) if extension == "rs" => vec![fs::read_to_string(&path).expect("a source")],
        _ => Vec::new(),
    });
    texts.flatten().collect()
}

#[test]
fn every_preset_is_in_the_table() {
    const PAGE: &str = "docs/workloads/key-value.md";
    let text = text_of(PAGE);
    for preset in plan::PRESETS {
        let direct = if preset.direct_io { "yes" } else { "no" };
        let row = format!(
            "| `{}` | {} | {} | {direct} | {} |",
            preset.name, preset.cache_share, preset.stored_share, preset.compression
        );
        assert!(text.contains(&row), "{PAGE} lacks: {row}");
    }
}

#[test]
fn engines_table_names_the_linked_versions() {
    let page = text_of("docs/engines/README.md");
    for driver in [
        driver_sqlite::driver(),
        driver_lmdb::driver(),
        driver_redb::driver(),
        driver_fjall::driver(),
    ] {
        let identity = driver.identity();
        let cell = format!("| {} | linked |", identity.version);
        assert!(page.contains(&cell), "docs/engines/README.md lacks {} {cell}", identity.engine);
    }
}

#[test]
fn readme_quickstart_matches_the_experiment() {
    let (readme, experiment) = (text_of("README.md"), text_of("experiments/quickstart.toml"));
    let variants: Vec<_> = experiment.split("[[variant]]").skip(1).collect();
    assert!(variants.len() > 3, "{experiment}");
    for variant in variants {
        let (_, name) = variant.split_once("name = \"").expect("a variant has a name");
        let (name, _) = name.split_once('"').expect("a name ends");
        assert!(readme.contains(name), "README.md shows no {name}");
    }
}
