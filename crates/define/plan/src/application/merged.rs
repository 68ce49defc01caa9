//! A procedure merged with those it extends.

use toml::Spanned;

use super::file::SqlEntry;
use crate::spec::Text;

/// A procedure merged with those it extends.
pub(super) struct Merged<'a> {
    pub(super) name: &'a Spanned<String>,
    pub(super) kind: Option<&'a Spanned<String>>,
    pub(super) table: Option<&'a Spanned<String>>,
    pub(super) sql: &'a Spanned<SqlEntry>,
    pub(super) row: Option<&'a Spanned<String>>,
    pub(super) rows: Option<&'a Spanned<Text>>,
    pub(super) returns: Option<&'a Spanned<f64>>,
    pub(super) is_transaction: bool,
}
