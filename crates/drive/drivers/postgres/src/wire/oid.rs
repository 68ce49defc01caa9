//! Object ids of the built-in types.
//!
//! Source: Postgres' catalogue of types, `pg_type.dat`; equal in every release.

/// `bytea`.
pub(crate) const BYTEA: u32 = 17;
/// `bigint`.
pub(crate) const INT8: u32 = 20;
/// `smallint`.
pub(crate) const INT2: u32 = 21;
/// `integer`.
pub(crate) const INT4: u32 = 23;
/// `text`.
pub(crate) const TEXT: u32 = 25;
/// `real`.
pub(crate) const FLOAT4: u32 = 700;
/// `double precision`.
pub(crate) const FLOAT8: u32 = 701;
/// `char(n)`.
pub(crate) const BPCHAR: u32 = 1042;
/// `varchar(n)`.
pub(crate) const VARCHAR: u32 = 1043;
/// `timestamp`.
pub(crate) const TIMESTAMP: u32 = 1114;
/// `timestamp with time zone`.
pub(crate) const TIMESTAMPTZ: u32 = 1184;
