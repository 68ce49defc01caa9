//! How statements are sent to a server.

use serde::{Deserialize, Serialize};

use crate::names::names;

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Parsed once per session, then executed with binary values.
    Prepared,
    /// As text with literal values, parsed and planned each time.
    Text,
}

names!(Protocol, "a protocol": Prepared "prepared", Text "text");
