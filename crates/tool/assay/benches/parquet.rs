//! Benchmark of `assay list` and `assay history` on the Parquet files of a million runs.
//!
//! `cargo bench -p assay --bench parquet` prints wall times. The plain files of so many runs would
//! take 30 GB, so the set is written from changed copies of one record: each experiment has its
//! manifest, and no record. `-- --keep DIR` writes the archive there, for queries by hand.

#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use archive::{ExperimentSummary, PartExperiment, PartSetWriter, Results};
use columns::{ExperimentFacts, PartWriter, RunRows, Table};
use model::record::RunEnd;
use model::{Cell, Manifest, Nanos, RunRecord};

/// Template of the records: two steps on a linked engine.
const EXPERIMENT: &str = r#"[experiment]
name = "template"
question = "What does a record contain?"

[benchmark]
steps = ["fillseq", "readrandom"]
rows = "20k"
duration = "1s"

[[variant]]
name = "one"
engine = "sqlite"
"#;

const EXPERIMENTS: u32 = 1_000;
/// Experiments of a part: there are as many parts as `assay archive parquet` makes of so many.
const PART: u32 = 40;
const VARIANTS: u32 = 10;
const REPETITIONS: u32 = 100;
/// Rounds; the best is compared with the target, and the worst is printed too.
const ROUNDS: usize = 5;

/// Targets, in seconds.
const LIST_MAX: f64 = 1.0;
const HISTORY_MAX: f64 = 2.0;

fn main() {
    // `cargo test --benches` only checks that it starts.
    if std::env::args().any(|argument| argument == "--test") {
        return;
    }
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory");
    let named = std::env::args().skip_while(|argument| argument != "--keep").nth(1);
    let root = named.map_or_else(|| scratch.path().to_path_buf(), PathBuf::from);
    let place = Place { root };
    let begun = Instant::now();
    place.fill();
    println!(
        "{} runs in {EXPERIMENTS} experiments, written in {:.0} s",
        EXPERIMENTS * VARIANTS * REPETITIONS,
        begun.elapsed().as_secs_f64()
    );
    place.report("list", &["list"], LIST_MAX);
    let history = ["history", "--metric", "response_ns_p99", "--step", "readrandom"];
    place.report("history of one metric", &history, HISTORY_MAX);
    let one = ["history", "--experiment", "name-7", "--variant", "variant-3"];
    place.report("history of one variant", &one, HISTORY_MAX);
}

/// A directory with an archive.
struct Place {
    root: PathBuf,
}

impl Place {
    /// Writes the manifests and the set.
    fn fill(&self) {
        fs::create_dir_all(&self.root).expect("a directory");
        fs::write(self.root.join("template.toml"), EXPERIMENT).expect("a scratch file");
        self.assay(&["run", "template.toml", "--results", "template"]);
        self.assay(&["archive", "parquet", "template"]);
        let template = Results::at(&self.root.join("template"));
        let dir = template.find("template").expect("it was run");
        let manifest = dir.manifest().expect("it was written");
        let record = dir.runs(&manifest).expect("it was written").remove(0);
        let results = Results::at(&self.root.join("results"));
        fs::create_dir_all(self.root.join("results")).expect("a scratch directory");
        let writer = PartSetWriter::begin(results.part_set()).expect("a scratch directory");
        let mut source = Source { manifest, record, noise: Noise(1) };
        let mut parts = Vec::new();
        for first in (0..EXPERIMENTS).step_by(PART as usize) {
            let name = format!("{first:06}");
            let create = |table: Table| {
                writer.create(&format!("{table}-{name}.parquet")).map(BufWriter::new)
            };
            let mut tables = PartWriter::begin(create).expect("a scratch file");
            let numbers = first..EXPERIMENTS.min(first + PART);
            let add = |number| source.add(&self.root.join("results"), number, &mut tables);
            let experiments: Vec<_> = numbers.map(add).collect();
            tables.finish().expect("a scratch file");
            let part = writer.part(name.clone(), experiments, &Table::ALL.map(Table::name));
            parts.push(part.expect("a scratch file"));
        }
        writer.finish(parts).expect("a scratch directory");
        // The set of the template names the program that is measured, not this one.
        let index = |of: &str| self.root.join(of).join(".parquet/set.json");
        let read = |of: &str| -> serde_json::Value {
            let text = fs::read(index(of)).expect("it was written");
            serde_json::from_slice(&text).expect("JSON")
        };
        let mut set = read("results");
        set["program"] = read("template")["program"].clone();
        fs::write(index("results"), set.to_string()).expect("a scratch file");
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

    /// Prints the program's wall time with the target.
    fn report(&self, what: &str, arguments: &[&str], target_s: f64) {
        let time = |_| {
            let begun = Instant::now();
            self.assay(arguments);
            begun.elapsed().as_secs_f64()
        };
        let mut seconds: Vec<f64> = (0..ROUNDS).map(time).collect();
        seconds.sort_by(f64::total_cmp);
        let (best, worst) = (seconds[0], seconds[ROUNDS - 1]);
        let verdict = if best <= target_s { "met" } else { "MISSED" };
        println!("{what:<30} {best:6.3} s best, {worst:.3} worst; target {target_s} s: {verdict}");
    }
}

/// The experiments, one after the other.
struct Source {
    manifest: Manifest,
    record: RunRecord,
    noise: Noise,
}

impl Source {
    /// Writes the manifest of an experiment, and the rows of its runs.
    fn add(
        &mut self,
        results: &Path,
        number: u32,
        tables: &mut PartWriter<BufWriter<File>>,
    ) -> PartExperiment {
        let name = format!("name-{}", number % 10);
        let (month, day, hour) = (1 + number / 672, 1 + number / 24 % 28, number % 24);
        let id = format!("2026{month:02}{day:02}T{hour:02}0000Z-{number:04x}");
        let directory = format!("{name}/{id}");
        let mut manifest = self.manifest.clone();
        manifest.created_at = format!("2026-{month:02}-{day:02}T{hour:02}:00:00Z");
        manifest.id = id;
        let experiment = &mut manifest.plan.experiment;
        let first = experiment.variants[0].clone();
        let variant = |at: u32| model::Variant { name: format!("variant-{at}"), ..first.clone() };
        experiment.variants = (0..VARIANTS).map(variant).collect();
        (experiment.name, experiment.base) = (name, "variant-0".to_owned());
        experiment.repetitions = REPETITIONS;
        manifest.plan.cells = cells();
        let dir = results.join(&directory);
        fs::create_dir_all(dir.join("runs")).expect("a scratch directory");
        fs::write(dir.join("checksums"), "").expect("a scratch file");
        let text = serde_json::to_vec_pretty(&manifest).expect("a record is always valid JSON");
        fs::write(dir.join("manifest.json"), text).expect("a scratch file");
        let summary = summary(&manifest);
        let facts = ExperimentFacts {
            directory: &directory,
            manifest: &manifest,
            summary: &summary,
            complete: manifest.plan.cells.len() as u64,
            damaged: 0,
        };
        tables.add_experiment(&facts).expect("a scratch file");
        for cell in &manifest.plan.cells {
            let run = self.noise.run(&self.record, cell, &manifest);
            let rows =
                RunRows { directory: &directory, manifest: &manifest, run: &run, intervals: &[] };
            tables.add_run(&rows).expect("a scratch file");
        }
        let stamp = Results::at(results).find(&directory).expect("it was written").stamp();
        PartExperiment { directory, key: String::new(), stamp, damaged: Vec::new() }
    }
}

fn cells() -> Vec<Cell> {
    let cell = |repetition: u32, variant: u32| Cell {
        id: format!("variant-{variant}.c1.r{repetition}"),
        variant: format!("variant-{variant}"),
        clients: 1,
        repetition,
        seed: u64::from(repetition),
    };
    (1..=REPETITIONS).flat_map(|block| (0..VARIANTS).map(move |at| cell(block, at))).collect()
}

fn summary(manifest: &Manifest) -> String {
    let summary = ExperimentSummary {
        name: manifest.plan.experiment.name.clone(),
        id: manifest.id.clone(),
        question: manifest.plan.experiment.question.clone(),
        created_at: manifest.created_at.clone(),
        builds: vec!["sqlite".to_owned()],
        steps: vec!["fillseq".to_owned(), "readrandom".to_owned()],
        host: "2 CPUs".to_owned(),
        cells: manifest.plan.cells.len(),
        complete: manifest.plan.cells.len(),
        damaged: Vec::new(),
    };
    serde_json::to_string(&summary).expect("a record is always valid JSON")
}

/// Noise from a seed.
///
/// Source: S. Vigna, 2014, "An experimental exploration of Marsaglia's xorshift generators,
/// scrambled", xorshift64.
struct Noise(u64);

impl Noise {
    /// Returns a factor between 0.98 and 1.02 in parts per million.
    fn ppm(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        980_000 + self.0 % 40_000
    }

    /// Returns the record as that of another cell, with noise in every figure.
    fn run(&mut self, record: &RunRecord, cell: &Cell, manifest: &Manifest) -> RunRecord {
        let mut run = record.clone();
        run.id = format!("{}/{}", manifest.id, cell.id);
        run.cell = cell.clone();
        run.variant.name.clone_from(&cell.variant);
        run.started_at.clone_from(&manifest.created_at);
        run.end = RunEnd::Complete;
        for step in &mut run.steps {
            step.duration_ns = Nanos(step.duration_ns.0 * self.ppm() / 1_000_000);
            for counter in step.counters.values_mut() {
                *counter *= model::float(self.ppm()) / 1e6;
            }
            for summary in step.clients.values_mut() {
                for times in [&mut summary.response, &mut summary.service] {
                    for time in [&mut times.p50_ns, &mut times.p99_ns, &mut times.p999_ns] {
                        *time = *time * self.ppm() / 1_000_000;
                    }
                }
            }
        }
        run
    }
}
