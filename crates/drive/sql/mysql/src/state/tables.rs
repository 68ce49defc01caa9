//! Sizes of single tables of `InnoDB`, their indexes included.

use driver_sql::{Connection as _, MARKER, unless_refused};
use model::{Readings, TableReadings, metric};

use crate::wire::{Connection, Failure};

/// The views of tablespaces: from 8.0 on, and of 5.7 and MariaDB.
const VIEWS: [&str; 2] = ["innodb_tablespaces", "innodb_sys_tablespaces"];
/// Most tables, the largest first. Our choice: as many rows as a picture has room for.
const TABLES_MAX: usize = 24;

/// Returns the query of the sizes of the database's tables; `None` when the server reports none.
///
/// Each table is a file of its own (`innodb_file_per_table`), which holds its indexes too.
pub(crate) fn sizes_query(connection: &mut Connection) -> Result<Option<String>, Failure> {
    for view in VIEWS {
        let query = format!(
            "SELECT SUBSTRING_INDEX(name, '/', -1), file_size FROM information_schema.{view} WHERE \
             SUBSTRING_INDEX(name, '/', 1) = DATABASE() AND SUBSTRING_INDEX(name, '/', -1) <> \
             '{MARKER}' ORDER BY file_size DESC, name"
        );
        // 5.6 has no sizes; a login may lack the right `PROCESS`.
        if unless_refused(connection.pairs(&query))?.is_some() {
            return Ok(Some(query));
        }
    }
    Ok(None)
}

/// Samples the sizes of the tables: the bytes of all, and the largest.
pub(super) fn sample(
    connection: &mut Connection,
    query: &str,
) -> Result<(Option<f64>, TableReadings), Failure> {
    Ok(sizes(unless_refused(connection.pairs(query))?.unwrap_or_default()))
}

/// Returns the bytes of all tables, and the largest of them.
///
/// `None` where no table has a file of its own: their bytes are in the system tablespace.
fn sizes(pairs: Vec<(String, String)>) -> (Option<f64>, TableReadings) {
    let known = |(name, bytes): (String, String)| Some((name, bytes.parse::<f64>().ok()?));
    let sizes: Vec<(String, f64)> = pairs.into_iter().filter_map(known).collect();
    let bytes = (!sizes.is_empty()).then(|| sizes.iter().map(|(_, bytes)| *bytes).sum());
    let readings = |bytes: f64| Readings::from([(metric::ENGINE_DISK_BYTES, bytes)]);
    let largest = sizes.into_iter().take(TABLES_MAX);
    (bytes, largest.map(|(name, bytes)| (name, readings(bytes))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Goal: tables beyond the largest are in the sum; without files the sum is unknown, not 0.
    #[test]
    fn all_tables_are_in_the_sum_and_the_largest_are_listed() {
        let table = |number: u32| (format!("t{number}"), "65536".to_owned());
        let (bytes, largest) = sizes((0..30).map(table).collect());
        assert_eq!((bytes, largest.len()), (Some(30.0 * 65536.0), TABLES_MAX));
        assert_eq!(sizes(Vec::new()), (None, TableReadings::new()));
    }
}
