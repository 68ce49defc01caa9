//! A statement with values, sent prepared or as text.

use model::sql::Protocol;

use crate::connection::{Connection, Reply};
use crate::template::{Template, Value};

/// A statement; prepared when it is first executed.
pub(crate) enum Command<C: Connection> {
    Unprepared(Template),
    Prepared(C::Prepared),
    Text(Template),
}

impl<C: Connection> Command<C> {
    /// Returns the command of that text.
    pub(crate) fn new(template: Template, protocol: Protocol) -> Self {
        match protocol {
            Protocol::Prepared => Self::Unprepared(template),
            Protocol::Text => Self::Text(template),
        }
    }

    /// Parses a command whose `?` are its values, in order.
    pub(crate) fn parse(sql: &str, protocol: Protocol) -> Self {
        Self::new(Template::parse(sql), protocol)
    }

    /// Executes the command with the values that `value` has at their positions.
    ///
    /// Returns the affected rows and the bytes of the values.
    #[inline]
    pub(crate) fn run<'v>(
        &mut self,
        connection: &mut C,
        value: impl Fn(usize) -> Value<'v> + Copy,
        on_row: impl FnMut(C::Column, &[u8]),
    ) -> Reply<(u64, u64), C> {
        if let Self::Unprepared(template) = self {
            *self = prepare(template, connection, value)?;
        }
        let (bytes, prepared) = match self {
            Self::Prepared(prepared) => (connection.write(prepared, value)?, Some(&*prepared)),
            Self::Text(template) | Self::Unprepared(template) => {
                (connection.write_text(template, value)?, None)
            }
        };
        Ok((connection.exchange(prepared, on_row)?, bytes))
    }

    /// Returns text and protocol of a command that is not prepared yet.
    pub(crate) const fn unprepared(&self) -> Option<(&Template, Protocol)> {
        match self {
            Self::Unprepared(template) => Some((template, Protocol::Prepared)),
            Self::Text(template) => Some((template, Protocol::Text)),
            Self::Prepared(_) => None,
        }
    }

    /// Returns whether it was sent prepared.
    pub(crate) const fn is_prepared(&self) -> bool {
        matches!(self, Self::Prepared(_))
    }

    /// Queues the command with its values; `None` when not prepared yet.
    ///
    /// Else returns the bytes of the values and whether rows come as text.
    #[inline]
    pub(crate) fn submit<'v>(
        &mut self,
        connection: &mut C,
        value: impl Fn(usize) -> Value<'v> + Copy,
    ) -> Reply<Option<(u64, bool)>, C> {
        let queued = match self {
            Self::Prepared(prepared) => (connection.write(prepared, value)?, false),
            Self::Text(template) => (connection.write_text(template, value)?, true),
            Self::Unprepared(_) => return Ok(None),
        };
        connection.enqueue()?;
        Ok(Some(queued))
    }
}

#[cold]
fn prepare<'v, C: Connection>(
    template: &Template,
    connection: &mut C,
    value: impl Fn(usize) -> Value<'v>,
) -> Reply<Command<C>, C> {
    Ok(match connection.prepare(template, value)? {
        Some(prepared) => Command::Prepared(prepared),
        None => Command::Text(template.clone()),
    })
}
