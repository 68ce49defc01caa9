//! Experiments on storage: the table `[device]`.

use model::limits::{FIO_MIN, JOB_BYTES, JOBS_MAX};
use model::{
    Access, BuildRef, Bytes, DataShape, DeviceSpec, FIO, IoTest, Nanos, Settings, Step, StopRule,
    Variant,
};
use reader::error::{Errors, PlanError};
use reader::place::Place;

use crate::clients::ClientsFactor;
use crate::resolve::Resolver;
use crate::settings::{ACCESS, DURATION, FILE_SIZE, FILL, RAW, Setting, TESTS, Table};
use crate::spec::{File, Section};

/// Default length of a run of fio: our choice, for rates that repeat to a few percent.
const DURATION_DEFAULT: Nanos = Nanos::from_secs(10);
/// Bytes of the rows that stand for the file's blocks: key and value.
const BLOCK_BYTES: (u32, u32) = (8, 4088);

/// What an experiment measures, besides its names and factors.
#[derive(Default)]
pub(crate) struct Subject {
    pub(crate) data: Option<DataShape>,
    pub(crate) steps: Vec<Step>,
    /// Place of each step's load.
    pub(crate) loads: Vec<Place>,
    pub(crate) variants: Vec<Variant>,
    pub(crate) device: Option<DeviceSpec>,
}

impl Resolver<'_> {
    /// Checks an experiment on storage: accesses are its variants, tests its steps.
    pub(crate) fn storage(
        &self,
        file: &File,
        factor: &ClientsFactor,
    ) -> Result<Subject, PlanError> {
        let (device, mut errors) = (&file.benchmark, Errors::default());
        for setting in device.outside(Table::Device) {
            let why = format!("--{} does not apply to storage", setting.flag());
            errors.push(
                PlanError::new(why).remedy("leave the option out, or name another experiment"),
            );
        }
        if let Some(table) = file.variants.first() {
            let why = "the variants of an experiment on storage are its accesses";
            let error = PlanError::here(&table.place, why);
            errors.push(error.remedy("leave [[variant]] out, and name the accesses in `access`"));
        }
        let tests = device.value(TESTS).unwrap_or_else(|| IoTest::PROFILE.to_vec());
        let accesses = device.value(ACCESS).unwrap_or_else(|| Access::ALL.to_vec());
        let raw = device.get(RAW).map(|name| name.value.clone());
        let size_bytes = device.value(FILE_SIZE);
        let is_filled = device.value(FILL).unwrap_or(true);
        let spec = DeviceSpec { raw, size_bytes, is_filled };
        let duration = device.value(DURATION).unwrap_or(DURATION_DEFAULT);
        if duration < FIO_MIN {
            let why = "a run of fio takes 1s at least";
            errors.push(PlanError::here(device.place_of(DURATION), why));
        }
        errors.ok(self.check_jobs(device, factor, spec.file_bytes()));
        let is_named = |access: &Access| device.get(ACCESS).is_some() || *access != Access::Raw;
        let is_there = |access: &Access| spec.raw.is_some() || is_named(access);
        let stop = StopRule::Duration(duration);
        let step = |test: &IoTest| Step { clients: 0, ..Step::new(test.to_string(), stop) };
        let (key_bytes, value_bytes) = BLOCK_BYTES;
        let rows = spec.file_bytes().0 / u64::from(key_bytes + value_bytes);
        errors.result(Subject {
            data: Some(DataShape { rows, key_bytes, value_bytes, compressible_to: 1.0 }),
            steps: tests.iter().map(step).collect(),
            loads: vec![Place::Unwritten; tests.len()],
            variants: accesses.into_iter().filter(is_there).map(variant).collect(),
            device: Some(spec),
        })
    }

    /// Checks that the numbers of jobs are a list, and that each has its part of the file.
    fn check_jobs(
        &self,
        device: &Section,
        factor: &ClientsFactor,
        size: Bytes,
    ) -> Result<(), PlanError> {
        let most = factor.levels.iter().copied().max().unwrap_or(1);
        if factor.is_adaptive || most > JOBS_MAX {
            return Err(PlanError::here(
                factor.place.clone(),
                "in an experiment on storage, the clients are jobs of fio",
            )
            .remedy(format!("give `clients` as a list of numbers up to {JOBS_MAX}")));
        }
        let least = Bytes(JOB_BYTES * u64::from(most));
        if size >= least {
            return Ok(());
        }
        Err(PlanError::here(
            device.place_of(FILE_SIZE),
            format!("a file of {size} is too small for {most} jobs"),
        )
        .remedy(format!("give a file of {least} or more, 1 MiB for each job, or fewer clients")))
    }

    /// Rejects settings of storage in a benchmark of engines.
    pub(crate) fn check_no_storage(&self, benchmark: &Section) -> Result<(), PlanError> {
        let known: [&Setting; 2] = [RAW, FILE_SIZE];
        let found = known.into_iter().find(|one| benchmark.get(one).is_some());
        let Some(setting) = found else { return Ok(()) };
        Err(PlanError::here(
            benchmark.place_of(setting),
            format!("`{}` is for storage", setting.key),
        )
        .remedy("leave out the setting, or name an experiment with a table [device]"))
    }
}

/// Returns the variant of an access.
fn variant(access: Access) -> Variant {
    Variant {
        name: access.name().to_owned(),
        build: BuildRef { engine: FIO.to_owned(), version: None },
        profile: None,
        options: [("access", access.name())].into_iter().collect(),
        settings: Settings { direct_io: access != Access::Buffered, ..Settings::default() },
        dsn: None,
        is_control: false,
    }
}

#[cfg(test)]
mod tests {
    use crate::experiment::load;
    use crate::overrides::Overrides;
    use crate::tests::sample::{MACHINE, TestCatalog};
    use crate::{Checked, DISK_FLOOR_BYTES, PlanError, Room, expand};

    const FILE: &str =
        "[experiment]\nname = \"s\"\nquestion = \"?\"\nbase = \"direct\"\n[device]\n";

    fn loaded(text: &str) -> Result<Checked, PlanError> {
        let text = format!("{FILE}{text}");
        load("f.toml", &text, &Overrides::default(), &TestCatalog::default(), MACHINE)
    }

    #[test]
    fn accesses_are_variants_tests_are_steps_and_clients_are_jobs() {
        let text = "tests = [\"randread-512\", \"randread-1m\"]\nduration = \"3s\"\n\
                    file_size = \"64MiB\"\naccess = [\"raw\", \"direct\"]\n\
                    [factors]\nclients = [1, 8]\nrepetitions = 2";
        let experiment = loaded(text).unwrap().experiment;
        let names: Vec<&str> = experiment.variants.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["raw", "direct"]);
        let steps: Vec<&str> = experiment.steps.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(steps, ["randread-512", "randread-1m"]);
        assert_eq!(experiment.steps_for(8)[0].clients, 8);
        let room = Room { free: model::Bytes(1 << 40), floor: DISK_FLOOR_BYTES };
        let plan = expand(experiment.clone(), &TestCatalog::default(), room).unwrap();
        assert!(plan.cells.iter().all(|cell| cell.variant == "direct"), "no device is named");
        assert_eq!((plan.cells.len(), plan.estimated_disk_bytes.0), (4, 64 << 20));
        let named = loaded(&format!("raw = \"/dev/sdb\"\n{text}")).unwrap().experiment;
        assert_eq!(expand(named, &TestCatalog::default(), room).unwrap().cells.len(), 8);
    }

    #[test]
    fn wrong_tests_sizes_and_tables_are_rejected() {
        let refused = |text: &str| loaded(text).unwrap_err().to_string();
        assert!(refused("tests = [\"randread-3k\"]").contains("is not a test"));
        assert!(refused("tests = []").contains("is empty"));
        assert!(refused("access = [\"raw\", \"raw\"]").contains("twice"));
        assert!(refused("file_size = \"4MiB\"\n[factors]\nclients = [8]").contains("too small"));
        assert!(refused("duration = \"100ms\"").contains("1s at least"));
        assert!(refused("rows = 5").contains("unknown key `rows` in [device]"));
        assert!(refused("[benchmark]\nsteps = [\"fillseq\"]").contains("both"));
        let rows = Overrides::default().with("rows", "5");
        let text = format!("{FILE}fill = true");
        let typed = load("f.toml", &text, &rows, &TestCatalog::default(), MACHINE).unwrap_err();
        assert!(typed.to_string().contains("--rows does not apply to storage"), "{typed}");
        assert!(loaded("fill = false").is_ok());
    }
}
