//! What MySQL and MariaDB need of the system's limits, and what they do without in silence.

use engine::EngineError;
use engine::settings_check::refused;
use model::server::REPLICA;
use model::units::parse_size;
use model::{Need, Options, ServerLoad, SystemNeeds};

use super::configuration::canonical;
use super::release::Flavour;

/// Threads of a server without connections, twice: 36 of MySQL 8.0, 17 of MariaDB 10.11 (ours).
const THREADS: [(Flavour, u64); 2] = [(Flavour::Mysql, 48), (Flavour::Mariadb, 32)];
/// Memory and address space of a server without cache.
struct Footprint {
    /// Memory with the client's: less was killed (ours).
    memory_bytes: u64,
    /// What of it the performance schema takes.
    schema_bytes: u64,
    /// Private memory that is mapped.
    data_bytes: u64,
    /// Address space without that of threads.
    address_bytes: u64,
}

/// MySQL 8.0: control groups of 420 MiB with a pool in use of 80 MiB, and of 512 MiB with 128 MiB,
/// did not suffice, of 460 and 560 MiB did; without the schema, 240 MiB did with 80 MiB. It mapped
/// 785 of 1,793 MiB with 44 threads.
const MYSQL: Footprint = Footprint {
    memory_bytes: 420 << 20,
    schema_bytes: 260 << 20,
    data_bytes: 1 << 30,
    address_bytes: 2 << 30,
};
/// MariaDB 10.11: a control group of 160 MiB with a pool in use of 80 MiB did not suffice, of
/// 200 MiB did. It mapped 531 MiB.
const MARIADB: Footprint = Footprint {
    memory_bytes: 120 << 20,
    schema_bytes: 0,
    data_bytes: 768 << 20,
    address_bytes: 1 << 30,
};
/// Pool by default. Source: MySQL's reference manual, `innodb_buffer_pool_size`.
const POOL_BYTES: u64 = 128 << 20;
/// Address space that MariaDB reserves for a pool that grows. Source: MariaDB's documentation,
/// `innodb_buffer_pool_size_max`.
const POOL_BYTES_MAX: u64 = 8 << 40;
/// How MariaDB does without it.
const SMALL_RESERVE: &str = "set the option `innodb_buffer_pool_size_max` to the size of the cache";
/// How MySQL does with less memory.
const NO_SCHEMA: &str = "set the option `performance_schema = \"OFF\"`";

/// Files of a server without connections: tables, logs, temporary files, libraries (100, ours).
const OPEN_FILES: u64 = 200;
/// Files and directories of a server, with its system tables. Our choice: an upper bound.
const FILES: u64 = 500;
/// Threads that have events each, by option, with their defaults.
///
/// Source: MySQL's reference manual, "InnoDB Startup Options and System Variables".
const IO_THREADS: [(&str, u64); 2] =
    [("innodb_read_io_threads", 4), ("innodb_write_io_threads", 4)];
/// Further ones: those of the log and of the change buffer.
const OTHER_IO_THREADS: u64 = 2;
/// Events of each. Source: MySQL's source, `os0file.h`, `OS_AIO_N_PENDING_IOS_PER_THREAD`.
const EVENTS: u64 = 256;
/// Option of MariaDB that chooses the way to the kernel.
const WAY: &str = "innodb_linux_aio";
/// How a server does without events.
const SIMULATED: &str = "set the option `innodb_use_native_aio = \"OFF\"`, with which threads of \
                         InnoDB wait for each request";

/// Why a server does without Linux AIO.
const NO_EVENTS: &str = "Linux AIO: the kernel refuses io_setup, or fs.aio-max-nr leaves no events";

/// Returns the needs of a server with these options.
pub(super) fn of(flavour: Flavour, options: &Options, load: &ServerLoad) -> SystemNeeds {
    let text = |name: &str| set(options, name).map(|(_, text)| text);
    let servers = if options.get(REPLICA).is_some() { 2 } else { 1 };
    let threads = THREADS.iter().find(|(known, _)| *known == flavour).map_or(0, |(_, own)| *own);
    let is_simulated = is_off(options, "innodb_use_native_aio");
    let way = text(WAY).unwrap_or("auto");
    let io_threads: u64 = IO_THREADS
        .iter()
        .map(|(name, default)| text(name).and_then(|it| it.parse().ok()).unwrap_or(*default))
        .sum();
    // MariaDB takes io_uring where it can, and does without events where there are none.
    let has_events = match flavour {
        Flavour::Mysql => !is_simulated,
        Flavour::Mariadb => !is_simulated && way.eq_ignore_ascii_case("aio"),
    };
    let events = (io_threads + OTHER_IO_THREADS) * EVENTS + 1;
    let is_uring = !is_simulated && way.eq_ignore_ascii_case("io_uring");
    // By number in old releases. Without the option Assay sets it by `direct_io`.
    let method = text("innodb_flush_method").unwrap_or_default().to_ascii_lowercase();
    let is_direct = method.contains("o_direct") || ["4", "5"].contains(&&*method);
    SystemNeeds {
        threads: load.connections + servers * threads,
        open_files: OPEN_FILES + load.connections,
        files: servers * FILES,
        aio_events: Need {
            amount: if has_events { servers * events } else { 0 },
            instead: SIMULATED,
        },
        io_uring: Need {
            amount: u64::from(is_uring),
            instead: "leave the option `innodb_linux_aio` out",
        },
        direct_io: Need {
            amount: u64::from(is_direct),
            instead: "leave the option `innodb_flush_method` out",
        },
        ..space(flavour, options, load)
    }
}

/// Returns the needs of memory and address space.
fn space(flavour: Flavour, options: &Options, load: &ServerLoad) -> SystemNeeds {
    let size = |name: &str| {
        let text = set(options, name)?.1;
        parse_size(&text.to_uppercase()).ok().map(|bytes| bytes.0)
    };
    let (footprint, reserve) = match flavour {
        Flavour::Mysql => (MYSQL, 0),
        Flavour::Mariadb => {
            (MARIADB, size("innodb_buffer_pool_size_max").unwrap_or(POOL_BYTES_MAX))
        }
    };
    let has_schema = footprint.schema_bytes > 0 && !is_off(options, "performance_schema");
    let schema = if has_schema { 0 } else { footprint.schema_bytes };
    let pool = size("innodb_buffer_pool_size").or(load.cache.map(|cache| cache.0));
    let pool = pool.unwrap_or(POOL_BYTES);
    SystemNeeds {
        memory: Need {
            amount: footprint.memory_bytes - schema + load.cached(pool),
            instead: if has_schema { NO_SCHEMA } else { "" },
        },
        address_bytes: Need {
            amount: footprint.address_bytes + pool.max(reserve),
            instead: if reserve > pool { SMALL_RESERVE } else { "" },
        },
        data_bytes: footprint.data_bytes + pool,
        ..SystemNeeds::default()
    }
}

/// Returns an option's name as the user wrote it, and its value, by canonical name.
fn set<'o>(options: &'o Options, name: &str) -> Option<(&'o str, &'o str)> {
    options.iter().find(|(known, _)| canonical(known) == name)
}

fn is_off(options: &Options, name: &str) -> bool {
    let off = ["0", "off", "false"];
    set(options, name).is_some_and(|(_, value)| off.iter().any(|it| value.eq_ignore_ascii_case(it)))
}

/// Returns what InnoDB does without, as the log of its start states it.
///
/// Source: MySQL's source, `innobase/srv/srv0start.cc`; MariaDB's, `tpool/aio_liburing.cc` and
/// `innobase/handler/ha_innodb.cc`.
///
/// # Errors
/// [`EngineError::Refused`] where an option demands it.
pub(super) fn fallback(options: &Options, log: &str) -> Result<Option<String>, EngineError> {
    let cause = log.lines().find_map(|line| line.split_once("io_uring_queue_init() ")?.1.into());
    let cause = cause.map(|text: &str| text.split(':').next().unwrap_or(text).trim());
    let is_simulated = ["falling back to innodb_use_native_aio=OFF", "Linux Native AIO disabled"]
        .iter()
        .any(|text| log.contains(text));
    let way = match (is_simulated, cause) {
        (true, _) => "threads that wait for each request",
        (false, Some(_)) if log.contains("Linux native AIO") => "Linux AIO (libaio)",
        (false, _) => return Ok(None),
    };
    let cause = match cause {
        Some(cause) => format!("io_uring: io_uring {cause}"),
        None => NO_EVENTS.to_owned(),
    };
    let text = format!("InnoDB uses {way} instead of {cause}");
    let demanded = is_simulated.then(|| set(options, "innodb_use_native_aio")).flatten();
    match demanded.or_else(|| set(options, WAY)) {
        Some((name, value)) if !value.eq_ignore_ascii_case("auto") => Err(refused(
            name,
            format!(
                "this host does not allow `{value}`: {text}; leave the option out, or allow it \
                     (`assay doctor` names settings, containers have a seccomp profile)"
            ),
        )),
        _ => Ok(Some(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(flavour: Flavour, options: &[(&str, &str)]) -> SystemNeeds {
        let load = ServerLoad { connections: 10, ..ServerLoad::default() };
        of(flavour, &options.iter().copied().collect(), &load)
    }

    #[test]
    fn mysql_needs_the_events_of_its_threads() {
        let events = |options: &[(&str, &str)]| needs(Flavour::Mysql, options).aio_events.amount;
        assert_eq!(events(&[]), 2561);
        assert_eq!(events(&[("innodb-read-io-threads", "64")]), 70 * 256 + 1);
        assert_eq!(events(&[(REPLICA, "async")]), 2 * 2561);
        assert_eq!(events(&[("loose_innodb_use_native_aio", "off")]), 0);
        assert_eq!(needs(Flavour::Mysql, &[]).threads, 10 + 48);
    }

    #[test]
    fn memory_follows_the_pool_and_the_performance_schema() {
        let of = |flavour, options: &[(&str, &str)], cache: Option<u64>| {
            let cache = cache.map(model::Bytes);
            let load = ServerLoad { cache, data: model::Bytes(1 << 40), ..ServerLoad::default() };
            super::of(flavour, &options.iter().copied().collect(), &load)
        };
        let mib = |needs: SystemNeeds| needs.memory.amount >> 20;
        assert_eq!(mib(of(Flavour::Mysql, &[], None)), 420 + 128);
        assert_eq!(mib(of(Flavour::Mysql, &[], Some(64 << 20))), 420 + 64);
        let off = [("performance-schema", "off"), ("innodb_buffer_pool_size", "1g")];
        assert_eq!(mib(of(Flavour::Mysql, &off, Some(0))), 160 + 1024);
        let maria = of(Flavour::Mariadb, &[], None);
        assert_eq!(maria.address_bytes.instead, SMALL_RESERVE);
        assert_eq!((maria.address_bytes.amount, mib(maria)), ((8 << 40) + (1 << 30), 120 + 128));
    }

    #[test]
    fn mariadb_needs_what_an_option_demands() {
        let of = |options: &[(&str, &str)]| {
            let needs = needs(Flavour::Mariadb, options);
            (needs.aio_events.amount, needs.io_uring.amount)
        };
        assert_eq!(of(&[]), (0, 0));
        assert_eq!(of(&[("innodb_linux_aio", "aio")]), (2561, 0));
        assert_eq!(of(&[("innodb_linux_aio", "io_uring")]), (0, 1));
    }

    #[test]
    fn a_silent_fallback_is_read_from_the_log() {
        let fallback = |options: &[(&str, &str)], log: &str| {
            super::fallback(&options.iter().copied().collect(), log)
        };
        let refused = "x [Warning] mariadbd: io_uring_queue_init() failed with EPERM: sysctl \
                       kernel.io_uring_disabled has the value 2\n";
        let native = "x [Note] InnoDB: Using Linux native AIO\n";
        let log = format!("{refused}{native}");
        let text = fallback(&[("innodb_linux_aio", "auto")], &log).unwrap().unwrap();
        assert_eq!(
            text,
            "InnoDB uses Linux AIO (libaio) instead of io_uring: io_uring failed with EPERM"
        );
        let simulated = "x [Warning] InnoDB: liburing disabled: falling back to \
                         innodb_use_native_aio=OFF\n";
        let text = fallback(&[], &format!("{refused}{simulated}")).unwrap().unwrap();
        assert!(
            text.contains("threads that wait") && text.ends_with("failed with EPERM"),
            "{text}"
        );
        assert_eq!(fallback(&[], "x [Note] InnoDB: Using liburing\n").unwrap(), None);
        assert_eq!(fallback(&[], native).unwrap(), None, "of MySQL");
        let mysql = "x 1 [Warning] [MY-012654] [InnoDB] Linux Native AIO disabled.\n";
        let text = fallback(&[], mysql).unwrap().unwrap();
        assert!(text.contains("threads that wait") && text.contains("io_setup"), "{text}");
    }

    #[test]
    fn a_way_that_an_option_demands_is_used_or_refused() {
        let log = "x mariadbd: io_uring_queue_init() failed with EPERM: y\n\
                   x [Note] InnoDB: Using Linux native AIO\nx Linux Native AIO disabled.\n";
        for (name, value) in [
            ("innodb-linux-aio", "io_uring"),
            ("innodb_use_native_aio", "ON"),
            ("innodb_linux_aio", "aio"),
        ] {
            let options = [(name, value)].into_iter().collect();
            let error = fallback(&options, log).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }
}
