//! The server's configuration file and the layout of its directories.

use std::path::{Path, PathBuf};

use engine::EngineError;
use engine::settings_check::refused;
use model::Options;
use server::ServerSpec;

use super::place::{listens, socket};
use super::release::Flavour;

/// Prefixes of option names.
const PREFIXES: [&str; 5] = ["loose_", "skip_", "enable_", "disable_", "maximum_"];

/// Options of directories, sockets, log and set-up, which Assay sets itself, by canonical name.
#[rustfmt::skip]
const RESERVED: [&str; 31] = [
    "datadir", "basedir", "tmpdir", "pid_file", "secure_file_priv", "chroot", "user", "socket",
    "port", "bind_address", "networking", "admin_address", "admin_port", "mysqlx", "mysqlx_port",
    "mysqlx_socket", "mysqlx_bind_address", "innodb_data_home_dir", "innodb_log_group_home_dir",
    "innodb_undo_directory", "log_error", "lc_messages_dir", "character_sets_dir", "plugin_dir",
    "lc_messages", "initialize", "initialize_insecure", "bootstrap", "grant_tables", "init_file",
    "daemonize",
];

/// Options that name a file or a directory: it must lie in the data directory, whose file system is
/// known.
#[rustfmt::skip]
pub(crate) const FILES: [&str; 10] = [
    "aria_log_dir_path", "innodb_data_file_path", "innodb_doublewrite_dir", "rocksdb_datadir",
    "log_bin", "log_bin_index", "relay_log", "general_log_file", "slow_query_log_file",
    "rocksdb_wal_dir",
];

/// Returns the canonical name: `_` for `-`, lower case, no prefix such as `loose_`.
pub(crate) fn canonical(name: &str) -> String {
    let name = name.trim_start_matches("--").replace('-', "_").to_ascii_lowercase();
    let mut short = name.as_str();
    while let Some(rest) = PREFIXES.iter().find_map(|prefix| short.strip_prefix(prefix)) {
        short = rest;
    }
    short.to_owned()
}

/// The options of a configuration file, in order; a name is set once.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Configuration(Vec<(String, String)>);

impl Configuration {
    /// Sets an option, replacing any other spelling.
    pub(super) fn set(&mut self, name: &str, value: impl Into<String>) {
        let known = canonical(name);
        self.0.retain(|(other, _)| canonical(other) != known);
        self.0.push((name.to_owned(), value.into()));
    }

    /// Returns an option's value in any spelling.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(other, _)| canonical(other) == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Sets paths and where it listens.
    pub(super) fn set_paths(&mut self, flavour: Flavour, spec: &ServerSpec<'_>) {
        let layout = Layout::around(spec.program);
        let text = |path: &Path| path.display().to_string();
        let site = spec.site;
        self.set("basedir", text(&layout.base));
        self.set("datadir", text(&site.data));
        self.set("tmpdir", text(&site.temporary));
        let socket = socket(site);
        let pid_file = socket.with_extension("pid");
        self.set("pid_file", text(&site.temporary.join(pid_file.file_name().unwrap_or_default())));
        self.set("socket", text(&socket));
        self.set("lc_messages_dir", text(&layout.share));
        self.set("character_sets_dir", text(&layout.share.join("charsets")));
        if let Some(plugins) = &layout.plugins {
            self.set("plugin_dir", text(plugins));
        }
        if listens(spec) {
            self.set("bind_address", site.ip());
            self.set("port", site.port.to_string());
            if site.address.is_some() {
                // The lookup of a client's name may take seconds.
                self.set("skip_name_resolve", "ON");
            }
        } else {
            self.set("skip_networking", "");
        }
        if flavour == Flavour::Mysql {
            self.set("secure_file_priv", text(&site.temporary));
            self.set("loose_mysqlx", "OFF");
        }
    }

    /// Overlays the user's options.
    ///
    /// # Errors
    /// [`EngineError::Refused`] for one that would break the set-up or the file.
    pub(super) fn overlay(&mut self, options: &Options) -> Result<(), EngineError> {
        for (name, value) in options.iter() {
            check(name, value)?;
            self.set(name, value);
        }
        Ok(())
    }

    pub(super) fn text(&self) -> String {
        // A plain value needs no quotes.
        let is_plain = |c: char| !c.is_ascii_whitespace() && c != '#' && c != '\'';
        let lines = self.0.iter().map(|(name, value)| match value.as_str() {
            "" => format!("{name}\n"),
            value if value.chars().all(is_plain) => format!("{name}={value}\n"),
            value => format!("{name}=\"{value}\"\n"),
        });
        format!("[mysqld]\n{}", lines.collect::<String>())
    }
}

/// Rejects an option that would break the set-up or the file.
fn check(name: &str, value: &str) -> Result<(), EngineError> {
    let known = canonical(name);
    let is_name = known.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '.'));
    if known.is_empty() || !is_name {
        return Err(refused(name, "not a name of my.cnf"));
    }
    if RESERVED.contains(&known.as_str()) {
        return Err(refused(
            name,
            "Assay sets the server's files and sockets itself: remove the option",
        ));
    }
    if FILES.contains(&known.as_str()) && value.contains('/') {
        let reason = format!("`{value}` has a path: name a file of the data directory");
        return Err(refused(name, reason));
    }
    if value.contains(['\n', '\r', '"', '\\']) {
        return Err(refused(name, "a value in my.cnf has no line breaks, quotes or backslashes"));
    }
    Ok(())
}

/// The messages of a server, in its directory of shared files.
pub(super) const MESSAGES: &str = "english/errmsg.sys";

/// The directories of an unpacked server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layout {
    /// Parent of `bin` or `sbin`.
    pub(super) base: PathBuf,
    /// Messages, character sets and scripts.
    pub(super) share: PathBuf,
    /// Engines and other plugins, when there are any.
    pub(super) plugins: Option<PathBuf>,
    /// Bundled libraries, when the program does not find them itself.
    pub(super) libraries: Option<PathBuf>,
}

impl Layout {
    pub(super) fn around(program: &Path) -> Self {
        let dir = program.parent().unwrap_or(Path::new("/"));
        // Some packages have the program next to its files.
        let is_base = dir.join("share").is_dir();
        let base = if is_base { dir } else { dir.parent().unwrap_or(dir) }.to_owned();
        let first =
            |names: &[&str]| names.iter().map(|name| base.join(name)).find(|path| path.is_dir());
        let triplet = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
        Self {
            share: shared_files(&base),
            plugins: first(&["lib/mysql/plugin", "lib64/mysql/plugin", "lib/plugin"]),
            // An installed server finds its libraries itself.
            libraries: first(&[&triplet]).filter(|_| base != Path::new("/usr")),
            base,
        }
    }

    /// Returns the environment that the program needs.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        let path = self.libraries.iter().map(|path| path.display().to_string());
        path.map(|path| ("LD_LIBRARY_PATH".to_owned(), path)).collect()
    }
}

/// Returns the directory of a server's messages, character sets and scripts.
///
/// Packages name it `share`, `share/mysql`, `share/mariadb` or `share/mysql-8.0`.
fn shared_files(base: &Path) -> PathBuf {
    let share = base.join("share");
    let mut dirs: Vec<_> = std::fs::read_dir(&share).into_iter().flatten().flatten().collect();
    dirs.retain(|dir| {
        let name = dir.file_name();
        ["mysql", "mariadb"].iter().any(|server| name.to_string_lossy().starts_with(server))
    });
    let mut dirs: Vec<_> = dirs.into_iter().map(|dir| dir.path()).collect();
    dirs.sort();
    dirs.push(share.clone());
    dirs.into_iter().find(|dir| dir.join(MESSAGES).is_file()).unwrap_or(share)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: shared files are found in the layouts of distributions, tarballs and npm packages.
    #[test]
    fn shared_files_are_found_in_every_layout() {
        for (program, share) in [
            ("usr/sbin/mysqld", "usr/share/mysql"),
            ("usr/sbin/mariadbd", "usr/share/mariadb"),
            ("usr/sbin/mysqld", "usr/share/mysql-8.4"),
            ("libexec/mysqld", "share"),
            ("server/mysqld", "server/share"),
        ] {
            let tree = tempfile::tempdir().unwrap();
            std::fs::create_dir_all(tree.path().join(share).join("english")).unwrap();
            std::fs::write(tree.path().join(share).join(MESSAGES), "").unwrap();
            let layout = Layout::around(&tree.path().join(program));
            assert_eq!(layout.share, tree.path().join(share), "{program}");
        }
    }

    #[test]
    fn options_override_defaults_in_any_spelling() {
        let mut configuration = Configuration::default();
        configuration.set("innodb_buffer_pool_size", "64M");
        configuration.set("skip_log_bin", "");
        configuration.set("loose_mysqlx", "OFF");
        let options = [("innodb-buffer-pool-size", "1G"), ("log-bin", "bl")].into_iter().collect();
        configuration.overlay(&options).unwrap();
        assert_eq!(
            configuration.text(),
            "[mysqld]\nloose_mysqlx=OFF\ninnodb-buffer-pool-size=1G\nlog-bin=bl\n"
        );
        assert_eq!(configuration.get("log_bin"), Some("bl"));
    }

    #[test]
    fn values_are_quoted_when_needed() {
        let mut configuration = Configuration::default();
        configuration.set("rocksdb_default_cf_options", "a=1;b={c=2}");
        configuration.set("init_connect", "set @a = 1 # x");
        assert_eq!(
            configuration.text(),
            "[mysqld]\nrocksdb_default_cf_options=a=1;b={c=2}\ninit_connect=\"set @a = 1 # x\"\n"
        );
    }

    #[test]
    fn options_that_would_break_the_set_up_are_rejected_by_name() {
        for (name, value) in [
            ("datadir", "/x"),
            ("Skip-Networking", "0"),
            ("loose-mysqlx-port", "1"),
            ("initialize-insecure", ""),
            ("log-bin", "/x/bl"),
            ("aria-log-dir-path", "/dev/shm/log"),
            ("innodb_data_file_path", "/dev/shm/ibdata1:12M:autoextend"),
            ("sql_mode", "a\nb"),
            ("a b", "1"),
            ("", "1"),
        ] {
            let options = [(name, value)].into_iter().collect();
            let error = Configuration::default().overlay(&options).unwrap_err();
            assert_eq!(error.refused_option(), Some(name));
        }
    }
}
