//! Bootstrap of an empty data directory, per server version.

use std::fs;
use std::path::Path;

use engine::EngineError;
use server::{ServerSpec, Task};

use super::configuration::{Configuration, Layout, MESSAGES};
use super::release::{Flavour, Release};
use super::settings::Server;

/// Options that shape the data directory, on which bootstrap and server must agree, and what
/// InnoDB does without on this host.
#[rustfmt::skip]
const SHAPING: [&str; 8] = [
    "innodb_page_size", "innodb_data_file_path", "innodb_undo_tablespaces",
    "innodb_checksum_algorithm", "lower_case_table_names", "character_set_server",
    "collation_server", "innodb_use_native_aio",
];

/// First release of MariaDB whose scripts have its own name.
const RENAMED: Release = Release(11, 0, 0);
/// First MySQL release with `--initialize`.
const INITIALIZE: Release = Release(5, 7, 6);

/// The remedy for a file that is missing.
const COMPLETE: &str = "add a whole installation (Debian: apt install mariadb-server)";

/// Checks that the messages and the scripts of a server's set-up are there.
///
/// # Errors
/// The missing file with the remedy.
pub(super) fn check_files(server: Server, program: &Path) -> Result<(), String> {
    let Layout { base, share, .. } = Layout::around(program);
    let files = [MESSAGES.to_owned()].into_iter().chain(scripts(server));
    match files.map(|name| share.join(name)).find(|path| !path.is_file()) {
        None => Ok(()),
        Some(missing) => {
            let missing = missing.strip_prefix(&base).unwrap_or(&missing).display();
            Err(format!("`{missing}` is missing in the installation: {COMPLETE}"))
        }
    }
}

/// Returns the scripts of a server's set-up, in order; none where the program has them in itself.
fn scripts(Server { flavour, release }: Server) -> Vec<String> {
    let (prefix, has_more) = match flavour {
        Flavour::Mysql if release >= INITIALIZE => return Vec::new(),
        Flavour::Mysql => ("mysql", false),
        Flavour::Mariadb => (if release < RENAMED { "mysql" } else { "mariadb" }, true),
    };
    let tables = format!("{prefix}_system_tables.sql");
    let statistics = has_more.then(|| format!("{prefix}_performance_tables.sql"));
    let data = format!("{prefix}_system_tables_data.sql");
    let shapes = has_more.then(|| "maria_add_gis_sp_bootstrap.sql".to_owned());
    [Some(tables), statistics, Some(data), shapes].into_iter().flatten().collect()
}

/// Returns the programs that create the data directory of `server`.
///
/// # Errors
/// When a script that the version needs is not there.
pub(super) fn tasks(
    server: Server,
    spec: &ServerSpec<'_>,
    whole: &Configuration,
) -> Result<Vec<Task>, EngineError> {
    let layout = Layout::around(spec.program);
    let mut configuration = Configuration::default();
    configuration.set_paths(server.flavour, spec);
    speed_up(server, &mut configuration);
    for name in SHAPING {
        if let Some(value) = whole.get(name) {
            configuration.set(name, value);
        }
    }
    let file = spec.site.file("set-up.cnf");
    let mut task = Task {
        program: spec.program.to_owned(),
        arguments: vec![format!("--defaults-file={}", file.display())],
        environment: layout.environment(),
        ..Task::default()
    };
    if scripts(server).is_empty() {
        task.arguments.push("--initialize-insecure".to_owned());
    } else {
        task.arguments.push("--bootstrap".to_owned());
        task.input = script(server, &layout)?;
    }
    if server.flavour == Flavour::Mariadb {
        task.arguments.push("--skip-grant-tables".to_owned());
        // Its system tables use several engines; an empty value cannot stand in a file.
        task.arguments.push("--enforce-storage-engine=".to_owned());
    }
    task.files.push((file, configuration.text()));
    Ok(vec![task])
}

/// Sets options for a fast bootstrap: nothing is synced, as it holds no data yet.
fn speed_up(server: Server, to: &mut Configuration) {
    to.set("max_allowed_packet", "8M");
    to.set("innodb_flush_log_at_trx_commit", "0");
    to.set("innodb_doublewrite", "0");
    let Server { flavour, release } = server;
    if flavour == Flavour::Mariadb {
        to.set("innodb_flush_method", "fsync");
        to.set("loose_debug_no_sync", "ON");
        to.set("innodb_log_file_size", "8M");
        return;
    }
    to.set("innodb_flush_method", "nosync");
    if release < Release(5, 7, 0) {
        to.set("default_storage_engine", "myisam");
        to.set("default_tmp_storage_engine", "myisam");
    } else {
        server.disable_key_generation(to);
        to.set("performance_schema", "OFF");
    }
    if release >= Release(8, 0, 0) {
        to.set("skip_log_bin", "");
    }
    let is_one_log = release >= Release(8, 0, 30);
    let (log, size) = if is_one_log {
        ("innodb_redo_log_capacity", "8M")
    } else {
        ("innodb_log_file_size", "4M")
    };
    to.set(log, size);
}

/// Returns the SQL that creates the system tables.
///
/// The server splits it at line ends, so each of these statements has a line.
fn script(server: Server, layout: &Layout) -> Result<String, EngineError> {
    let more = match server.flavour {
        Flavour::Mysql => "",
        Flavour::Mariadb => "SET @auth_root_socket=NULL;\n",
    };
    let head = format!("create database mysql;\nuse mysql;\n{more}");
    scripts(server).iter().try_fold(head, |text, script| {
        let path = layout.share.join(script);
        let bytes = fs::read(&path).map_err(|error| {
            let path = path.display();
            let remedy = "the server's packages are incomplete: get the server again";
            EngineError::Fatal(format!("{path}: {error}: {remedy}"))
        })?;
        Ok(text + &String::from_utf8_lossy(&bytes) + "\n")
    })
}
