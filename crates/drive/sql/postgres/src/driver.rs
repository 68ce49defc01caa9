//! The driver of Postgres and compatible servers.

use driver_sql::SqlDriver;
use engine::Driver;
use model::Capabilities;

use crate::config::NAME;
use crate::wire::Connection;
use crate::{config, instance};

/// The driver of Postgres and compatible servers.
pub const DRIVER: SqlDriver = SqlDriver {
    name: NAME,
    capabilities,
    open: |spec, waits| {
        let config = config::resolve(spec, &capabilities())?;
        Ok(Box::new(instance::open(spec, waits, config)?))
    },
};

/// Returns the driver of Postgres and compatible servers.
pub fn driver() -> Box<dyn Driver> {
    Box::new(DRIVER)
}

pub(crate) fn capabilities() -> Capabilities {
    driver_sql::capabilities::<Connection>(
        "pages are stored as given; only long values are compressed",
    )
}
