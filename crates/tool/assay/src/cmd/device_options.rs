//! Options of `assay device`: what is measured, and for how long.

use std::path::PathBuf;

use miette::{Result, miette};
use model::units::parse_size;
use model::{Access, Bytes, CpuCount, IoTest, whole};
use plan::{Checked, Machine, Overrides};

use super::storage::Request;
use crate::catalog::Program;
use crate::ui::Ui;

/// Numbers of jobs. Source: [Callaghan 2022-11-18].
const JOBS: [&str; 8] = ["1", "2", "4", "8", "16", "32", "48", "64"];

/// What is measured.
#[derive(Debug, clap::Args)]
pub(crate) struct Measure {
    /// Directory in which a file is created, measured and removed
    #[arg(long, value_name = "DIR")]
    pub(crate) path: Option<PathBuf>,
    /// Unused block device; it is only read
    #[arg(long, value_name = "DEVICE")]
    pub(crate) raw: Option<PathBuf>,
    /// Name of the device of --raw again, to measure writes too. All data on the device is lost
    #[arg(long, value_name = "DEVICE", requires = "raw")]
    pub(crate) destroy: Option<PathBuf>,
    /// Time for all runs, without filling the file and starting fio
    #[arg(long, default_value = "30", value_name = "N", value_parser = parse_minutes)]
    pub(crate) minutes: f64,
    /// Numbers of jobs, each with one request at a time
    #[arg(long, value_delimiter = ',', default_values = JOBS, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=256))]
    pub(crate) jobs: Vec<u32>,
    /// Test to run; repeat for more [default: all except randread-512]
    #[arg(long = "test", value_name = "TEST")]
    pub(crate) tests: Vec<IoTest>,
    /// Access to measure: raw, direct or buffered; repeat for more [default: all]
    #[arg(long = "access", value_name = "ACCESS")]
    pub(crate) accesses: Vec<Access>,
    /// Interleaved repetitions; a confidence interval needs six
    #[arg(long, default_value_t = 6, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=50))]
    pub(crate) repetitions: u32,
    /// Size of the file, or of the range of the device [default: 4GiB, or the whole device]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub(crate) size: Option<Bytes>,
    /// Disk space that must stay free
    #[arg(long, default_value = "2GiB", value_name = "SIZE", value_parser = parse_size)]
    pub(crate) disk_floor: Bytes,
    /// Leave the file sparse. The results are then bogus, and show how much the filling matters
    #[arg(long)]
    pub(crate) no_fill: bool,
    #[command(flatten)]
    pub(crate) steady: Steady,
}

/// Writes until the rate is steady.
#[derive(Debug, clap::Args)]
pub(crate) struct Steady {
    /// Instead of the tests, write at 50, 70 and 90 % full until the rate is steady
    #[arg(long, requires = "write_limit")]
    #[arg(conflicts_with_all = ["minutes", "jobs", "tests", "accesses", "repetitions", "no_fill"])]
    until_steady: bool,
    /// Largest number of bytes that --until-steady writes
    #[arg(long, value_name = "SIZE", value_parser = parse_size, requires = "until_steady")]
    pub(crate) write_limit: Option<Bytes>,
    /// Let --until-steady write without a question on the terminal
    #[arg(long, requires = "until_steady")]
    yes: bool,
}

impl Measure {
    /// Returns the storage to measure.
    pub(crate) fn request(&self) -> Request {
        Request {
            parent: self.path.clone(),
            raw: self.raw.clone(),
            may_write_raw: self.destroy.is_some(),
            range: self.size,
            disk_floor: self.disk_floor,
        }
    }

    /// Returns the experiment that the arguments are short for.
    pub(crate) fn experiment(&self) -> Result<Checked> {
        let is_there = |access: &Access| match access {
            Access::Raw => self.raw.is_some(),
            Access::Direct | Access::Buffered => self.path.is_some(),
        };
        let is_wanted =
            |access: &Access| self.accesses.is_empty() || self.accesses.contains(access);
        let accesses = Access::ALL.into_iter().filter(is_there).filter(is_wanted);
        let accesses: Vec<Access> = accesses.collect();
        let mut tests =
            if self.tests.is_empty() { IoTest::PROFILE.into() } else { self.tests.clone() };
        tests.sort_unstable();
        tests.dedup();
        let mut jobs = self.jobs.clone();
        jobs.sort_unstable();
        jobs.dedup();
        let may_run = |(access, test): (Access, IoTest)| {
            access != Access::Raw || self.destroy.is_some() || test.is_read_only()
        };
        let pairs = accesses.iter().flat_map(|access| tests.iter().map(|test| (*access, *test)));
        let cells = pairs.filter(|pair| may_run(*pair)).count() * jobs.len();
        let names = |texts: Vec<String>| format!("{texts:?}");
        let lines = [
            ("tests", names(tests.iter().map(IoTest::to_string).collect())),
            ("access", names(accesses.iter().map(Access::to_string).collect())),
            ("duration", format!("\"{}s\"", self.run_seconds(cells as u64)?)),
            ("fill", (!self.no_fill).to_string()),
        ];
        let raw = self.raw.as_ref().map(|raw| ("raw", format!("{:?}", raw.display().to_string())));
        let size = self.size.map(|size| ("file_size", size.0.to_string()));
        let device: Vec<String> = lines
            .into_iter()
            .chain(raw)
            .chain(size)
            .map(|(key, text)| format!("{key} = {text}"))
            .collect();
        let text = format!(
            "[experiment]\nname = \"storage\"\nquestion = \"What does this storage do?\"\n\
             [device]\n{}\n[factors]\nclients = {jobs:?}\nrepetitions = {}\n",
            device.join("\n"),
            self.repetitions
        );
        let (cpus, free_bytes) = (CpuCount::of(1), Bytes(0));
        let machine = Machine { cpus, memory_bytes: Bytes(0), free_bytes };
        let overrides = Overrides::default();
        Ok(plan::load("assay device", &text, &overrides, &Program::default(), machine)?)
    }

    /// Returns the length of a run, so that all fit into the time given.
    fn run_seconds(&self, cells: u64) -> Result<u64> {
        let runs = cells * u64::from(self.repetitions);
        if runs == 0 {
            return Err(miette!(
                help = "without --destroy, a raw device is only read; --access direct and \
                        --access buffered need --path, --access raw needs --raw",
                "the options leave no test to run"
            ));
        }
        match whole(self.minutes * 60.0) / runs {
            0 => Err(miette!(
                help = "give more --minutes, or fewer --jobs, --test, --access or --repetitions",
                "{runs} runs of at least a second each do not fit into {} min: the runs take {} \
                 min",
                self.minutes,
                runs.div_ceil(60)
            )),
            seconds => Ok(seconds),
        }
    }

    /// Checks the arguments, and requests consent before many bytes are written.
    pub(crate) fn check(&self, ui: &Ui) -> Result<()> {
        let Some(storage) = self.path.as_ref().or(self.raw.as_ref()) else {
            return Err(miette!(
                help = "give a directory with --path, or an unused device with --raw",
                "no storage to measure"
            ));
        };
        if let Some(again) = self.destroy.as_ref().filter(|again| Some(*again) != self.raw.as_ref())
        {
            return Err(miette!(
                help = "repeat the name of --raw exactly, or leave --destroy out",
                "--destroy names {}, which is not the device of --raw",
                again.display()
            ));
        }
        let Some(limit) = self.steady.write_limit.filter(|_| self.steady.until_steady) else {
            return Ok(());
        };
        if self.raw.is_some() && self.destroy.is_none() {
            return Err(miette!(
                help = "repeat the name of the device with --destroy, or give a directory with \
                        --path",
                "--until-steady writes, but without --destroy a raw device is only read"
            ));
        }
        let place = storage.display();
        let question = format!("This writes up to {limit} to {place} and wears the drive. Go on?");
        if self.steady.yes || ui.confirms(&question) {
            return Ok(());
        }
        Err(miette!(
            help = "confirm on a terminal, or with --yes",
            "up to {limit} would be written to {place}, which wears the drive"
        ))
    }
}

/// Parses minutes, at most two days.
fn parse_minutes(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(minutes) if minutes > 0.0 && minutes <= 2880.0 => Ok(minutes),
        _ => Err(format!("`{text}` is not a number of minutes: give a number above 0, up to 2880")),
    }
}
