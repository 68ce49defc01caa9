//! What is known of an open database.

use std::sync::Mutex;

use driver_sql::SqlEngine;

use crate::kind::Flavour;
use crate::standby_status::StandbyMonitor;

/// A server with the tables of a run.
pub(crate) type MysqlEngine = SqlEngine<MysqlDatabase>;

pub(crate) struct MysqlDatabase {
    pub(crate) flavour: Flavour,
    /// InnoDB variables to restore once it is idle.
    pub(crate) saved_variables: Mutex<Option<SavedVariables>>,
    pub(crate) storage_engine: StorageEngine,
    /// The connection to its standby; `None` without one.
    pub(crate) standby: Option<StandbyMonitor>,
    /// The query of the tables' sizes; `None` when the server reports none.
    pub(crate) sizes: Option<String>,
}

/// Storage engine of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StorageEngine {
    Innodb,
    Myrocks,
    Other,
}

/// Earlier values of variables, in the order of restoring.
pub(crate) type SavedVariables = Vec<(String, String)>;
