//! The samplers of a run.

use std::path::Path;

use model::{Readings, metric};

use crate::block_device::BlockDevice;
use crate::source::cgroup::{CgroupSampler, Throttling};
use crate::source::heat::HeatSampler;
use crate::source::others::OthersSampler;
use crate::source::server::ServerSampler;
use crate::source::suspension::SuspensionSampler;
use crate::source::{data_dir, device, disk_free, host, process};
use crate::targets::{Foreign, RunTargets};

/// One source of readings, cheap enough for once a second.
///
/// The argument is whether this is a step's boundary: costly readings are taken there only. What
/// cannot be read is absent, as of a process that has ended.
pub type Sampler = Box<dyn FnMut(bool) -> Readings + Send>;

/// Returns the samplers of one run.
pub fn for_run(targets: RunTargets<'_>) -> Vec<Sampler> {
    let RunTargets { pid, data_dir: dir, cgroup: own, is_log, server, foreign } = targets;
    let mut cgroup = CgroupSampler { own, pid, throttling: Throttling::default() };
    let mut suspension = SuspensionSampler::default();
    let disk = dir.clone();
    let mut samplers: Vec<Sampler> = vec![
        Box::new(move |_| process::io(pid)),
        Box::new(move |is_boundary| process::memory(pid, is_boundary)),
        Box::new(|_| host::sample()),
        Box::new(move |_| suspension.sample()),
        Box::new(move |is_boundary| disk_free::sample(&disk, is_boundary)),
        Box::new(move |_| cgroup.sample()),
    ];
    let device = BlockDevice::under(&dir).ok().filter(|_| foreign == Foreign::Nowhere);
    let mut heat = HeatSampler::new(Path::new("/sys"), device.as_ref());
    samplers.push(Box::new(move |is_boundary| heat.sample(is_boundary)));
    if foreign == Foreign::Nowhere {
        if let Some(device) = device {
            samplers.push(Box::new(move |_| device::sample(&device)));
        }
        samplers.push(Box::new(move |_| data_dir::sample(&dir, is_log.as_ref())));
    }
    if foreign != Foreign::Here {
        let mut others = OthersSampler::new(pid, server.as_ref());
        samplers.push(Box::new(move |_| others.sample()));
    }
    if let Some(server) = &server {
        let mut server = ServerSampler::new(server.group);
        samplers.push(Box::new(move |is_boundary| server.sample(is_boundary)));
    } else if foreign == Foreign::Nowhere {
        samplers.push(Box::new(move |is_boundary| {
            let maps = is_boundary.then(|| process::uncounted_write_maps(pid)).flatten();
            Readings::from_iter([(metric::UNCOUNTED_WRITE_MAPS, maps)])
        }));
    }
    samplers
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::control_group::CgroupDir;
    use crate::server_group::ServerGroup;
    use crate::targets::ServerTargets;

    #[test]
    fn every_reading_is_a_metric() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("000004.log"), vec![1; 100_000]).unwrap();
        let group = ServerGroup::create(None, dir.path()).unwrap();
        let targets = RunTargets {
            pid: std::process::id(),
            data_dir: dir.path().to_owned(),
            cgroup: CgroupDir::of_process(std::process::id()),
            is_log: Some(Arc::new(|path| path.extension().is_some_and(|end| end == "log"))),
            server: Some(ServerTargets { pid: std::process::id(), group: &group }),
            foreign: Foreign::Nowhere,
        };
        let mut all = Readings::new();
        for mut sampler in for_run(targets) {
            let readings = sampler(true);
            assert!(readings.keys().all(|name| metric::find(name).is_some()));
            all.extend(readings);
        }
        assert!(all.len() > 10, "{all:?}");
        for name in [
            metric::RSS_BYTES,
            metric::HOST_CPU_BUSY_US,
            metric::DATA_DIR_BYTES,
            metric::DISK_FREE_BYTES,
        ] {
            assert!(all[name] > 0.0, "{name} in {all:?}");
        }
    }
}
