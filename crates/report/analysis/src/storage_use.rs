//! What a step requests from its device, against the device's measured profile.

use model::{
    Access, DeviceRecord, DeviceTarget, Host, IoTest, Metric, RunRecord, StepClients, StepRecord,
    metric,
};
use serde::Serialize;
use stats::median;

use crate::comparison::{Comparison, StepComparison, VariantRuns};
use crate::device::{DeviceFigure, device_figures, is_bogus};

/// Share of a device's rate below which it is no limit worth a sentence.
const RELEVANT: f64 = 0.01;

/// Mean size of reads from which those of 16 KiB are the limit: halfway on a scale of ratios.
const LARGE_BYTES: f64 = 8192.0;

/// The rate of one kind of request, and what the device does at most.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StorageUse {
    /// The step's name.
    pub step: String,
    /// Its position among the steps.
    pub step_index: u32,
    /// Its clients.
    #[serde(flatten)]
    pub clients: StepClients,
    /// The variant's name.
    pub variant: String,
    /// The test whose rate is the limit.
    pub test: IoTest,
    /// Device reads per second, or flushes for the test that syncs; median of the runs.
    pub per_s: f64,
    /// The profile's rate.
    pub limit_per_s: f64,
    /// Jobs of the profile's rate.
    pub jobs: u32,
    /// The rate as a share of the profile's.
    pub share: f64,
    /// Identifier of the profile.
    pub profile: String,
}

/// Returns the uses of all steps by all variants; none without a sound profile.
///
/// Each test is that of the newest profile that has it.
pub fn storage_uses(
    profiles: &[DeviceRecord],
    host: &Host,
    runs: &[RunRecord],
    comparison: &Comparison,
) -> Vec<StorageUse> {
    let sound = profiles.iter().rev().filter(|one| is_profile_of(one, host));
    let sound: Vec<Profile<'_>> =
        sound.map(|one| (one.id.as_str(), device_figures(one, None))).collect();
    if sound.is_empty() {
        return Vec::new();
    }
    let of_step = |step: &StepComparison| {
        let variants = comparison.variants.iter();
        let of = |of: &VariantRuns| step_uses(&sound, runs, step, &of.name);
        variants.flat_map(of).collect::<Vec<StorageUse>>()
    };
    comparison.steps.iter().flat_map(of_step).collect()
}

/// Identifier and figures of a profile.
type Profile<'a> = (&'a str, Vec<DeviceFigure>);

/// Returns whether a profile is of the device that a host's runs used, and is not bogus.
pub fn is_profile_of(profile: &DeviceRecord, host: &Host) -> bool {
    target_on(profile, host).is_some_and(|target| !is_bogus(target))
}

/// Returns the file of a profile that lies on the device that a host's runs used.
pub fn target_on<'a>(profile: &'a DeviceRecord, host: &Host) -> Option<&'a DeviceTarget> {
    let target = profile.target(Access::Direct)?;
    let is_of_device = target.device.is_some() && target.device == host.device;
    (is_of_device && profile.host.is_same_machine(host)).then_some(target)
}

/// Returns the use of a step by a variant: of reads, and of syncs.
///
/// The profile's rate is that of `O_DIRECT` with the fewest jobs that are not fewer than the
/// clients, or with the most.
fn step_uses(
    sound: &[Profile<'_>],
    runs: &[RunRecord],
    step: &StepComparison,
    variant: &str,
) -> Vec<StorageUse> {
    let is_own = |run: &&RunRecord| {
        run.cell.variant == variant && run.cell.clients == step.clients.level && run.is_counted()
    };
    let is_step = |one: &&StepRecord| one.index == step.index && one.step.name == step.name;
    let steps: Vec<&StepRecord> =
        runs.iter().filter(is_own).filter_map(|run| run.steps.iter().find(is_step)).collect();
    let of_runs = |value: &dyn Fn(&StepRecord) -> Option<f64>| {
        median(&steps.iter().filter_map(|step| value(step)).collect::<Vec<f64>>())
    };
    let rate = |of: Metric| {
        of_runs(&|step| Some(step.counters.value(of)? / step.sampled_ns().as_secs_f64()))
    };
    let read_bytes = of_runs(&|step| {
        Some(
            step.counters.value(metric::DEVICE_READ_BYTES)?
                / step.counters.value(metric::DEVICE_READS)?,
        )
    });
    let is_large = read_bytes.is_some_and(|bytes| bytes >= LARGE_BYTES);
    let reads = if is_large { IoTest::RANDREAD_16K } else { IoTest::RANDREAD_4K };
    let limits =
        [(reads, rate(metric::DEVICE_READS)), (IoTest::FDATASYNC_4K, rate(metric::DEVICE_FLUSHES))];
    let of_test = |(test, per_s): (IoTest, Option<f64>)| {
        let of_profile = |(id, figures): &'_ Profile<'_>| {
            at_depth(figures, test, step.clients.number)
                .map(|limit| ((*id).to_owned(), limit.clone()))
        };
        let (profile, limit) = sound.iter().find_map(of_profile)?;
        let per_s = per_s?;
        let share = per_s / limit.per_s;
        (share >= RELEVANT).then(|| StorageUse {
            step: step.name.clone(),
            step_index: step.index,
            clients: step.clients,
            variant: variant.to_owned(),
            test,
            per_s,
            limit_per_s: limit.per_s,
            jobs: limit.jobs,
            share,
            profile,
        })
    };
    limits.into_iter().filter_map(of_test).collect()
}

/// Returns the figure of the fewest jobs that are not fewer than the clients, or of the most.
fn at_depth(figures: &[DeviceFigure], test: IoTest, clients: u32) -> Option<&DeviceFigure> {
    let own = || figures.iter().filter(|of| (of.access, of.test) == (Access::Direct, test));
    let enough = own().filter(|of| of.jobs >= clients).min_by_key(|of| of.jobs);
    enough.or_else(|| own().max_by_key(|of| of.jobs))
}

#[cfg(test)]
mod tests {
    use model::{Bytes, DEVICE_SCHEMA, DeviceCell, IoSample, IoTotals};

    use super::*;
    use crate::testing::{experiment, load, run};
    use crate::{NoiseHistory, compare};

    /// Returns the host of the profile.
    fn host() -> Host {
        Host { device: Some("vda".to_owned()), ..Host::default() }
    }

    fn profile() -> DeviceRecord {
        let cell = |test: IoTest, jobs: u32, per_s: f64| {
            let totals = IoTotals { requests: 1, per_s, ..IoTotals::default() };
            let sync = (test == IoTest::FDATASYNC_4K).then_some(totals);
            DeviceCell {
                access: Access::Direct,
                test,
                jobs,
                job_file: String::new(),
                samples: vec![IoSample { read: Some(totals), sync, ..IoSample::default() }],
                traced: None,
                refusal: None,
            }
        };
        let target = DeviceTarget {
            path: "/data".to_owned(),
            is_raw: false,
            device: Some("vda".to_owned()),
            filesystem: None,
            size_bytes: Bytes::GIB,
            never_written: Some(0.0),
            never_written_by: String::new(),
            queue: Vec::new(),
        };
        DeviceRecord {
            schema: DEVICE_SCHEMA,
            id: String::new(),
            created_at: String::new(),
            assay_version: String::new(),
            fio_version: String::new(),
            host: host(),
            targets: vec![target],
            run_s: 1,
            repetitions: 1,
            cells: vec![
                cell(IoTest::RANDREAD_4K, 1, 1000.0),
                cell(IoTest::RANDREAD_4K, 16, 8000.0),
                cell(IoTest::RANDREAD_16K, 1, 500.0),
                cell(IoTest::FDATASYNC_4K, 4, 100.0),
            ],
            untraced: None,
            steady: Vec::new(),
            is_complete: true,
        }
    }

    #[test]
    fn reads_and_flushes_are_shares_of_the_profile_at_the_same_depth() {
        let step = load(&[
            (metric::DEVICE_READS, 610.0),
            (metric::DEVICE_READ_BYTES, 610.0 * 4096.0),
            (metric::DEVICE_FLUSHES, 0.0),
            (metric::HOST_SAMPLED_US, 1e6),
        ]);
        let mut run = run("a", 1, 1000);
        run.steps = vec![step];
        let runs = [run];
        let mut spec = experiment(&["a"], 1);
        spec.steps[0].clients = 1;
        let compared = compare(&runs, &spec, "a", &NoiseHistory::default()).unwrap();
        let uses = storage_uses(&[profile()], &host(), &runs, &compared);
        assert_eq!(uses.len(), 1, "no flush, no sentence: {uses:?}");
        assert_eq!((uses[0].test, uses[0].jobs), (IoTest::RANDREAD_4K, 1));
        assert!((uses[0].share - 0.61).abs() < 1e-9, "{uses:?}");
        let figures = device_figures(&profile(), None);
        let jobs = |clients| at_depth(&figures, IoTest::RANDREAD_4K, clients).map(|of| of.jobs);
        assert_eq!([jobs(1), jobs(2), jobs(64)], [Some(1), Some(16), Some(16)]);
    }

    #[test]
    fn profiles_of_other_devices_and_hosts_are_not_used() {
        let on = |device: &str, fingerprint: &str| {
            let (device, fingerprint) = (Some(device.to_owned()), fingerprint.to_owned());
            is_profile_of(&profile(), &Host { device, fingerprint, ..Host::default() })
        };
        assert!(on("vda", "") && !on("vdb", "") && !on("vda", "other"));
        let mut sparse = profile();
        sparse.targets[0].never_written = Some(1.0);
        let host = Host { device: Some("vda".to_owned()), ..Host::default() };
        assert!(!is_profile_of(&sparse, &host));
    }
}
