//! What a server must be, as an address demands it.

use driver_sql::Connection as _;
use model::{Endpoint, ServerRole};

use super::connection::Connection;
use super::failure::Failure;

impl Connection {
    /// Checks that the server takes writes, or is no standby, where the address demands it.
    ///
    /// Servers from 14 on report both at login.
    ///
    /// Source: PostgreSQL documentation, section 34.1.2, `target_session_attrs`.
    pub(super) fn check_role(&mut self, endpoint: &Endpoint) -> Result<(), Failure> {
        let Some(demanded) = endpoint.login.role else { return Ok(()) };
        let is_on = |name| self.parameter(name).map(|value| value == "on");
        let is_standby = is_on("in_hot_standby");
        let is_read_only = is_on("default_transaction_read_only");
        let (reported, query, what) = match demanded {
            ServerRole::Primary => (is_standby, "SELECT pg_is_in_recovery()::int", "is a standby"),
            ServerRole::ReadWrite => (
                is_standby.zip(is_read_only).map(|it| it.0 || it.1),
                "SELECT (current_setting('transaction_read_only') = 'on')::int",
                "takes no writes",
            ),
        };
        let is_other = match reported {
            Some(is_other) => is_other,
            None => self.first(query)?.as_deref() == Some("1"),
        };
        if !is_other {
            return Ok(());
        }
        if !endpoint.is_foreign {
            let text = format!("the standby at {} is not promoted", endpoint.address);
            return Err(Failure::Unreachable(text));
        }
        Err(Failure::Rejected(format!(
            "the server at {} {what}, and the dsn demands target_session_attrs={demanded}: name \
             the primary in the dsn",
            endpoint.address
        )))
    }
}
