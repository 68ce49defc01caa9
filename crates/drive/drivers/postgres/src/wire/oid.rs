//! Object ids of the built-in types.
//!
//! Source: Postgres' catalogue of types, `pg_type.dat`; equal in every release.

/// `bytea`.
pub(super) const BYTEA: u32 = 17;
/// `bigint`.
pub(super) const INT8: u32 = 20;
/// `smallint`.
pub(super) const INT2: u32 = 21;
/// `integer`.
pub(super) const INT4: u32 = 23;
/// `text`.
pub(super) const TEXT: u32 = 25;
/// `real`.
pub(super) const FLOAT4: u32 = 700;
/// `double precision`.
pub(super) const FLOAT8: u32 = 701;
/// `char(n)`.
pub(super) const BPCHAR: u32 = 1042;
/// `varchar(n)`.
pub(super) const VARCHAR: u32 = 1043;
/// `timestamp`.
pub(super) const TIMESTAMP: u32 = 1114;
/// `timestamp with time zone`.
pub(super) const TIMESTAMPTZ: u32 = 1184;
