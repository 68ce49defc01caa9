//! Energy of the processors, from RAPL.

use std::path::{Path, PathBuf};

use model::{Readings, metric};

use crate::kernel_file::read_trimmed;
use crate::targets::{RunTargets, Sampler};

/// Starts the sampler; `None` where no counter is readable, as in most virtual machines.
pub(crate) fn start(_: &RunTargets<'_>) -> Option<Sampler> {
    let mut packages = packages(Path::new("/sys/class/powercap"));
    (!packages.is_empty()).then(|| Box::new(move |_| sample(&mut packages)) as Sampler)
}

/// The energy counter of one processor package, which wraps around.
struct Package {
    counter: PathBuf,
    /// Largest value of the counter, microjoules.
    range_uj: u64,
    last_uj: u64,
    total_uj: u64,
}

/// Finds the readable counters of packages.
///
/// Other zones (cores, memory, the platform) are parts of a package, or include it.
///
/// Source: Linux, Documentation/power/powercap/powercap.rst: `name`, `energy_uj`,
/// `max_energy_range_uj`. The counter is readable by root alone since Linux 5.10.
fn packages(powercap: &Path) -> Vec<Package> {
    let zones = std::fs::read_dir(powercap).into_iter().flatten().flatten();
    let package = |zone: PathBuf| {
        read_trimmed(zone.join("name")).filter(|name| name.starts_with("package"))?;
        let number = |file: &str| read_trimmed(zone.join(file))?.parse().ok();
        let (range_uj, last_uj) = (number("max_energy_range_uj")?, number("energy_uj")?);
        Some(Package { counter: zone.join("energy_uj"), range_uj, last_uj, total_uj: 0 })
    };
    zones.filter_map(|zone| package(zone.path())).collect()
}

/// Reads the energy since the start; absent where one package cannot be read.
fn sample(packages: &mut [Package]) -> Readings {
    let mut readings = Readings::new();
    let total = packages.iter_mut().map(Package::update).sum::<Option<u64>>();
    readings.set(metric::HOST_ENERGY_UJ, total);
    readings
}

impl Package {
    fn update(&mut self) -> Option<u64> {
        let now_uj: u64 = read_trimmed(&self.counter)?.parse().ok()?;
        let grown = now_uj.checked_sub(self.last_uj);
        let wrapped = || now_uj.saturating_add(self.range_uj.saturating_sub(self.last_uj));
        self.total_uj = self.total_uj.saturating_add(grown.unwrap_or_else(wrapped));
        self.last_uj = now_uj;
        Some(self.total_uj)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn packages_are_added_and_a_counter_that_wraps_loses_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let zone = |zone: &str, name: &str, energy: &str| {
            let zone = dir.path().join(zone);
            fs::create_dir_all(&zone).unwrap();
            fs::write(zone.join("name"), name).unwrap();
            fs::write(zone.join("max_energy_range_uj"), "1000\n").unwrap();
            fs::write(zone.join("energy_uj"), energy).unwrap();
        };
        zone("intel-rapl:0", "package-0\n", "900\n");
        zone("intel-rapl:0:0", "core\n", "1\n");
        zone("intel-rapl:1", "package-1\n", "10\n");
        let mut packages = packages(dir.path());
        assert_eq!(packages.len(), 2);
        assert_eq!(sample(&mut packages).value(metric::HOST_ENERGY_UJ), Some(0.0));
        zone("intel-rapl:0", "package-0\n", "50\n");
        zone("intel-rapl:1", "package-1\n", "25\n");
        assert_eq!(sample(&mut packages).value(metric::HOST_ENERGY_UJ), Some(165.0));
        fs::remove_file(dir.path().join("intel-rapl:1/energy_uj")).unwrap();
        assert!(!sample(&mut packages).has(metric::HOST_ENERGY_UJ), "absent, and not 0");
        assert!(super::packages(&dir.path().join("none")).is_empty());
    }
}
