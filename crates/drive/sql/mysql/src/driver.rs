//! The drivers of MySQL and MariaDB.

use driver_sql::{Config, SqlDriver};
use engine::settings_check::check_settings;
use engine::{Driver, Engine, EngineError, LockWaits, OpenSpec};
use model::Capabilities;

use crate::instance;
use crate::kind::Flavour;
use crate::wire::Connection;

/// Returns the driver of MySQL.
pub fn driver() -> Box<dyn Driver> {
    let open = |spec: &OpenSpec, waits: &LockWaits| open(Flavour::Mysql, spec, waits);
    Box::new(SqlDriver { name: Flavour::Mysql.name(), capabilities, open })
}

/// Returns the driver of MariaDB, the same under another name.
pub fn mariadb() -> Box<dyn Driver> {
    let open = |spec: &OpenSpec, waits: &LockWaits| open(Flavour::Mariadb, spec, waits);
    Box::new(SqlDriver { name: Flavour::Mariadb.name(), capabilities, open })
}

fn open(
    flavour: Flavour,
    spec: &OpenSpec,
    waits: &LockWaits,
) -> Result<Box<dyn Engine>, EngineError> {
    check_settings(flavour.name(), &capabilities(), &spec.settings)?;
    let config = Config::resolve(flavour.name(), spec, ())?;
    Ok(Box::new(instance::open(flavour, spec, waits, config)?))
}

fn capabilities() -> Capabilities {
    driver_sql::capabilities::<Connection>(
        "each table names its compression (InnoDB: ROW_FORMAT=COMPRESSED), or \
         rocksdb_default_cf_options does",
    )
}

#[cfg(test)]
mod tests {
    use model::OpKind;

    use super::*;

    #[test]
    fn server_offers_procedures_and_key_value_operations() {
        let can = driver().capabilities();
        let mut kinds = OpKind::KEY_VALUE.iter().chain(&OpKind::PROCEDURE);
        assert!(kinds.all(|kind| can.operations.contains(kind)));
        assert_eq!(can.key_bytes_max, Some(767));
        assert_eq!(
            (driver().identity().engine, mariadb().identity().engine),
            ("mysql".to_owned(), "mariadb".to_owned())
        );
    }
}
