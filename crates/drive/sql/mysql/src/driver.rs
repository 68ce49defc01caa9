//! The MySQL and MariaDB drivers: identity, capabilities, open.

use driver_sql::Config;
use engine::settings_check::check_settings;
use engine::{Driver, Engine, EngineError, LockWaits, OpenSpec};
use model::{Capabilities, Identity};

use crate::instance;
use crate::kind::Flavour;
use crate::wire::Connection;

/// Returns the driver of MySQL.
pub fn driver() -> Box<dyn Driver> {
    Box::new(MysqlDriver(Flavour::Mysql))
}

/// Returns the driver of MariaDB, the same under another name.
pub fn mariadb() -> Box<dyn Driver> {
    Box::new(MysqlDriver(Flavour::Mariadb))
}

struct MysqlDriver(Flavour);

impl Driver for MysqlDriver {
    /// Version and facts are known once connected.
    fn identity(&self) -> Identity {
        Identity {
            engine: self.0.name().to_owned(),
            origin: "server".to_owned(),
            ..Identity::default()
        }
    }

    fn capabilities(&self) -> Capabilities {
        driver_sql::capabilities::<Connection>(
            "named for each table (InnoDB: ROW_FORMAT=COMPRESSED) or in rocksdb_default_cf_options",
        )
    }

    fn open(&self, spec: &OpenSpec) -> Result<Box<dyn Engine>, EngineError> {
        self.open_shared(spec, &LockWaits::default())
    }

    fn open_shared(
        &self,
        spec: &OpenSpec,
        waits: &LockWaits,
    ) -> Result<Box<dyn Engine>, EngineError> {
        check_settings(self.0.name(), &self.capabilities(), &spec.settings)?;
        let config = Config::resolve(self.0.name(), spec, ())?;
        Ok(Box::new(instance::open(self.0, (spec, waits), config)?))
    }
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
