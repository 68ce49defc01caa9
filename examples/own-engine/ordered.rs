//! An engine behind Assay's C interface, in Rust: an ordered map in memory, with a log.
//!
//! ```text
//! rustc --edition 2024 -O --crate-type cdylib -o libordered.so examples/own-engine/ordered.rs
//! ```
//!
//! The engine offers two durability classes. With `os` each write goes to the log by `write()`
//! before the write is acknowledged. With `none` the log is buffered until a flush or the close.

use std::collections::BTreeMap;
use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, RwLock};

/// Result codes of `assay_engine.h`.
const DONE: c_int = 0;
const NOT_FOUND: c_int = 1;
const BAD_OPTION: c_int = 5;
const FATAL: c_int = 6;
/// A kind of work of `assay_maintain`.
const FLUSH: c_int = 0;
/// Length of a value in the log that marks a delete.
const DELETED: u32 = u32::MAX;
/// Bytes of the two lengths before each record of the log.
const LENGTHS: usize = 8;

/// The type `assay_error` of the interface.
#[repr(C)]
pub struct Failure {
    text: [c_char; 1024],
    option: [c_char; 128],
}

/// The type `assay_option` of the interface.
#[repr(C)]
pub struct Pair {
    name: *const c_char,
    value: *const c_char,
}

/// The type `assay_open_spec` of the interface.
#[repr(C)]
pub struct Spec {
    dir: *const c_char,
    options: *const Pair,
    option_count: usize,
}

type TakeRow = unsafe extern "C" fn(*mut c_void, *const c_void, usize, *const c_void, usize);
type TakeText = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);
type TakeNumber = unsafe extern "C" fn(*mut c_void, *const c_char, c_double);

/// The open engine. A session has no separate state, so each session is the engine.
struct Ordered {
    rows: RwLock<BTreeMap<Vec<u8>, Vec<u8>>>,
    log: Mutex<BufWriter<File>>,
    class: String,
}

impl Ordered {
    /// Replays the log in `dir` up to its last whole record, and appends after this record.
    fn open(dir: &Path, class: String) -> io::Result<Self> {
        let path = dir.join("log");
        let bytes = fs::read(&path).unwrap_or_default();
        let (mut rows, mut at) = (BTreeMap::new(), 0);
        while let Some((key, value, next)) = record(&bytes, at) {
            match value {
                Some(value) => drop(rows.insert(key.to_vec(), value.to_vec())),
                None => drop(rows.remove(key)),
            }
            at = next;
        }
        let mut file = File::options().create(true).write(true).truncate(false).open(path)?;
        file.set_len(at as u64)?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
        Ok(Self { rows: RwLock::new(rows), log: Mutex::new(BufWriter::new(file)), class })
    }

    /// Writes the log first, then the map. The map's lock gives both the same order of writes.
    fn write(&self, key: &[u8], value: Option<&[u8]>) -> io::Result<()> {
        let mut rows = self.rows.write().unwrap();
        let mut log = self.log.lock().unwrap();
        let value_bytes = value.map_or(DELETED, |value| value.len() as u32);
        log.write_all(&(key.len() as u32).to_le_bytes())?;
        log.write_all(&value_bytes.to_le_bytes())?;
        log.write_all(key)?;
        log.write_all(value.unwrap_or_default())?;
        if self.class == "os" {
            log.flush()?;
        }
        match value {
            Some(value) => drop(rows.insert(key.to_vec(), value.to_vec())),
            None => drop(rows.remove(key)),
        }
        Ok(())
    }
}

/// Returns the record at `at` of the log: key, value unless deleted, and start of the next record.
fn record(log: &[u8], at: usize) -> Option<(&[u8], Option<&[u8]>, usize)> {
    let number = |at: usize| Some(u32::from_le_bytes(*log.get(at..)?.first_chunk()?));
    let (key, value) = (number(at)?, number(at + 4)?);
    let value_at = at + LENGTHS + key as usize;
    let next = value_at + if value == DELETED { 0 } else { value as usize };
    let bytes = log.get(value_at..next)?;
    Some((&log[at + LENGTHS..value_at], (value != DELETED).then_some(bytes), next))
}

/// Fills the error of a call, and returns its result.
unsafe fn fail(error: *mut Failure, result: c_int, text: &str, option: &str) -> c_int {
    let error = unsafe { &mut *error };
    for (text, to) in [(text, &mut error.text[..]), (option, &mut error.option[..])] {
        let bytes = text.bytes().take(to.len() - 1).chain([0]);
        to.iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte as c_char);
    }
    result
}

/// Returns the result code of an outcome, and fills the error if the outcome is an error.
unsafe fn result(outcome: io::Result<()>, error: *mut Failure) -> c_int {
    match outcome {
        Ok(()) => DONE,
        Err(reason) => unsafe { fail(error, FATAL, &format!("ordered: {reason}"), "") },
    }
}

/// Returns the `count` bytes at `start`, which may be null if `count` is 0.
unsafe fn bytes<'a>(start: *const c_void, count: usize) -> &'a [u8] {
    if count == 0 { &[] } else { unsafe { std::slice::from_raw_parts(start.cast(), count) } }
}

unsafe fn text<'a>(text: *const c_char) -> &'a str {
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or_default()
}

unsafe fn engine<'a>(engine: *mut c_void) -> &'a Ordered {
    unsafe { &*engine.cast() }
}

#[unsafe(no_mangle)]
pub extern "C" fn assay_abi() -> u32 {
    1
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_identity(report: TakeText, to: *mut c_void) {
    for (name, value) in [(c"version", c"0.1"), (c"durability", c"none os")] {
        unsafe { report(to, name.as_ptr(), value.as_ptr()) };
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_open(
    spec: *const Spec,
    opened: *mut *mut c_void,
    error: *mut Failure,
) -> c_int {
    let spec = unsafe { &*spec };
    let mut class = String::new();
    for index in 0..spec.option_count {
        let option = unsafe { &*spec.options.add(index) };
        match unsafe { text(option.name) } {
            "assay.durability" => class = unsafe { text(option.value) }.to_owned(),
            name => return unsafe { fail(error, BAD_OPTION, "ordered: it has no options", name) },
        }
    }
    match Ordered::open(Path::new(unsafe { text(spec.dir) }), class) {
        Ok(ordered) => {
            unsafe { *opened = Box::into_raw(Box::new(ordered)).cast() };
            DONE
        }
        Err(reason) => unsafe { result(Err(reason), error) },
    }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_options(ordered: *mut c_void, report: TakeText, to: *mut c_void) {
    let class = CString::new(unsafe { engine(ordered) }.class.as_str()).unwrap_or_default();
    unsafe { report(to, c"assay.durability".as_ptr(), class.as_ptr()) };
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_session_begin(
    ordered: *mut c_void,
    session: *mut *mut c_void,
    _error: *mut Failure,
) -> c_int {
    unsafe { *session = ordered };
    DONE
}

#[unsafe(no_mangle)]
pub extern "C" fn assay_session_end(_session: *mut c_void) {}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_get(
    session: *mut c_void,
    key: *const c_void,
    key_bytes: usize,
    row: TakeRow,
    rows: *mut c_void,
    _error: *mut Failure,
) -> c_int {
    let map = unsafe { engine(session) }.rows.read().unwrap();
    let Some(value) = map.get(unsafe { bytes(key, key_bytes) }) else { return NOT_FOUND };
    unsafe { row(rows, key, key_bytes, value.as_ptr().cast(), value.len()) };
    DONE
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_put(
    session: *mut c_void,
    key: *const c_void,
    key_bytes: usize,
    value: *const c_void,
    value_bytes: usize,
    error: *mut Failure,
) -> c_int {
    let (key, value) = unsafe { (bytes(key, key_bytes), bytes(value, value_bytes)) };
    unsafe { result(engine(session).write(key, Some(value)), error) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_delete(
    session: *mut c_void,
    key: *const c_void,
    key_bytes: usize,
    error: *mut Failure,
) -> c_int {
    unsafe { result(engine(session).write(bytes(key, key_bytes), None), error) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_scan(
    session: *mut c_void,
    start: *const c_void,
    start_bytes: usize,
    limit: u32,
    is_reverse: c_int,
    row: TakeRow,
    rows: *mut c_void,
    _error: *mut Failure,
) -> c_int {
    let map = unsafe { engine(session) }.rows.read().unwrap();
    let start = unsafe { bytes(start, start_bytes) };
    let mut found = NOT_FOUND;
    let mut give = |(key, value): (&Vec<u8>, &Vec<u8>)| {
        let (key_at, value_at) = (key.as_ptr().cast(), value.as_ptr().cast());
        unsafe { row(rows, key_at, key.len(), value_at, value.len()) };
        found = DONE;
    };
    if is_reverse == 0 {
        let up = map.range::<[u8], _>((Bound::Included(start), Bound::Unbounded));
        up.take(limit as usize).for_each(&mut give);
    } else {
        let down = map.range::<[u8], _>((Bound::Unbounded, Bound::Included(start)));
        down.rev().take(limit as usize).for_each(&mut give);
    }
    found
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_maintain(
    ordered: *mut c_void,
    work: c_int,
    is_done: *mut c_int,
    error: *mut Failure,
) -> c_int {
    unsafe { *is_done = c_int::from(work == FLUSH) };
    if work != FLUSH {
        return DONE;
    }
    let mut log = unsafe { engine(ordered) }.log.lock().unwrap();
    let flushed = log.flush().and_then(|()| log.get_ref().sync_all());
    unsafe { result(flushed, error) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_state(ordered: *mut c_void, count: TakeNumber, to: *mut c_void) {
    let rows = unsafe { engine(ordered) }.rows.read().unwrap().len();
    unsafe { count(to, c"rows".as_ptr(), rows as c_double) };
    unsafe { count(to, c"is_idle".as_ptr(), 1.0) };
}

#[unsafe(no_mangle)]
pub extern "C" fn assay_statistics(_: *mut c_void, _: TakeText, _: *mut c_void) {}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn assay_close(ordered: *mut c_void, error: *mut Failure) -> c_int {
    let ordered: Box<Ordered> = unsafe { Box::from_raw(ordered.cast()) };
    unsafe { result(ordered.log.lock().unwrap().flush(), error) }
}
