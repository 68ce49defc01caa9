//! Benchmark of the readers on a large archive: `list`, `compare`, `show`, `history`.
//!
//! `cargo bench -p assay --bench archive` runs the real program. Records are those of a real
//! experiment, which is run first, multiplied with seeded noise: 100 experiments of 100 runs, one
//! of 1,000, and one of 100 whose intervals and histograms are read, because its warm-up is
//! trimmed. Cold means that derived files were deleted and, with root privilege, that the kernel
//! dropped its page cache; times are medians of the rounds. Instructions of a comparison of 100
//! runs are counted by callgrind where Valgrind is installed.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use archive::{ExperimentDir, HistogramPlace, Log, Results, RunWriter};
use load::empty_histogram;
use model::{
    Cell, IntervalRecord, Manifest, Nanos, Readings, RunRecord, Stalls, StopRule, TimeProfile,
    TrendClass,
};

/// Template experiment: five kinds of step on a linked engine.
const EXPERIMENT: &str = r#"[experiment]
name = "template"
question = "What does a record contain?"

[benchmark]
steps = ["fillseq", "settle", "readrandom", "fwdrange", "overwrite", "readwhilewriting"]
rows = "20k"
duration = "1s"

[[variant]]
name = "one"
engine = "sqlite"
"#;

const VARIANTS: u32 = 10;
/// Levels of clients and repetitions: of the 100 experiments, and of the large one.
const SMALL: (u32, u32) = (1, 10);
const LARGE: (u32, u32) = (5, 20);
const EXPERIMENTS: u32 = 100;
/// The timed step of the experiment with a warm-up, and its seconds: measured and to be trimmed.
const WARMING: &str = "readrandom";
const MEASURED_S: u64 = 30;
const WARMUP_S: u64 = 5;
/// Rounds: a median of five tolerates two disturbed ones.
const ROUNDS: usize = 5;
/// Run-to-run noise of the generated runs, 1.6 %; times the largest sum it fits into 32 bits.
const NOISE_PPM: u32 = 16_000;

/// Targets, in seconds.
const LIST_COLD_MAX: f64 = 2.0;
const LIST_WARM_MAX: f64 = 0.2;
const COMPARE_MAX: f64 = 1.0;
const SHOW_MAX: f64 = 1.0;

fn main() {
    // `cargo test --benches` only checks that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory");
    let place = Place { root: root.path().to_path_buf() };
    let bytes = place.fill();
    println!(
        "{} runs in {EXPERIMENTS} experiments and 1 of {}, {:.0} KiB a record",
        EXPERIMENTS * runs_of(SMALL) + runs_of(LARGE),
        runs_of(LARGE),
        bytes / 1024.0,
    );
    let cold = if drop_page_cache() { "cold" } else { "cold (page cache not dropped: not root)" };
    let drop_all_caches = |place: &Place| {
        place.delete_derived();
        drop_page_cache();
    };
    place.report(&format!("list, {cold}"), &["list"], LIST_COLD_MAX, drop_all_caches);
    place.report("list, warm", &["list"], LIST_WARM_MAX, |_| {});
    let compare = |name, format| ["compare", name, "--format", format];
    for format in ["text", "json"] {
        let arguments = compare("large", format);
        let first = format!("compare 1,000 runs, {format}, noise of 20 experiments not cached");
        place.report(&first, &arguments, COMPARE_MAX, Place::delete_derived);
        place.report(&format!("compare 1,000 runs, {format}"), &arguments, COMPARE_MAX, |_| {});
    }
    let trimmed = "compare 100 runs, 25 s of histograms each";
    place.report(trimmed, &compare("warming", "text"), COMPARE_MAX, |_| {});
    place.report("show 1,000 runs", &["show", "large"], SHOW_MAX, |_| {});
    let history = ["history", "--experiment", "large"];
    place.report("history of 1 of 101 experiments", &history, COMPARE_MAX, |_| {});
    for format in ["text", "json"] {
        let arguments = compare("small-0", format);
        for (state, before) in [("not cached", Place::delete_derived as fn(&Place)), ("", |_| {})] {
            before(&place);
            match place.instructions(&arguments) {
                Some(count) => println!("compare 100 runs, {format} {state:<20} {count:.0} M"),
                None => println!("skipped: valgrind is not installed"),
            }
        }
    }
}

const fn runs_of((levels, repetitions): (u32, u32)) -> u32 {
    VARIANTS * levels * repetitions
}

/// Drops the page cache after a sync; returns whether it succeeded.
fn drop_page_cache() -> bool {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3").is_ok()
}

/// A scratch directory with an archive.
struct Place {
    root: PathBuf,
}

impl Place {
    /// Writes the archive; returns the mean bytes of a record.
    fn fill(&self) -> f64 {
        fs::write(self.root.join("template.toml"), EXPERIMENT).expect("a scratch file");
        self.assay(&["run", "template.toml"]);
        let results = Results::at(&self.results());
        let template = results.find("template").expect("it was run");
        let manifest = template.manifest().expect("it was written");
        let record = template.runs(&manifest).expect("it was written").remove(0);
        let mut noise = Noise(1);
        let mut bytes = 0;
        for number in 0..EXPERIMENTS {
            let id = format!("2026010{}T{:02}0000Z-{number:04}", 1 + number / 20, number % 20);
            let name = format!("small-{}", number % 10);
            bytes += self.generate((&name, &id), SMALL, (&manifest, &record), &mut noise);
        }
        let id = "20300101T000000Z-9999";
        bytes += self.generate(("large", id), LARGE, (&manifest, &record), &mut noise);
        let id = "20300102T000000Z-9998";
        let record = warming(&record);
        self.generate(("warming", id), SMALL, (&manifest, &record), &mut noise);
        add_intervals(&results.find("warming").expect("it was generated"));
        fs::remove_dir_all(self.results().join("template")).expect("a scratch directory");
        bytes as f64 / f64::from(EXPERIMENTS * runs_of(SMALL) + runs_of(LARGE))
    }

    /// Writes an experiment of that name and identifier; returns the bytes of its records.
    ///
    /// The archive's own writer would sync each file.
    fn generate(
        &self,
        (name, id): (&str, &str),
        (levels, repetitions): (u32, u32),
        (manifest, record): (&Manifest, &RunRecord),
        noise: &mut Noise,
    ) -> usize {
        let mut manifest = manifest.clone();
        name.clone_into(&mut manifest.plan.experiment.name);
        id.clone_into(&mut manifest.id);
        let stamp = stamp(id);
        stamp.clone_into(&mut manifest.created_at);
        let experiment = &mut manifest.plan.experiment;
        let first = experiment.variants[0].clone();
        let variant = |number: u32| model::Variant { name: name_of(number), ..first.clone() };
        experiment.variants = (0..VARIANTS).map(variant).collect();
        experiment.base = name_of(0);
        experiment.clients = (1..=levels).collect();
        experiment.repetitions = repetitions;
        manifest.plan.cells.clear();
        let dir = self.results().join(name).join(id);
        let mut bytes = 0;
        for repetition in 1..=repetitions {
            for clients in 1..=levels {
                for number in 0..VARIANTS {
                    let variant = name_of(number);
                    let cell = Cell {
                        id: format!("{variant}.c{clients}.r{repetition}"),
                        variant,
                        clients,
                        repetition,
                        seed: u64::from(repetition),
                    };
                    let run = noisy(record, &cell, id, &stamp, noise);
                    let path = dir.join("runs").join(&cell.id).join("record.json");
                    bytes += write(&path, serde_json::to_vec_pretty(&run));
                    manifest.plan.cells.push(cell);
                }
            }
        }
        write(&dir.join("manifest.json"), serde_json::to_vec_pretty(&manifest));
        bytes
    }

    fn results(&self) -> PathBuf {
        self.root.join("results")
    }

    /// Deletes the derived files.
    fn delete_derived(&self) {
        for dir in Results::at(&self.results()).newest() {
            let derived = dir.path().join("derived");
            if derived.exists() {
                fs::remove_dir_all(derived).expect("a scratch directory");
            }
        }
    }

    /// Runs the program; discards its output.
    fn assay(&self, arguments: &[&str]) {
        let status = Command::new(env!("CARGO_BIN_EXE_assay"))
            .args(arguments)
            .current_dir(&self.root)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{arguments:?}");
    }

    /// Returns the program's instructions in millions; `None` without Valgrind.
    fn instructions(&self, arguments: &[&str]) -> Option<f64> {
        let out = self.root.join("callgrind.out");
        let mut valgrind = Command::new("valgrind");
        valgrind.arg("--tool=callgrind").arg(format!("--callgrind-out-file={}", out.display()));
        valgrind.arg(env!("CARGO_BIN_EXE_assay")).args(arguments).current_dir(&self.root);
        valgrind.stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
        let text = fs::read_to_string(out).expect("callgrind wrote it");
        let total = text.lines().find_map(|line| line.strip_prefix("totals: "));
        total.and_then(|total| total.parse::<f64>().ok()).map(|count| count / 1e6)
    }

    /// Prints the program's wall time, each time after `before`, with the target.
    fn report(&self, what: &str, arguments: &[&str], target_s: f64, before: impl Fn(&Self)) {
        let mut seconds: Vec<f64> = (0..ROUNDS)
            .map(|_| {
                before(self);
                let begun = Instant::now();
                self.assay(arguments);
                begun.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_by(f64::total_cmp);
        let (median, most) = (seconds[ROUNDS / 2], seconds[ROUNDS - 1]);
        let verdict = if median <= target_s { "met" } else { "MISSED" };
        println!("{what:<60} {median:6.3} s (most {most:.3})   target {target_s} s: {verdict}");
    }
}

/// Returns a variant's name.
fn name_of(number: u32) -> String {
    format!("variant-{number}")
}

/// Returns the identifier's stamp as RFC 3339.
fn stamp(id: &str) -> String {
    let (date, time) = (&id[..8], &id[9..15]);
    let (year, month, day) = (&date[..4], &date[4..6], &date[6..]);
    let (hour, minute, second) = (&time[..2], &time[2..4], &time[4..]);
    format!("{year}-{month}-{day}T{hour}:{minute}:{second}Z")
}

/// Returns the record as that of another cell, with noise in every figure.
fn noisy(record: &RunRecord, cell: &Cell, id: &str, at: &str, noise: &mut Noise) -> RunRecord {
    let mut run = record.clone();
    run.id = format!("{id}/{}", cell.id);
    run.cell = cell.clone();
    run.variant.name.clone_from(&cell.variant);
    // One second after the manifest.
    run.started_at = at.replace("00Z", "01Z");
    for step in &mut run.steps {
        step.duration_ns = Nanos(noise.of(step.duration_ns.0));
        for counter in step.counters.values_mut() {
            *counter *= f64::from(noise.ppm()) / 1e6;
        }
        for summary in step.clients.values_mut() {
            for times in [&mut summary.response, &mut summary.service] {
                for time in [&mut times.p50_ns, &mut times.p99_ns, &mut times.p999_ns] {
                    *time = noise.of(*time);
                }
            }
        }
    }
    run
}

/// Returns the record with a timed step that is steady after its warm-up.
fn warming(record: &RunRecord) -> RunRecord {
    let mut record = record.clone();
    for step in record.steps.iter_mut().filter(|step| step.step.name == WARMING) {
        let span = Nanos::from_secs(MEASURED_S);
        (step.step.stop, step.duration_ns) = (StopRule::Duration(span), span);
        step.time_profile = Some(TimeProfile {
            class: TrendClass::WarmUp,
            steady_from_ns: Nanos::from_secs(WARMUP_S),
            drifts: BTreeMap::new(),
            cycle: None,
            stalls: Stalls::default(),
            seconds: u32::try_from(MEASURED_S - WARMUP_S).unwrap_or(u32::MAX),
            long_run_variance: 1e-4,
            effective_seconds: 20.0,
        });
    }
    record
}

/// Writes the intervals and histograms of the runs' warming steps.
fn add_intervals(dir: &ExperimentDir) {
    let manifest = dir.manifest().expect("it was written");
    for run in dir.runs(&manifest).expect("it was written") {
        let path = dir.run_dir(&run.cell.id);
        let mut writer = RunWriter::create(path).expect("a scratch directory");
        let step = run.steps.iter().find(|step| step.step.name == WARMING).expect("it has one");
        for second in 0..MEASURED_S {
            let (start, length) = (Nanos::from_secs(second), Nanos::SECOND);
            let interval = IntervalRecord {
                step_index: step.index,
                step: step.step.name.clone(),
                is_warmup: false,
                start_ns: start,
                length_ns: length,
                clients: step.clients.clone(),
                writers: BTreeMap::new(),
                probe: None,
                invalid: None,
                start_lag: None,
                within_limit: None,
                spanning: Vec::new(),
                readings: Readings::new(),
                tables: model::TableReadings::new(),
            };
            writer.append_interval(&interval).expect("a scratch file");
            for (kind, summary) in &step.clients {
                let tag = format!("{}.{}.{kind}", step.index, step.step.name);
                let place = HistogramPlace { tag: &tag, is_warmup: false, start, length };
                for log in [Log::Response, Log::Service] {
                    let mut times = empty_histogram();
                    // From the median up to four times as long.
                    for at in 0..3_000 {
                        let ns = summary.response.p50_ns * (1_000 + at) / 1_000;
                        times.record_n(ns.max(1), 1 + at % 7).expect("it resizes");
                    }
                    writer.append(log, &place, &times).expect("a scratch file");
                }
            }
        }
    }
}

/// Writes a file as the archive does, without sync; returns its bytes.
fn write(path: &Path, text: serde_json::Result<Vec<u8>>) -> usize {
    let text = text.expect("a record is always valid JSON");
    fs::create_dir_all(path.parent().expect("a file below the scratch directory"))
        .expect("a scratch directory");
    fs::write(path, &text).expect("a scratch file");
    text.len()
}

/// Noise from a seed.
struct Noise(u64);

impl Noise {
    /// Returns a factor around 1, in parts per million.
    ///
    /// Source: S. Vigna, 2014, "An experimental exploration of Marsaglia's xorshift generators,
    /// scrambled", xorshift64. The sum of its four parts is nearly normal; a part's variance is
    /// 2^32/12, so the standard deviation of the sum is 37,837.
    fn ppm(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let part = |part: u64| u32::try_from((self.0 >> (16 * part)) & 0xffff).unwrap_or(0);
        let sum: u32 = (0..4).map(part).sum();
        1_000_000 - 2 * 65_535 * NOISE_PPM / 37_837 + sum * NOISE_PPM / 37_837
    }

    /// Returns a time with noise.
    fn of(&mut self, time: u64) -> u64 {
        time * u64::from(self.ppm()) / 1_000_000
    }
}
