//! Target of stored profiles of storage.

use std::fs;

use analysis::{NoiseHistory, compare, storage_uses};
use archive::Results;
use lint::{ComparisonContext, check_comparison};
use model::{DeviceRecord, Manifest, RunRecord};
use render::{DeviceProfile, Format, Report, Style, render_device_page};

use crate::archives::seed;

/// Text with everything that is optional.
const STYLE: Style = Style { width: 80, has_colour: true, has_costs: true };

/// A stored profile next to a whole one: every report of it, and runs compared with it.
pub(crate) fn device(data: &[u8]) {
    let root = tempfile::tempdir().expect("a scratch directory");
    let dir = root.path().join(".devices/host");
    fs::create_dir_all(&dir).expect("the scratch directory is writable");
    for (name, content) in [("1.json", &seed!("device/file")[..]), ("2.json", data)] {
        fs::write(dir.join(name), content).expect("the scratch directory is writable");
    }
    let (profiles, damaged) = Results::at(root.path()).devices();
    damaged.iter().for_each(|error| drop(error.to_string()));
    profiles.render(Format::Text, STYLE);
    for profile in &profiles {
        let earlier = profiles.first();
        for format in Format::ALL {
            DeviceProfile { record: profile, earlier }.render(format, STYLE);
        }
        render_device_page(profile, earlier);
        compared(profile, &profiles);
    }
}

/// Compares the runs of the seeds as if the host of a profile had made them.
fn compared(profile: &DeviceRecord, profiles: &[DeviceRecord]) {
    let manifest: Manifest =
        serde_json::from_slice(seed!("manifest/pair")).expect("it is the program's own");
    let run = |text| serde_json::from_slice::<RunRecord>(text).expect("it is the program's own");
    let runs = [run(seed!("record/one")), run(seed!("record/two"))];
    let (experiment, noise) = (&manifest.plan.experiment, NoiseHistory::default());
    let comparison =
        compare(&runs, experiment, &experiment.base, &noise).expect("they are of one experiment");
    storage_uses(profiles, &profile.host, &runs, &comparison);
    let hosts = [&profile.host];
    let context = ComparisonContext::of(experiment, &hosts, &runs, &comparison);
    check_comparison(&context.with_profiles(profiles));
}
