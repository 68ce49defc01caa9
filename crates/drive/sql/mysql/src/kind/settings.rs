//! Translation of common settings to server variables.

use std::path::Path;

use engine::EngineError;
use engine::settings_check::refused;
use model::{Durability, Settings};

use super::configuration::{Configuration, Layout, canonical};
use super::release::{Flavour, Release};

/// Redo log size, modest: a new server writes it whole.
const REDO_BYTES: u64 = 256 << 20;
/// Connections of an own server: more than the clients of any bundled experiment, each with a
/// writer.
const CONNECTIONS_MAX: &str = "400";
/// Longest statement: room for the longest value of the driver, quoted.
const PACKET_MAX: &str = "64M";
/// `InnoDB` buffer pool of a `MyRocks` server: system tables only.
const SMALL_POOL: &str = "32M";
/// Cache below which one chunk is used, so that the size is exact to the MiB.
const ONE_CHUNK: u64 = 1 << 30;
const MIB: u64 = 1 << 20;

/// The plugin's file, where `MyRocks` is one.
const PLUGIN: &str = "ha_rocksdb.so";

/// How a server has `MyRocks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MyRocks {
    /// As a plugin to be loaded: MariaDB, Percona.
    Plugin,
    /// Compiled in, and off unless it is turned on: Facebook's MySQL.
    CompiledIn,
}

impl MyRocks {
    /// Returns how the server of this program has it; MariaDB's is always a plugin.
    pub(super) fn of(flavour: Flavour, program: &Path) -> Self {
        let plugins = Layout::around(program).plugins;
        let has_plugin = plugins.is_some_and(|folder| folder.join(PLUGIN).is_file());
        if has_plugin || flavour == Flavour::Mariadb { Self::Plugin } else { Self::CompiledIn }
    }

    fn settings(self, settings: &Settings, flush_level: String, to: &mut Configuration) {
        match self {
            Self::Plugin => to.set("plugin_load_add", PLUGIN),
            // A server without it then refuses the default storage engine.
            Self::CompiledIn => to.set("loose_rocksdb", "ON"),
        }
        to.set("innodb_buffer_pool_size", SMALL_POOL);
        // It has no gap locks: repeatable reads would fail instead of wait.
        to.set("transaction_isolation", "READ-COMMITTED");
        to.set("rocksdb_flush_log_at_trx_commit", flush_level);
        if settings.durability != Durability::None {
            // Else its log stays in the process for up to a second: with MariaDB 10.11.19 none of
            // 200 rows survived a kill, whatever the variable before (our measurement).
            to.set("rocksdb_manual_wal_flush", "OFF");
        }
        let direct = if settings.direct_io { "1" } else { "0" };
        to.set("rocksdb_use_direct_reads", direct);
        to.set("rocksdb_use_direct_io_for_flush_and_compaction", direct);
        if let Some(bytes) = settings.cache_bytes {
            to.set("rocksdb_block_cache_size", bytes.0.to_string());
        }
        if let Some(jobs) = settings.background_jobs {
            to.set("rocksdb_max_background_jobs", jobs.clamp(1, 64).to_string());
        }
        if settings.compression.as_deref() == Some("none") {
            to.set("rocksdb_default_cf_options", "compression=kNoCompression");
        }
    }
}

/// The configured server.
#[derive(Debug, Clone, Copy)]
pub(super) struct Server {
    pub(super) flavour: Flavour,
    pub(super) release: Release,
}

impl Server {
    fn is_mysql_since(self, release: Release) -> bool {
        self.flavour == Flavour::Mysql && self.release >= release
    }

    /// Sets the defaults of every own server.
    pub(super) fn defaults(self, to: &mut Configuration) {
        to.set("max_connections", CONNECTIONS_MAX);
        to.set("max_allowed_packet", PACKET_MAX);
        if self.is_mysql_since(Release(8, 0, 30)) {
            to.set("innodb_redo_log_capacity", REDO_BYTES.to_string());
        } else if self.flavour == Flavour::Mysql {
            to.set("innodb_log_file_size", (REDO_BYTES / 2).to_string());
        } else {
            to.set("innodb_log_file_size", REDO_BYTES.to_string());
        }
        if self.is_mysql_since(Release(8, 0, 0)) {
            to.set("skip_log_bin", "");
        }
        self.disable_key_generation(to);
    }

    /// Disables key generation, which takes a second: a unix socket needs no keys.
    pub(super) fn disable_key_generation(self, to: &mut Configuration) {
        if self.is_mysql_since(Release(5, 7, 6)) {
            to.set("loose_auto_generate_certs", "OFF");
            to.set("loose_sha256_password_auto_generate_rsa_keys", "OFF");
            to.set("loose_caching_sha2_password_auto_generate_rsa_keys", "OFF");
        }
    }

    /// Sets the variables of the settings; `myrocks` where it is the default storage engine.
    pub(super) fn settings(
        self,
        settings: &Settings,
        myrocks: Option<MyRocks>,
        to: &mut Configuration,
    ) {
        let flush_level = flush_level(settings.durability).to_string();
        to.set("innodb_flush_log_at_trx_commit", &*flush_level);
        let is_sync = settings.durability == Durability::Sync;
        to.set("sync_binlog", if is_sync { "1" } else { "0" });
        to.set("innodb_flush_method", if settings.direct_io { "O_DIRECT" } else { "fsync" });
        if let Some(myrocks) = myrocks {
            return myrocks.settings(settings, flush_level, to);
        }
        if let Some(bytes) = settings.cache_bytes {
            let bytes = bytes.0.div_ceil(MIB) * MIB;
            to.set("innodb_buffer_pool_size", bytes.to_string());
            if bytes < ONE_CHUNK && self.is_mysql_since(Release(5, 7, 5)) {
                to.set("innodb_buffer_pool_chunk_size", bytes.to_string());
            }
        }
        if let Some(jobs) = settings.background_jobs {
            to.set("innodb_purge_threads", jobs.clamp(1, 32).to_string());
            if self.is_mysql_since(Release(5, 7, 4)) {
                to.set("innodb_page_cleaners", jobs.clamp(1, 64).to_string());
            }
        }
    }
}

/// Returns the value of `..._flush_log_at_trx_commit` for a durability class.
///
/// Source: MySQL's reference manual, "InnoDB Startup Options and System Variables": 0 writes the
/// log once a second, 2 writes it at each commit, 1 also syncs it.
const fn flush_level(class: Durability) -> u8 {
    match class {
        Durability::None => 0,
        Durability::Os => 2,
        Durability::Sync => 1,
    }
}

pub(super) fn reject_weaker_durability(
    class: Durability,
    options: &model::Options,
) -> Result<(), EngineError> {
    for (name, value) in options.iter() {
        let allowed: &[&str] = match (canonical(name).as_str(), class) {
            (_, Durability::None) => continue,
            ("innodb_flush_log_at_trx_commit" | "rocksdb_flush_log_at_trx_commit", class) => {
                // MariaDB's 3 is a sync too.
                if class == Durability::Sync { &["1", "3"] } else { &["1", "2", "3"] }
            }
            ("sync_binlog", Durability::Sync) => &["1"],
            ("innodb_flush_method", _)
                if ["nosync", "littlesync"].iter().any(|it| value.eq_ignore_ascii_case(it)) =>
            {
                &[]
            }
            ("debug_no_sync" | "rocksdb_manual_wal_flush", _) => &["0", "OFF", "off", "false"],
            _ => continue,
        };
        if !allowed.contains(&value) {
            let reason = format!("`{value}` is weaker than durability class `{class}`");
            return Err(refused(name, reason));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use model::Bytes;

    use super::*;

    fn configured(server: Server, settings: &Settings, myrocks: Option<MyRocks>) -> Configuration {
        let mut configuration = Configuration::default();
        server.defaults(&mut configuration);
        server.settings(settings, myrocks, &mut configuration);
        configuration
    }

    fn mysql(release: Release) -> Server {
        Server { flavour: Flavour::Mysql, release }
    }

    #[test]
    fn redo_and_binlog_use_the_names_of_each_version() {
        let of = |server| configured(server, &Settings::default(), None);
        let old = of(mysql(Release(5, 6, 24)));
        assert_eq!(old.get("innodb_log_file_size"), Some("134217728"));
        assert_eq!(old.get("log_bin"), None);
        let new = of(mysql(Release(8, 0, 31)));
        assert_eq!(new.get("innodb_redo_log_capacity"), Some("268435456"));
        assert_eq!(new.get("innodb_log_file_size"), None);
        assert!(new.text().contains("\nskip_log_bin\n"));
        let mariadb = of(Server { flavour: Flavour::Mariadb, release: Release(10, 11, 6) });
        assert_eq!(mariadb.get("innodb_log_file_size"), Some("268435456"));
    }

    #[test]
    fn settings_become_variables() {
        let settings = Settings {
            durability: Durability::Sync,
            cache_bytes: Some(Bytes((200 << 20) + 1)),
            direct_io: true,
            background_jobs: Some(3),
            ..Settings::default()
        };
        let configuration = configured(mysql(Release(5, 7, 22)), &settings, None);
        for (name, value) in [
            ("innodb_flush_log_at_trx_commit", "1"),
            ("sync_binlog", "1"),
            ("innodb_flush_method", "O_DIRECT"),
            ("innodb_buffer_pool_size", "210763776"),
            ("innodb_buffer_pool_chunk_size", "210763776"),
            ("innodb_page_cleaners", "3"),
        ] {
            assert_eq!(configuration.get(name), Some(value), "{name}");
        }
        let server = Server { flavour: Flavour::Mariadb, release: Release(10, 11, 6) };
        let settings = Settings { durability: Durability::None, ..settings };
        let configuration = configured(server, &settings, Some(MyRocks::Plugin));
        for (name, value) in [
            ("rocksdb_flush_log_at_trx_commit", "0"),
            ("rocksdb_block_cache_size", "209715201"),
            ("rocksdb_use_direct_reads", "1"),
            ("transaction_isolation", "READ-COMMITTED"),
        ] {
            assert_eq!(configuration.get(name), Some(value), "{name}");
        }
    }

    #[test]
    fn option_weaker_than_the_durability_class_is_rejected() {
        let refused = |class, name: &str, value: &str| {
            reject_weaker_durability(class, &[(name, value)].into_iter().collect()).is_err()
        };
        assert!(refused(Durability::Sync, "innodb-flush-log-at-trx-commit", "2"));
        assert!(refused(Durability::Os, "rocksdb_flush_log_at_trx_commit", "0"));
        assert!(refused(Durability::Os, "innodb_flush_method", "nosync"));
        assert!(refused(Durability::Os, "rocksdb-manual-wal-flush", "ON"));
        assert!(!refused(Durability::Os, "innodb_flush_log_at_trx_commit", "1"));
        assert!(!refused(Durability::None, "innodb_flush_log_at_trx_commit", "0"));
    }
}
