//! What MySQL and MariaDB need of the system's limits, and what they do without in silence.

use model::server::REPLICA;
use model::{Need, Options, ServerLoad, SystemNeeds};

use super::configuration::canonical;
use super::release::Flavour;

/// Threads of a server without connections, twice: 36 of MySQL 8.0, 17 of MariaDB 10.11 (ours).
const THREADS: [(Flavour, u64); 2] = [(Flavour::Mysql, 48), (Flavour::Mariadb, 32)];
/// Files of a server without connections: tables, logs, temporary files, libraries (100, ours).
const OPEN_FILES: u64 = 200;
/// Threads that have events each, by option, with their defaults.
///
/// Source: MySQL's reference manual, "InnoDB Startup Options and System Variables".
const IO_THREADS: [(&str, u64); 2] =
    [("innodb_read_io_threads", 4), ("innodb_write_io_threads", 4)];
/// Further ones: those of the log and of the change buffer.
const OTHER_IO_THREADS: u64 = 2;
/// Events of each. Source: MySQL's source, `os0file.h`, `OS_AIO_N_PENDING_IOS_PER_THREAD`.
const EVENTS: u64 = 256;
/// How a server does without events.
const SIMULATED: &str = "set the option `innodb_use_native_aio = \"OFF\"`, with which threads of \
                         InnoDB wait for each request";

/// Returns the needs of a server with these options.
pub(super) fn of(flavour: Flavour, options: &Options, load: &ServerLoad) -> SystemNeeds {
    let text = |name: &str| {
        options.iter().find(|(known, _)| canonical(known) == name).map(|(_, text)| text)
    };
    let servers = if options.get(REPLICA).is_some() { 2 } else { 1 };
    let threads = THREADS.iter().find(|(known, _)| *known == flavour).map_or(0, |(_, own)| *own);
    let is_simulated = text("innodb_use_native_aio")
        .is_some_and(|value| ["0", "off", "false"].iter().any(|it| value.eq_ignore_ascii_case(it)));
    let way = text("innodb_linux_aio").unwrap_or("auto");
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
    SystemNeeds {
        threads: load.connections + servers * threads,
        open_files: OPEN_FILES + load.connections,
        aio_events: Need {
            amount: if has_events { servers * events } else { 0 },
            instead: SIMULATED,
        },
        io_uring: Need {
            amount: u64::from(is_uring),
            instead: "leave the option `innodb_linux_aio` out",
        },
        ..SystemNeeds::default()
    }
}

/// Returns what InnoDB does without, as the log of its start states it.
///
/// Source: MariaDB's source, `tpool/aio_liburing.cc` and `innobase/handler/ha_innodb.cc`.
pub(super) fn fallback(log: &str) -> Option<String> {
    let cause = log.lines().find_map(|line| line.split_once("io_uring_queue_init() ")?.1.into());
    let cause = cause.map(|text| text.split(':').next().unwrap_or(text).trim());
    let is_simulated = log.contains("falling back to innodb_use_native_aio=OFF");
    let way = match (is_simulated, cause) {
        (true, _) => "threads that wait for each request, without asynchronous I/O of the kernel",
        (false, Some(_)) if log.contains("Linux native AIO") => "Linux AIO (libaio)",
        (false, _) => return None,
    };
    let cause = cause.map_or_else(String::new, |cause| format!(": io_uring {cause}"));
    Some(format!("InnoDB uses {way}, in place of io_uring{cause}"))
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
        let refused = "x [Warning] mariadbd: io_uring_queue_init() failed with EPERM: sysctl \
                       kernel.io_uring_disabled has the value 2\n";
        let native = "x [Note] InnoDB: Using Linux native AIO\n";
        let text = fallback(&format!("{refused}{native}")).unwrap();
        assert_eq!(
            text,
            "InnoDB uses Linux AIO (libaio), in place of io_uring: io_uring failed with EPERM"
        );
        let simulated = "x [Warning] InnoDB: liburing disabled: falling back to \
                         innodb_use_native_aio=OFF\n";
        let text = fallback(&format!("{refused}{simulated}")).unwrap();
        assert!(
            text.contains("threads that wait") && text.ends_with("failed with EPERM"),
            "{text}"
        );
        assert_eq!(fallback("x [Note] InnoDB: Using liburing\n"), None);
        assert_eq!(fallback(native), None, "of MySQL");
    }
}
