//! Sizes of single tables of `InnoDB`, their indexes included.

use driver_sql::{Connection as _, MARKER};
use model::{Readings, TableReadings, metric};

use crate::wire::{Connection, Failure};

/// The views of tablespaces: from 8.0 on, and of 5.7 and MariaDB.
const VIEWS: [&str; 2] = ["innodb_tablespaces", "innodb_sys_tablespaces"];
/// Most tables, the largest first. Our choice: as many rows as a picture has room for.
const TABLES_MAX: u32 = 24;

/// Returns the query of the sizes of the database's tables; `None` when the server reports none.
///
/// Each table is a file of its own (`innodb_file_per_table`), which holds its indexes too.
pub(crate) fn sizes_query(connection: &mut Connection) -> Result<Option<String>, Failure> {
    for view in VIEWS {
        let query = format!(
            "SELECT SUBSTRING_INDEX(name, '/', -1), file_size FROM information_schema.{view} WHERE \
             SUBSTRING_INDEX(name, '/', 1) = DATABASE() AND SUBSTRING_INDEX(name, '/', -1) <> \
             '{MARKER}' ORDER BY file_size DESC, name LIMIT {TABLES_MAX}"
        );
        match connection.pairs(&query) {
            Ok(_) => return Ok(Some(query)),
            // 5.6 has no sizes; a login may lack the right `PROCESS`.
            Err(Failure::Refused(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    Ok(None)
}

/// Samples the sizes of the tables.
pub(super) fn sample(connection: &mut Connection, query: &str) -> Result<TableReadings, Failure> {
    let pairs = match connection.pairs(query) {
        Err(Failure::Refused(_)) => Vec::new(),
        pairs => pairs?,
    };
    let size = |(name, bytes): (String, String)| {
        let bytes: f64 = bytes.parse().ok()?;
        Some((name, Readings::from([(metric::ENGINE_DISK_BYTES, bytes)])))
    };
    Ok(pairs.into_iter().filter_map(size).collect())
}
