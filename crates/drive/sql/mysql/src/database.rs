//! What is known of an open database.

use std::sync::Mutex;

use driver_sql::SqlEngine;

use crate::durability::StorageEngine;
use crate::kind::Flavour;
use crate::standby_status::StandbyMonitor;

/// A server with the tables of a run.
pub(crate) type MysqlEngine = SqlEngine<MysqlDatabase>;

pub(crate) struct MysqlDatabase {
    pub(crate) flavour: Flavour,
    /// InnoDB variables to restore once it is idle.
    pub(crate) saved_variables: Mutex<Option<SavedVariables>>,
    /// Storage engine of the first table; `None` for one whose rows a crash may lose.
    pub(crate) storage_engine: Option<StorageEngine>,
    /// The connection to its standby; `None` without one.
    pub(crate) standby: Option<StandbyMonitor>,
    /// The query of the tables' sizes; `None` when the server reports none.
    pub(crate) sizes: Option<String>,
}

/// Earlier values of variables, in the order of restoring.
pub(crate) type SavedVariables = Vec<(String, String)>;
