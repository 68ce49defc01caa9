//! What Postgres needs of the system's limits.

use model::server::REPLICA;
use model::units::parse_size;
use model::{Need, Options, ServerLoad, SystemNeeds};

/// Processes of the server itself: postmaster, checkpointer, writers, launchers, and a spare.
const PROCESSES: u64 = 8;
/// Options that limit further processes, with their defaults.
///
/// Source: Postgres' documentation, "Resource Consumption" and "Automatic Vacuuming".
const WORKERS: [(&str, u64); 3] =
    [("max_worker_processes", 8), ("autovacuum_max_workers", 3), ("io_workers", 3)];
/// Files of one process: twice what one had open at most with a key-value table (119, in 18.0).
const OPEN_FILES: u64 = 256;
/// Files and directories of a server: set-up makes 992 (release 15, ours), and each database 300.
const FILES: u64 = 1_400;

/// Cache by default. Source: "Resource Consumption", `shared_buffers`.
const CACHE_BYTES: u64 = 128 << 20;
/// Memory without cache of a server and its client, twice: a run in a control group of 100 MiB with
/// a cache in use of 80 MiB was killed, one of 140 MiB was not (release 15, ours).
const MEMORY_BYTES: u64 = 64 << 20;
/// Private memory of one process: it had 10 MiB (ours), and queries sort in more.
const DATA_BYTES: u64 = 128 << 20;
/// Address space of one process without cache: it had 90 MiB (ours).
const ADDRESS_BYTES: u64 = 256 << 20;

/// Shared memory of set-up: `initdb` starts a server that has a control segment of 1 MiB.
const SET_UP_BYTES: u64 = 2 << 20;
/// Shared memory with parallel queries, of which a counting one takes 0.2 MiB. Our choice.
const QUERY_BYTES: u64 = 8 << 20;
/// Memory of maintenance by default. Source: "Resource Consumption", `maintenance_work_mem`.
const MAINTENANCE_BYTES: u64 = 64 << 20;
/// Most memory of a parallel vacuum for each page of a table: 291 rows, with 6 bytes each.
///
/// Source: Postgres' source, release 16, `vacuumlazy.c` (`dead_items_max_items`).
const VACUUM_BYTES_PER_PAGE: u64 = 291 * 6;
/// Bytes of a page; rows have a header and free space around them.
const PAGE_BYTES: u64 = 8192;
const PAGES_PER_LIVE_PAGE: u64 = 2;

/// Returns the needs of a server with these options.
pub(crate) fn of(options: &Options, load: &ServerLoad) -> SystemNeeds {
    let number = |name: &str, default| value(options, name, default, |text| text.parse().ok());
    let own: u64 = WORKERS.iter().map(|(name, default)| number(name, *default)).sum();
    let servers = if options.get(REPLICA).is_some() { 2 } else { 1 };
    let cache = cache(options, load);
    SystemNeeds {
        threads: load.connections + servers * (PROCESSES + own),
        open_files: OPEN_FILES,
        files: servers * FILES,
        shared_memory: shared_memory(options, load),
        io_uring: io_uring(options),
        memory: Need { amount: MEMORY_BYTES + load.cached(cache), instead: "" },
        address_bytes: Need { amount: ADDRESS_BYTES + cache + DATA_BYTES, instead: "" },
        data_bytes: DATA_BYTES,
        ..SystemNeeds::default()
    }
}

fn value(options: &Options, name: &str, default: u64, parse: impl Fn(&str) -> Option<u64>) -> u64 {
    text(options, name).and_then(parse).unwrap_or(default)
}

fn text<'o>(options: &'o Options, name: &str) -> Option<&'o str> {
    options.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, text)| text)
}

fn cache(options: &Options, load: &ServerLoad) -> u64 {
    let default = load.cache.map_or(CACHE_BYTES, |cache| cache.0);
    value(options, "shared_buffers", default, |text| bytes(text, PAGE_BYTES))
}

/// Parses an amount with a unit of powers of 1024 (kB, MB, GB or TB), or a number of `unit` bytes.
fn bytes(text: &str, unit: u64) -> Option<u64> {
    match text.parse::<u64>() {
        Ok(number) => Some(number.saturating_mul(unit)),
        Err(_) => parse_size(&text.trim_end_matches('B').to_uppercase()).ok().map(|bytes| bytes.0),
    }
}

fn shared_memory(options: &Options, load: &ServerLoad) -> Need {
    let kind = text(options, "dynamic_shared_memory_type").unwrap_or("posix");
    if !kind.eq_ignore_ascii_case("posix") {
        return Need { amount: SET_UP_BYTES, instead: "measure on a host with shared memory" };
    }
    let kib = |text: &str| bytes(text, 1024);
    let most = value(options, "maintenance_work_mem", MAINTENANCE_BYTES, kib);
    let pages = PAGES_PER_LIVE_PAGE * (load.data.0 / PAGE_BYTES);
    // A table with one index is vacuumed by one process.
    let vacuum = if load.has_indexes { most.min(pages * VACUUM_BYTES_PER_PAGE) } else { 0 };
    let instead = "set the option `dynamic_shared_memory_type = \"mmap\"`, with which Postgres \
                   keeps shared memory in its data directory";
    Need { amount: QUERY_BYTES + vacuum, instead }
}

fn io_uring(options: &Options) -> Need {
    let is_set = text(options, "io_method").is_some_and(|it| it.eq_ignore_ascii_case("io_uring"));
    Need { amount: u64::from(is_set), instead: "leave the option `io_method` out" }
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    fn needs(options: &[(&str, &str)], load: &ServerLoad) -> SystemNeeds {
        of(&options.iter().copied().collect(), load)
    }

    #[test]
    fn processes_follow_connections_workers_and_a_standby() {
        let load = ServerLoad { connections: 10, ..ServerLoad::default() };
        assert_eq!(needs(&[], &load).threads, 10 + 8 + 14);
        assert_eq!(needs(&[("Max_Worker_Processes", "0")], &load).threads, 10 + 8 + 6);
        assert_eq!(needs(&[(REPLICA, "sync")], &load).threads, 10 + 2 * 22);
    }

    #[test]
    fn shared_memory_follows_the_vacuum_of_tables_with_indexes() {
        let amount = |options: &[(&str, &str)], has_indexes, data: u64| {
            let load = ServerLoad { connections: 1, data: Bytes(data), cache: None, has_indexes };
            needs(options, &load).shared_memory.amount
        };
        assert_eq!(amount(&[], false, 1 << 40), 8 << 20);
        assert_eq!(amount(&[], true, 8192), (8 << 20) + 2 * 291 * 6);
        assert_eq!(amount(&[], true, 1 << 40), (8 << 20) + (64 << 20));
        assert_eq!(amount(&[("maintenance_work_mem", "1024")], true, 1 << 40), 9 << 20);
        assert_eq!(amount(&[("maintenance_work_mem", "2MB")], true, 1 << 40), 10 << 20);
        assert_eq!(amount(&[("dynamic_shared_memory_type", "mmap")], true, 1 << 40), 2 << 20);
    }

    #[test]
    fn memory_follows_the_cache_as_far_as_rows_fill_it() {
        let amount = |options: &[(&str, &str)], cache, data| {
            let cache = Some(Bytes(cache)).filter(|cache| cache.0 > 0);
            let load = ServerLoad { cache, data: Bytes(data), ..ServerLoad::default() };
            needs(options, &load).memory.amount >> 20
        };
        assert_eq!(amount(&[], 0, 1 << 40), 64 + 128);
        assert_eq!(amount(&[], 0, 8 << 20), 64 + 16);
        assert_eq!(amount(&[], 32 << 20, 1 << 40), 64 + 32);
        assert_eq!(amount(&[("shared_buffers", "1024")], 0, 1 << 40), 64 + 8);
        assert_eq!(amount(&[("Shared_Buffers", "1GB")], 0, 1 << 40), 64 + 1024);
    }

    #[test]
    fn only_an_option_demands_io_uring() {
        let amount =
            |options: &[(&str, &str)]| needs(options, &ServerLoad::default()).io_uring.amount;
        assert_eq!((amount(&[]), amount(&[("io_method", "io_uring")])), (0, 1));
    }
}
