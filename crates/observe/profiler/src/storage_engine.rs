//! CPU of a SQL server inside and outside of its storage engine.

use model::{Profile, ProfileTarget, Stack, float};

/// Beginnings of the names of functions through which a server enters a storage engine, apart from
/// the methods of its handler: functions of the handlerton, and of threads of the engine.
///
/// Source: `MySQL` 8.0, `storage/innobase/handler/ha_innodb.cc`, `innobase_hton`, and
/// `storage/innobase/srv/srv0start.cc`; the same names in 5.6.
const ENTRIES: [&str; 10] = [
    "innobase_",
    "innodb_",
    "srv_",
    "buf_flush_page_c",
    "buf_dump_thread",
    "io_handler_thread",
    "log_writer",
    "log_flush",
    "log_checkpointer",
    "trx_purge",
];
/// Beginning of the names of handlers, the classes of storage engines.
const HANDLER: &str = "ha_";

/// Returns the share of a server's samples that are inside of a storage engine; `None` without
/// such samples, as of servers without pluggable engines.
pub fn storage_engine_share(profile: &Profile) -> Option<f64> {
    let is_entry: Vec<bool> =
        profile.frames().iter().map(|frame| is_entry(&frame.function)).collect();
    let is_inside = |stack: &&Stack| stack.frames.iter().any(|frame| is_entry[*frame as usize]);
    let of_server = || profile.stacks().iter().filter(|it| it.target == ProfileTarget::Server);
    let inside: u64 = of_server().filter(is_inside).map(|stack| stack.samples).sum();
    (inside > 0).then(|| float(inside) / float(profile.samples(ProfileTarget::Server)))
}

/// Returns whether a function belongs to a storage engine: a method of a handler, or an entry.
fn is_entry(function: &str) -> bool {
    let parts: Vec<&str> = function.split("::").collect();
    let is_method = parts.iter().rev().skip(1).any(|class| class.starts_with(HANDLER));
    is_method || ENTRIES.iter().any(|entry| function.starts_with(entry))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_and_their_threads_are_inside() {
        for name in ["ha_innobase::write_row", "myrocks::ha_rocksdb::update", "innobase_commit"] {
            assert!(is_entry(name), "{name}");
        }
        for name in ["handler::ha_write_row", "ha_commit_trans", "mysql_parse", "row_ins"] {
            assert!(!is_entry(name), "{name}");
        }
    }

    #[test]
    fn share_is_over_the_samples_of_the_server() {
        let text = "server;mysqld;mysqld`main;mysqld`ha_innobase::write_row;mysqld`row_ins 30\n\
                    server;mysqld;mysqld`main;mysqld`mysql_parse 50\n\
                    server;mysqld;mysqld`log_writer 20\n\
                    worker;client;assay`run 900\n";
        let profile = Profile::parse(text).unwrap();
        assert_eq!(storage_engine_share(&profile), Some(0.5));
        let other = Profile::parse("server;postgres;postgres`main 5\n").unwrap();
        assert_eq!(storage_engine_share(&other), None);
    }
}
