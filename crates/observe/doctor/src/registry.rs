//! Every check in the order of reports.

use model::{CheckResult, HostCheck};

use crate::check::{self, Check};
use crate::source::Source;

/// Every check: CPU, memory, limits, other work, then the drive and its file system.
static CHECKS: &[&Check] = &[
    &check::cpu_clock::CHECK,
    &check::governor::CHECK,
    &check::boost::CHECK,
    &check::smt::CHECK,
    &check::idle_states::CHECK,
    &check::mitigations::CHECK,
    &check::clock_source::CHECK,
    &check::clock_read::CHECK,
    &check::context_switch::CHECK,
    &check::throttled::CHECK,
    &check::temperature::CHECK,
    &check::fans::CHECK,
    &check::numa::CHECK,
    &check::huge_pages::CHECK,
    &check::swap::CHECK,
    &check::swappiness::CHECK,
    &check::dirty_pages::CHECK,
    &check::overcommit::CHECK,
    &check::address_layout::CHECK,
    &check::open_files::CHECK,
    &check::thread_limit::CHECK,
    &check::process_limits::CHECK,
    &check::shared_memory::CHECK,
    &check::aio_events::CHECK,
    &check::io_uring::CHECK,
    &check::user_namespaces::CHECK,
    &check::setpriv::CHECK,
    &check::temporary_dir::CHECK,
    &check::cache_dir::CHECK,
    &check::cpu_limit::CHECK,
    &check::memory_limit::CHECK,
    &check::steal::CHECK,
    &check::cpu_pressure::CHECK,
    &check::busy_processes::CHECK,
    &check::timers::CHECK,
    &check::cron::CHECK,
    &check::remove_ipc::CHECK,
    &check::kernel_log::CHECK,
    &check::aspm::CHECK,
    &check::link::CHECK,
    &check::layers::CHECK,
    &check::file_system::CHECK,
    &check::direct_io::CHECK,
    &check::xfs_geometry::CHECK,
    &check::mount_options::CHECK,
    &check::scheduler::CHECK,
    &check::queue_depth::CHECK,
    &check::queue_settings::CHECK,
    &check::write_cache::CHECK,
    &check::merges::CHECK,
    &check::rotational::CHECK,
    &check::block_sizes::CHECK,
    &check::trim::CHECK,
    &check::free_space::CHECK,
    &check::wear::CHECK,
    &check::spare::CHECK,
    &check::media_errors::CHECK,
    &check::drive_heat::CHECK,
    &check::firmware::CHECK,
];

/// Returns every check, in the order of reports.
pub fn checks() -> &'static [&'static Check] {
    CHECKS
}

/// Returns what every check finds; it changes nothing and takes a second or two.
pub fn examine(source: &Source) -> Vec<CheckResult> {
    checks().iter().map(|check| check.result(source)).collect()
}

/// Returns the values for a manifest: of checks that read a few files only.
pub fn snapshot(source: &Source) -> Vec<HostCheck> {
    let of = |check: &Check| {
        let result = check.result(source);
        HostCheck { check: result.check.to_owned(), state: result.state, value: result.value }
    };
    checks().iter().filter(|check| check.is_in_snapshot).map(|check| of(check)).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_is_registered_under_its_name() {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/check");
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let names = names.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned());
        let named: BTreeSet<String> =
            names.filter(|name| !["mod", "define"].contains(&name.as_str())).collect();
        let registered: BTreeSet<String> = checks().iter().map(|one| one.name.to_owned()).collect();
        assert_eq!((named, checks().len()), (registered.clone(), registered.len()));
    }

    #[test]
    fn every_check_has_a_reason_and_a_source() {
        for check in checks() {
            assert!(check.why.ends_with('.') && !check.why.contains("  "), "{}", check.name);
            assert!(check.source.starts_with('[') && check.source.ends_with(']'), "{}", check.name);
            assert!(!check.subject.is_empty() && !check.subject.ends_with('.'), "{}", check.name);
        }
    }
}
