//! One client's session: each operation is one call of the shim.
#![expect(unsafe_code, reason = "foreign functions are called here")]

use std::ffi::c_void;
use std::{ptr, slice};

use engine::parts::{self, Part};
use engine::{Result, Rows, Session};
use model::{Direction, Op, Outcome};

use crate::ffi::{Failure, Handle};

/// Name of the engine in refusals.
const SHIM: &str = "an engine behind a shim";

/// One client's handle.
pub(crate) struct ShimSession<'e> {
    handle: &'e Handle,
    session: *mut c_void,
    /// Whether the shim changes parts of values; else the client reads and writes whole ones.
    is_modifying: bool,
    failure: Box<Failure>,
}

/// What rows of a read are passed to.
trait TakesRows {
    fn take(&mut self, key: &[u8], value: &[u8]);
}

impl TakesRows for Rows {
    #[inline]
    fn take(&mut self, key: &[u8], value: &[u8]) {
        self.push(key, value);
    }
}

/// Takes a part of each value.
struct Field<'r> {
    rows: &'r mut Rows,
    part: Part,
    pushed: Result<()>,
}

impl TakesRows for Field<'_> {
    fn take(&mut self, key: &[u8], value: &[u8]) {
        self.pushed = parts::push_field(key, value, self.part, self.rows);
    }
}

/// A change of a part of a value.
struct Change<'a> {
    key: &'a [u8],
    bytes: &'a [u8],
    /// Where the bytes are written; `None` at the end of the value.
    offset: Option<u32>,
}

impl<'e> ShimSession<'e> {
    /// Begins a session on the calling thread.
    pub(crate) fn begin(handle: &'e Handle, is_modifying: bool) -> Result<Self> {
        let (mut session, mut failure) = (ptr::null_mut(), Failure::none());
        let begin = handle.api.functions.session_begin;
        // SAFETY: the engine is open, and both results are locals.
        let code = unsafe { begin(handle.engine(), &raw mut session, &mut *failure) };
        failure.done(code)?;
        Ok(Self { handle, session, is_modifying, failure })
    }

    #[inline]
    fn get<T: TakesRows>(&mut self, key: &[u8], to: &mut T) -> Result<Outcome> {
        let (get, to) = (self.handle.api.functions.get, ptr::from_mut(to).cast());
        let (start, bytes, failure) = (key.as_ptr().cast(), key.len(), &mut *self.failure);
        // SAFETY: the session lives, the key is borrowed, and `take_row` gets its `T`.
        let code = unsafe { get(self.session, start, bytes, take_row::<T>, to, failure) };
        self.failure.outcome(code)
    }

    /// Reads a part of a value out of the memory that the shim passes.
    #[inline(never)]
    fn field(&mut self, key: &[u8], part: Part, rows: &mut Rows) -> Result<Outcome> {
        let mut field = Field { rows, part, pushed: Ok(()) };
        let outcome = self.get(key, &mut field)?;
        field.pushed.map(|()| outcome)
    }

    /// Executes `op`, which changes a part of a value: from an offset on, or at its end.
    #[inline(never)]
    fn change(&mut self, op: &Op<'_>, change: Change<'_>, rows: &mut Rows) -> Result<Outcome> {
        let Change { key, bytes, offset } = change;
        let modify = self.handle.api.functions.modify.filter(|_| self.is_modifying);
        let Some(modify) = modify else { return parts::execute(SHIM, self, op, rows) };
        let (key_start, start) = (key.as_ptr().cast(), bytes.as_ptr().cast());
        let (session, failure, from) = (self.session, &mut *self.failure, offset.unwrap_or(0));
        let (key_bytes, count, is_append) = (key.len(), bytes.len(), i32::from(offset.is_none()));
        // SAFETY: the session lives; key and bytes are borrowed.
        let code = unsafe {
            modify(session, key_start, key_bytes, from, is_append, start, count, failure)
        };
        let outcome = self.failure.outcome(code)?;
        if outcome == Outcome::Done {
            parts::changed(key, bytes, rows);
        }
        Ok(outcome)
    }

    #[inline]
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<Outcome> {
        let put = self.handle.api.functions.put;
        let (key_start, value_start) = (key.as_ptr().cast(), value.as_ptr().cast());
        let (session, failure) = (self.session, &mut *self.failure);
        // SAFETY: the session lives; key and value are borrowed.
        let code = unsafe { put(session, key_start, key.len(), value_start, value.len(), failure) };
        self.failure.outcome(code)
    }

    #[inline]
    fn delete(&mut self, key: &[u8]) -> Result<Outcome> {
        let delete = self.handle.api.functions.delete;
        let (start, bytes) = (key.as_ptr().cast(), key.len());
        // SAFETY: the session lives, and the key is borrowed.
        let code = unsafe { delete(self.session, start, bytes, &mut *self.failure) };
        self.failure.outcome(code)
    }

    fn scan(
        &mut self,
        start: &[u8],
        limit: u32,
        direction: Direction,
        rows: &mut Rows,
    ) -> Result<Outcome> {
        let (scan, rows) = (self.handle.api.functions.scan, ptr::from_mut(rows).cast());
        let (session, failure) = (self.session, &mut *self.failure);
        let is_reverse = i32::from(direction == Direction::Reverse);
        let (start, bytes) = (start.as_ptr().cast(), start.len());
        // SAFETY: the session lives, the key is borrowed, and `take_row` gets its rows.
        let code = unsafe {
            scan(session, start, bytes, limit, is_reverse, take_row::<Rows>, rows, failure)
        };
        self.failure.outcome(code)
    }
}

impl Session for ShimSession<'_> {
    fn execute(&mut self, op: &Op<'_>, rows: &mut Rows) -> Result<Outcome> {
        match *op {
            Op::Get { key } => self.get(key, rows),
            Op::Put { key, value } => self.put(key, value),
            Op::Delete { key } => self.delete(key),
            Op::Scan { start, limit, direction } => self.scan(start, limit, direction, rows),
            // The interface has no multi-get.
            Op::MultiGet { keys } => {
                keys.iter().try_for_each(|key| self.get(key, rows).map(drop))?;
                Ok(rows.outcome())
            }
            Op::FieldRead { key, offset, length } => self.field(key, Part { offset, length }, rows),
            Op::PartialUpdate { key, offset, bytes } => {
                self.change(op, Change { key, bytes, offset: Some(offset) }, rows)
            }
            Op::Append { key, bytes } => self.change(op, Change { key, bytes, offset: None }, rows),
            Op::Call(_) | Op::ScanSequence { .. } => parts::execute(SHIM, self, op, rows),
        }
    }
}

impl Drop for ShimSession<'_> {
    fn drop(&mut self) {
        // SAFETY: the session lives, and this is its last use.
        unsafe { (self.handle.api.functions.session_end)(self.session) };
    }
}

/// Passes one row to the [`TakesRows`] behind `to`.
unsafe extern "C" fn take_row<T: TakesRows>(
    to: *mut c_void,
    key: *const c_void,
    key_bytes: usize,
    value: *const c_void,
    value_bytes: usize,
) {
    // SAFETY: the caller passes `to` with this function: a live `T` that nothing else borrows.
    let to: &mut T = unsafe { &mut *to.cast() };
    // SAFETY: the shim passes a key that stays until this returns.
    let key = unsafe { bytes_of(key, key_bytes) };
    // SAFETY: the shim passes a value that stays until this returns.
    to.take(key, unsafe { bytes_of(value, value_bytes) });
}

/// Returns the bytes at `start`, which may be null when there are none.
///
/// # Safety
/// `bytes` bytes at `start` stay until the caller is done with them.
#[inline]
unsafe fn bytes_of<'a>(start: *const c_void, bytes: usize) -> &'a [u8] {
    if bytes == 0 {
        return &[];
    }
    // SAFETY: as this function requires of its caller.
    unsafe { slice::from_raw_parts(start.cast(), bytes) }
}
