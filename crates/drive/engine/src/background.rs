//! Number of background threads that settings and options request.

use model::{Options, Settings};

/// Options that set a number of background threads, for all engines: a plan has the options of a
/// library, and not the library.
const THREADS: [&str; 8] = [
    "max_background_jobs",
    "max_background_compactions",
    "max_background_flushes",
    "worker_threads",
    "eviction.threads_max",
    "lsm_manager.worker_thread_max",
    "num_memtable_bg_threads",
    "num_normal_bg_threads",
];
/// Option of RocksDB that divides each background job among threads.
const PARTS: &str = "max_subcompactions";
/// Option of RocksDB for the threads that open files, and its default. RocksDB dies without them.
/// Source: RocksDB, options.h.
const OPENING: (&str, u64) = ("max_file_opening_threads", 16);
/// Background threads without a setting. Our choice: engines had 2 at most, with 2 CPUs.
const USUAL: u64 = 4;
/// Threads next to those that flush, compact and open files. Our choice.
const MARGIN: u64 = 4;

/// Returns the most threads that an engine with background work has by its settings and options.
pub fn background_threads(settings: &Settings, options: &Options) -> u64 {
    let number = |name: &str| options.get(name)?.parse::<u32>().ok().map(u64::from);
    let by_options = THREADS.into_iter().filter_map(number).reduce(|sum, one| sum + one);
    let by_setting = settings.background_jobs.map(u64::from);
    let jobs = by_options.or(by_setting).unwrap_or_default().max(USUAL);
    let (opening, usual) = OPENING;
    let working = jobs.saturating_mul(number(PARTS).unwrap_or_default().max(1));
    working.min(u32::MAX.into()) + number(opening).unwrap_or(usual) + MARGIN
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_follow_the_setting_and_the_options() {
        let threads = |background_jobs: Option<u32>, options: &[(&str, &str)]| {
            let settings = Settings { background_jobs, ..Settings::default() };
            background_threads(&settings, &options.iter().copied().collect())
        };
        assert_eq!(threads(None, &[]), 24);
        assert_eq!(threads(Some(60), &[]), 80);
        assert_eq!(threads(None, &[("max_background_jobs", "100")]), 120);
        assert_eq!(threads(Some(60), &[("worker_threads", "10")]), 30, "the option wins");
        assert_eq!(threads(Some(10), &[("max_subcompactions", "3")]), 50);
        assert_eq!(threads(None, &[("max_file_opening_threads", "64")]), 72);
        let most = [("worker_threads", "4294967295"), ("max_subcompactions", "4294967295")];
        assert_eq!(threads(None, &most), u64::from(u32::MAX) + 20);
    }
}
