//! Temperatures, clock and thermal throttling of host and device.

use std::path::{Path, PathBuf};

use model::{Readings, metric};

use crate::block_device::BlockDevice;
use crate::kernel_file::read_trimmed;
use crate::targets::{RunTargets, Sampler};

/// Starts the sampler.
pub(crate) fn start(targets: &RunTargets<'_>) -> Option<Sampler> {
    let device = targets.local_device();
    let mut sampler = HeatSampler::new(Path::new("/sys"), device.as_ref());
    Some(Box::new(move |is_boundary| sampler.sample(is_boundary)))
}

/// The kernel files that report heat and clock, found once per run.
///
/// Most virtual machines have none of them; a reading is then absent. Each file is one read a
/// second: on bare metal as many as CPUs and sensors.
#[derive(Debug, Default)]
struct HeatSampler {
    device_sensors: Vec<PathBuf>,
    host_sensors: Vec<PathBuf>,
    clocks: Vec<PathBuf>,
    core_throttles: Vec<PathBuf>,
    package_throttles: Vec<PathBuf>,
}

impl HeatSampler {
    /// Finds the files below `sys`, those of `device` apart.
    ///
    /// Source: Linux, Documentation/hwmon/sysfs-interface.rst (`temp*_input`, thousandths of a
    /// degree); Documentation/admin-guide/pm/cpufreq.rst (`scaling_cur_freq`, kHz).
    fn new(sys: &Path, device: Option<&BlockDevice>) -> Self {
        let mut found = Self::default();
        let of_device = device.and_then(|it| it.sys_dir.join("device").canonicalize().ok());
        for monitor in entries(&sys.join("class/hwmon"), "hwmon", "") {
            let owner = monitor.join("device").canonicalize().ok();
            // An NVMe drive's namespace and its sensors have the same controller.
            let is_device = owner.is_some() && owner == of_device;
            let sensors =
                if is_device { &mut found.device_sensors } else { &mut found.host_sensors };
            sensors.extend(entries(&monitor, "temp", "_input"));
        }
        let cpus = sys.join("devices/system/cpu");
        let policies = entries(&cpus.join("cpufreq"), "policy", "");
        found.clocks = policies.iter().map(|policy| policy.join("scaling_cur_freq")).collect();
        for cpu in entries(&cpus, "cpu", "") {
            let throttle = cpu.join("thermal_throttle");
            found.core_throttles.push(throttle.join("core_throttle_count"));
            found.package_throttles.push(throttle.join("package_throttle_count"));
        }
        found.core_throttles.retain(|path| path.exists());
        found.package_throttles.retain(|path| path.exists());
        found
    }

    /// Reads temperatures and clock; the counts of throttling only at boundaries.
    fn sample(&mut self, is_boundary: bool) -> Readings {
        let mut readings = Readings::new();
        let celsius = |paths| largest(paths).map(|thousandths| thousandths / 1e3);
        readings.set(metric::DEVICE_TEMPERATURE_CELSIUS, celsius(&self.device_sensors));
        readings.set(metric::HOST_TEMPERATURE_CELSIUS, celsius(&self.host_sensors));
        // Idle CPUs are slow by design: the fastest one shows what a busy one gets.
        readings.set(metric::HOST_CPU_CLOCK_MHZ, largest(&self.clocks).map(|khz| khz / 1e3));
        if is_boundary {
            readings.set(metric::HOST_CPU_THROTTLES, self.throttles());
        }
        readings
    }

    /// Returns how often cores and packages throttled; `None` where it is not counted.
    ///
    /// The siblings of a core, and the cores of a package, report the same event each: the sum
    /// counts it more than once, and is 0 only without any.
    ///
    /// Source: Linux, arch/x86/kernel/cpu/mce/therm_throt.c.
    fn throttles(&self) -> Option<f64> {
        let counts = self.core_throttles.iter().chain(&self.package_throttles);
        counts.filter_map(|path| number(path)).reduce(|sum, count| sum + count)
    }
}

/// Returns the largest number in these files; `None` where none can be read.
fn largest(paths: &[PathBuf]) -> Option<f64> {
    paths.iter().filter_map(|path| number(path)).reduce(f64::max)
}

fn number(path: &Path) -> Option<f64> {
    read_trimmed(path)?.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Returns what a directory has of the form `prefix`, digits, `suffix`.
fn entries(dir: &Path, prefix: &str, suffix: &str) -> Vec<PathBuf> {
    let is_numbered = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str());
        let digits = name.and_then(|name| name.strip_prefix(prefix)?.strip_suffix(suffix));
        digits.is_some_and(|it| !it.is_empty() && it.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let found = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    found.filter(is_numbered).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// A made-up `/sys` of two CPUs and an NVMe drive, with a sensor each for CPU and drive.
    fn made_up_sys() -> (tempfile::TempDir, BlockDevice) {
        let dir = tempfile::tempdir().unwrap();
        let sys = dir.path();
        let write = |path: &str, text: &str| {
            let path = sys.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("devices/nvme0/nvme0n1/stat", "");
        write("class/hwmon/hwmon0/temp1_input", "41850\n");
        write("class/hwmon/hwmon0/temp2_input", "52850\n");
        write("class/hwmon/hwmon0/temp1_crit", "84850\n");
        write("class/hwmon/hwmon1/temp1_input", "71000\n");
        write("class/hwmon/hwmon1/fan1_input", "99000\n");
        symlink(sys.join("devices/nvme0"), sys.join("class/hwmon/hwmon0/device")).unwrap();
        symlink("..", sys.join("devices/nvme0/nvme0n1/device")).unwrap();
        for (cpu, khz, core, package) in [(0, "800000\n", "2\n", "5\n"), (1, "3600000\n", "1", "5")]
        {
            let cpus = "devices/system/cpu";
            write(&format!("{cpus}/cpufreq/policy{cpu}/scaling_cur_freq"), khz);
            write(&format!("{cpus}/cpu{cpu}/thermal_throttle/core_throttle_count"), core);
            write(&format!("{cpus}/cpu{cpu}/thermal_throttle/package_throttle_count"), package);
        }
        let sys_dir = sys.join("devices/nvme0/nvme0n1");
        (dir, BlockDevice { name: "nvme0n1".to_owned(), sys_dir })
    }

    #[test]
    fn heat_and_clock_are_read_and_throttling_is_counted_at_boundaries() {
        let (sys, device) = made_up_sys();
        let mut sampler = HeatSampler::new(sys.path(), Some(&device));
        let mut expected = Readings::new();
        expected.set(metric::DEVICE_TEMPERATURE_CELSIUS, Some(52.85));
        expected.set(metric::HOST_TEMPERATURE_CELSIUS, Some(71.0));
        expected.set(metric::HOST_CPU_CLOCK_MHZ, Some(3_600.0));
        assert_eq!(sampler.sample(false), expected);
        expected.set(metric::HOST_CPU_THROTTLES, Some(13.0));
        assert_eq!(sampler.sample(true), expected);
    }

    #[test]
    fn a_machine_without_sensors_reports_nothing() {
        let (sys, _) = made_up_sys();
        let mut none = HeatSampler::new(&sys.path().join("devices/nvme0"), None);
        assert_eq!(none.sample(true), Readings::new());
    }

    #[test]
    fn an_unreadable_sensor_is_left_out() {
        let (sys, device) = made_up_sys();
        fs::write(sys.path().join("class/hwmon/hwmon0/temp2_input"), "").unwrap();
        let readings = HeatSampler::new(sys.path(), Some(&device)).sample(false);
        assert_eq!(readings.value(metric::DEVICE_TEMPERATURE_CELSIUS), Some(41.85));
    }
}
