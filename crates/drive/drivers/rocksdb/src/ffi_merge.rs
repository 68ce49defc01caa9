//! The merge operator that changes parts of values.
#![expect(unsafe_code, reason = "foreign functions are called, and call back, here")]

use std::ffi::{c_char, c_int, c_uchar, c_void};
use std::{ptr, slice};

use dynlib::level::{Text, bytes_of};

use crate::ffi_db::RawOptions;
use crate::merge::{apply, combine};

impl RawOptions {
    /// Installs the operator; a database written with it opens only with it.
    pub(crate) fn set_merge_operator(&mut self) {
        let create = self.api.mergeoperator_create;
        // SAFETY: the callbacks are of the types that the library calls; there is no state.
        let operator =
            unsafe { create(ptr::null_mut(), destroy, full_merge, partial_merge, free, name) };
        // SAFETY: both handles live, and the options take over the operator.
        unsafe { (self.api.options_set_merge_operator)(self.handle(), operator) };
    }
}

extern "C" fn destroy(_state: *mut c_void) {}

extern "C" fn name(_state: *mut c_void) -> Text {
    c"assay.parts_of_values".as_ptr()
}

/// Frees what [`hand_over`] returned.
extern "C" fn free(_state: *mut c_void, value: *const c_char, bytes: usize) {
    let value = ptr::slice_from_raw_parts_mut(value.cast::<u8>().cast_mut(), bytes);
    // SAFETY: pointer and length are those of the box that was handed over.
    drop(unsafe { Box::from_raw(value) });
}

/// Returns the operands that the library passes, oldest first.
///
/// Both arrays have `count` entries, and the operands live through the callback.
fn operands<'o>(
    starts: *const Text,
    lengths: *const usize,
    count: c_int,
) -> impl Iterator<Item = &'o [u8]> {
    let count = usize::try_from(count).unwrap_or(0);
    // SAFETY: the library passes arrays of `count` entries.
    let starts = unsafe { slice::from_raw_parts(starts, count) };
    // SAFETY: as above.
    let lengths = unsafe { slice::from_raw_parts(lengths, count) };
    // SAFETY: each is an operand of that length.
    starts.iter().zip(lengths).map(|(start, bytes)| unsafe { bytes_of(*start, *bytes) })
}

/// Hands a value over to the library, which gives it back to [`free`]; an empty one on failure.
fn hand_over(value: Option<Vec<u8>>, is_done: &mut c_uchar, length: &mut usize) -> *mut c_char {
    *is_done = c_uchar::from(value.is_some());
    let value = value.unwrap_or_default().into_boxed_slice();
    *length = value.len();
    Box::into_raw(value).cast()
}

extern "C" fn full_merge(
    _state: *mut c_void,
    _key: Text,
    _key_bytes: usize,
    base: Text,
    base_bytes: usize,
    starts: *const Text,
    lengths: *const usize,
    count: c_int,
    is_done: &mut c_uchar,
    length: &mut usize,
) -> *mut c_char {
    // SAFETY: the library passes the value, or null when there is none.
    let base = (!base.is_null()).then(|| unsafe { bytes_of(base, base_bytes) });
    let value = apply(base, operands(starts, lengths, count));
    hand_over(value, is_done, length)
}

extern "C" fn partial_merge(
    _state: *mut c_void,
    _key: Text,
    _key_bytes: usize,
    starts: *const Text,
    lengths: *const usize,
    count: c_int,
    is_done: &mut c_uchar,
    length: &mut usize,
) -> *mut c_char {
    let operand = combine(operands(starts, lengths, count));
    hand_over(operand, is_done, length)
}
