//! The checks, one file each.
//!
//! To add a check: its file, its `mod` line and its entry in [`CHECKS`], in the order of reports.

mod define;

mod address_layout;
mod aio_events;
mod aspm;
mod block_sizes;
mod boost;
mod busy_processes;
mod cache_dir;
mod capabilities;
mod clock_read;
mod clock_source;
mod context_switch;
mod cpu_clock;
mod cpu_limit;
mod cpu_pressure;
mod cron;
mod direct_io;
mod dirty_pages;
mod drive_heat;
mod fans;
mod file_system;
mod firmware;
mod free_space;
mod governor;
mod huge_pages;
mod idle_states;
mod io_uring;
mod kernel_log;
mod layers;
mod link;
mod locked_memory;
mod media_errors;
mod memory_limit;
mod merges;
mod mitigations;
mod mount_options;
mod noexec;
mod numa;
mod open_files;
mod overcommit;
mod perf;
mod process_limits;
mod queue_depth;
mod queue_settings;
mod remove_ipc;
mod rotational;
mod scheduler;
mod setpriv;
mod shared_memory;
mod smt;
mod spare;
mod steal;
mod swap;
mod swappiness;
mod temperature;
mod temporary_dir;
mod thread_limit;
mod throttled;
mod timers;
mod trim;
mod user_namespaces;
mod wear;
mod write_cache;
mod xfs_geometry;

pub(crate) use define::result;
pub use define::{Check, Probe};

/// Every check: CPU, memory, limits, other work, then the drive and its file system.
pub(crate) static CHECKS: &[&Check] = &[
    &cpu_clock::CHECK,
    &governor::CHECK,
    &boost::CHECK,
    &smt::CHECK,
    &idle_states::CHECK,
    &mitigations::CHECK,
    &clock_source::CHECK,
    &clock_read::CHECK,
    &context_switch::CHECK,
    &throttled::CHECK,
    &temperature::CHECK,
    &fans::CHECK,
    &numa::CHECK,
    &huge_pages::CHECK,
    &swap::CHECK,
    &swappiness::CHECK,
    &dirty_pages::CHECK,
    &overcommit::CHECK,
    &address_layout::CHECK,
    &open_files::CHECK,
    &locked_memory::CHECK,
    &thread_limit::CHECK,
    &process_limits::CHECK,
    &shared_memory::CHECK,
    &aio_events::CHECK,
    &io_uring::CHECK,
    &user_namespaces::CHECK,
    &capabilities::CHECK,
    &setpriv::CHECK,
    &perf::CHECK,
    &temporary_dir::CHECK,
    &cache_dir::CHECK,
    &noexec::CHECK,
    &cpu_limit::CHECK,
    &memory_limit::CHECK,
    &steal::CHECK,
    &cpu_pressure::CHECK,
    &busy_processes::CHECK,
    &timers::CHECK,
    &cron::CHECK,
    &remove_ipc::CHECK,
    &kernel_log::CHECK,
    &aspm::CHECK,
    &link::CHECK,
    &layers::CHECK,
    &file_system::CHECK,
    &direct_io::CHECK,
    &xfs_geometry::CHECK,
    &mount_options::CHECK,
    &scheduler::CHECK,
    &queue_depth::CHECK,
    &queue_settings::CHECK,
    &write_cache::CHECK,
    &merges::CHECK,
    &rotational::CHECK,
    &block_sizes::CHECK,
    &trim::CHECK,
    &free_space::CHECK,
    &wear::CHECK,
    &spare::CHECK,
    &media_errors::CHECK,
    &drive_heat::CHECK,
    &firmware::CHECK,
];
