//! What the drivers of SQL servers share: statements, sessions, tables, reconnects.
//!
//! A driver implements [`Connection`], the protocol of its server, and [`Database`], its identity,
//! state and maintenance; [`SqlEngine`] makes an engine of both. Everything is generic over the
//! connection, so nothing is dispatched dynamically below a session. The crate stands between
//! `engine`, whose traits it implements, and the drivers `mysql` and `postgres`.
//!
//! Invariants: one write and as few reads as possible per statement, or per pipelined batch; no
//! allocation once the buffers have grown; a statement whose connection was lost has failed and is
//! never repeated; only tables and routines with the identity in the marker table are ever dropped.

mod certificate;
mod client_identity;
mod command;
mod config;
mod connection;
mod database;
mod driver;
mod duplex;
mod end_point;
mod engine;
mod explain;
mod failure;
mod inspect;
mod key_value;
mod limits;
mod lock_watch;
mod moment;
mod object;
mod obstacle;
mod open_sessions;
mod peer_protocol;
mod pipeline_queue;
mod pooler;
mod procedure;
mod random;
mod read_back;
mod receive_buffer;
mod roots;
mod row_texts;
mod session;
mod socket;
mod table_spec;
mod tables;
mod template;
pub mod testing;
mod timed_stream;
mod tls;
mod trial_call;
mod waits;

pub use config::{
    Config, OWN_NAMES, OWN_PREFIX, OwnOptions, PROTOCOL, WAITS, capabilities, replica,
    server_options,
};
pub use connection::{Connection, Reply, Sql};
pub use database::{Database, OpenRequest, SqlEngine, WaitQuery};
pub use driver::SqlDriver;
pub use explain::{Explain, SentStatement, StatementEntry, Statements};
pub use failure::{ErrorResponse, Failure, unless_refused};
pub use moment::Moment;
pub use object::{CatalogEntry, Creation, DataSet, Object, ObjectKind, Reference, TableName};
pub use obstacle::{Limit, Obstacle, SessionNeeds, refuse};
pub use peer_protocol::PeerProtocol;
pub use random::random;
pub use receive_buffer::ReceiveBuffer;
pub use socket::{Contact, Socket};
pub use tables::MARKER;
pub use template::{Field, Template, Value, write_hex};
