//! Configuration of a session.

/// Configuration of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Session {
    /// Settings sent at login.
    pub(crate) settings: Vec<(String, String)>,
    /// Schemas in which names are found, each quoted; empty where the login's own are.
    pub(crate) search_path: String,
    /// Whether TOAST compression is off.
    pub(crate) is_uncompressed: bool,
}
