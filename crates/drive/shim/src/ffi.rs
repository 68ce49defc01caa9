//! Safe bindings of the functions in `assay_engine.h`.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use dynlib::level::c_text;
use dynlib::{Loaded, load_once};
use engine::settings_check::refused;
use engine::{EngineError, Maintenance, Result};
use model::{Options, Outcome};

use crate::function_names;

/// The version of the interface, `ASSAY_ABI` of the header.
const ABI: u32 = 1;
/// Bytes of an error text in the header.
const TEXT_BYTES: usize = 1024;
/// Bytes of a refused option's name in the header.
const OPTION_BYTES: usize = 128;

/// `assay_error`: the error of a call.
#[repr(C)]
pub(crate) struct Failure {
    text: [c_char; TEXT_BYTES],
    option: [c_char; OPTION_BYTES],
}

/// `assay_option`.
#[repr(C)]
struct OptionPair {
    name: *const c_char,
    value: *const c_char,
}

/// `assay_open_spec`.
#[repr(C)]
struct Spec {
    dir: *const c_char,
    options: *const OptionPair,
    option_count: usize,
}

/// `assay_row`.
pub(crate) type TakeRow =
    unsafe extern "C" fn(*mut c_void, *const c_void, usize, *const c_void, usize);
type TakeText = unsafe extern "C" fn(*mut c_void, *const c_char, *const c_char);
/// Reports an engine's texts.
type Report = unsafe extern "C" fn(*mut c_void, TakeText, *mut c_void);
type TakeNumber = unsafe extern "C" fn(*mut c_void, *const c_char, f64);

dynlib::functions! {
    /// The function that identifies a shim and its version.
    struct Version {
        required { abi: fn() -> u32; }
    }
}

dynlib::functions! {
    /// The functions of one shim.
    pub(crate) struct Functions {
        required {
            identity: fn(TakeText, *mut c_void);
            open: fn(*const Spec, *mut *mut c_void, *mut Failure) -> c_int;
            options: fn(*mut c_void, TakeText, *mut c_void);
            session_begin: fn(*mut c_void, *mut *mut c_void, *mut Failure) -> c_int;
            session_end: fn(*mut c_void);
            get: fn(*mut c_void, *const c_void, usize, TakeRow, *mut c_void, *mut Failure) -> c_int;
            put: fn(
                *mut c_void, *const c_void, usize, *const c_void, usize, *mut Failure
            ) -> c_int;
            delete: fn(*mut c_void, *const c_void, usize, *mut Failure) -> c_int;
            scan: fn(
                *mut c_void, *const c_void, usize, u32, c_int, TakeRow, *mut c_void, *mut Failure
            ) -> c_int;
            maintain: fn(*mut c_void, c_int, *mut c_int, *mut Failure) -> c_int;
            state: fn(*mut c_void, TakeNumber, *mut c_void);
            statistics: fn(*mut c_void, TakeText, *mut c_void);
            close: fn(*mut c_void, *mut Failure) -> c_int;
        }
        optional {
            modify: fn(
                *mut c_void, *const c_void, usize, u32, c_int, *const c_void, usize, *mut Failure
            ) -> c_int;
        }
    }
}

/// One shim and its functions.
pub(crate) struct Api {
    pub(crate) functions: Functions,
    pub(crate) loaded: &'static Loaded,
    /// Whether an engine is open; a shim need not support two.
    is_open: AtomicBool,
}

impl Api {
    /// Loads the shim at `path`, or returns it when this process already holds it.
    pub(crate) fn load(path: &Path) -> Result<&'static Self> {
        static API: OnceLock<Api> = OnceLock::new();
        let loaded = load_once(path)?;
        if let Some(api) = API.get() {
            return Ok(api);
        }
        let shown = path.display();
        let lacks = |_first: String| {
            let missing = function_names().filter(|name| !loaded.has(name));
            let missing: Vec<_> = missing.map(|name| format!("`{name}`")).collect();
            EngineError::build(format!(
                "`{shown}` does not export Assay's C interface (assay_engine.h): it lacks {}",
                missing.join(", ")
            ))
        };
        let version = Version::bind(&loaded.library, "assay_").map_err(lacks)?;
        // SAFETY: the function takes nothing and returns a number, in every version.
        let abi = unsafe { (version.abi)() };
        if abi != ABI {
            return Err(EngineError::build(format!(
                "`{shown}` has version {abi} of Assay's C interface, and this program has version \
                 {ABI}: recompile it against this program's assay_engine.h, and add it again with \
                 `assay engine add`"
            )));
        }
        let functions = Functions::bind(&loaded.library, "assay_").map_err(lacks)?;
        Ok(API.get_or_init(|| Self { functions, loaded, is_open: AtomicBool::new(false) }))
    }

    /// Returns the version and facts that the build reports.
    pub(crate) fn identity(&self) -> Texts {
        let mut texts = Texts::new();
        // SAFETY: `take_text` gets the list that it expects.
        unsafe { (self.functions.identity)(take_text, (&raw mut texts).cast()) };
        texts
    }

    /// Opens the data in `dir`.
    pub(crate) fn open(&'static self, dir: &Path, options: &Options) -> Result<Handle> {
        if self.is_open.swap(true, Ordering::AcqRel) {
            let text = "a second open engine behind one shim: close the first";
            return Err(EngineError::Unsupported(text.to_owned()));
        }
        let opened = self.open_unguarded(dir, options);
        if opened.is_err() {
            self.is_open.store(false, Ordering::Release);
        }
        opened.map(|engine| Handle { api: self, engine: AtomicPtr::new(engine) })
    }

    fn open_unguarded(&self, dir: &Path, options: &Options) -> Result<*mut c_void> {
        let dir = c_text(dir.as_os_str().as_bytes())?;
        let mut texts = Vec::new();
        for (name, value) in options.iter() {
            let text = |part: &str| CString::new(part).map_err(|e| refused(name, e.to_string()));
            texts.push((text(name)?, text(value)?));
        }
        let pairs: Vec<OptionPair> = texts
            .iter()
            .map(|(name, value)| OptionPair { name: name.as_ptr(), value: value.as_ptr() })
            .collect();
        let spec = Spec { dir: dir.as_ptr(), options: pairs.as_ptr(), option_count: pairs.len() };
        let (mut engine, mut failure) = (ptr::null_mut(), Failure::none());
        // SAFETY: every pointer lives until the call returns.
        let code =
            unsafe { (self.functions.open)(&raw const spec, &raw mut engine, &mut *failure) };
        failure.done(code)?;
        Ok(engine)
    }
}

/// An open engine behind the shim; closed on drop.
pub(crate) struct Handle {
    pub(crate) api: &'static Api,
    /// Threads share it: the header requires every function that takes an engine to be callable
    /// from any thread, also while others run.
    engine: AtomicPtr<c_void>,
}

impl Handle {
    /// Returns the engine, to pass it to the shim.
    pub(crate) fn engine(&self) -> *mut c_void {
        self.engine.load(Ordering::Relaxed)
    }

    /// Returns the configuration in force.
    pub(crate) fn options(&self) -> Texts {
        self.texts(self.api.functions.options)
    }

    /// Returns the engine's statistics as titles and texts.
    pub(crate) fn statistics(&self) -> Texts {
        self.texts(self.api.functions.statistics)
    }

    fn texts(&self, report: Report) -> Texts {
        let mut texts = Texts::new();
        // SAFETY: the engine is open, and `take_text` gets the list that it expects.
        unsafe { report(self.engine(), take_text, (&raw mut texts).cast()) };
        texts
    }

    /// Returns the engine's counters by name.
    pub(crate) fn state(&self) -> Numbers {
        let mut numbers = Numbers::new();
        // SAFETY: the engine is open, and `take_number` gets the list that it expects.
        unsafe {
            (self.api.functions.state)(self.engine(), take_number, (&raw mut numbers).cast())
        };
        numbers
    }

    /// Starts `work`; returns `false` when the engine has no such work.
    pub(crate) fn maintain(&self, work: Maintenance) -> Result<bool> {
        let work = match work {
            Maintenance::Flush => 0,
            Maintenance::CompactLevel0 => 1,
            Maintenance::CompactAll => 2,
            Maintenance::Clean => return Ok(false),
        };
        let (mut is_done, mut failure) = (0, Failure::none());
        let maintain = self.api.functions.maintain;
        // SAFETY: the engine is open, and both results are locals.
        let code = unsafe { maintain(self.engine(), work, &raw mut is_done, &mut *failure) };
        failure.done(code)?;
        Ok(is_done != 0)
    }

    /// Closes the engine, once.
    pub(crate) fn close(&mut self) -> Result<()> {
        let engine = std::mem::replace(self.engine.get_mut(), ptr::null_mut());
        if engine.is_null() {
            return Ok(());
        }
        let mut failure = Failure::none();
        // SAFETY: the engine is open, its sessions borrow this handle, and this is its last use.
        let code = unsafe { (self.api.functions.close)(engine, &mut *failure) };
        self.api.is_open.store(false, Ordering::Release);
        failure.done(code)
    }
}

impl Drop for Handle {
    /// An engine is dropped unclosed only after another error was reported.
    fn drop(&mut self) {
        drop(self.close());
    }
}

impl Failure {
    /// Returns an empty buffer.
    pub(crate) fn none() -> Box<Self> {
        Box::new(Self { text: [0; TEXT_BYTES], option: [0; OPTION_BYTES] })
    }

    /// Converts an operation's result code, and takes the error.
    #[inline]
    pub(crate) fn outcome(&mut self, code: c_int) -> Result<Outcome> {
        match code {
            0 => Ok(Outcome::Done),
            1 => Ok(Outcome::NotFound),
            _ => Err(self.take(code)),
        }
    }

    /// Converts the result code of a call other than a read.
    pub(crate) fn done(&mut self, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.take(code)) }
    }

    #[cold]
    fn take(&mut self, code: c_int) -> EngineError {
        let (text, option) = (text_of(&self.text), text_of(&self.option));
        *self = *Self::none();
        let text = if text.is_empty() { format!("failed with result {code}") } else { text };
        match code {
            2 => EngineError::Conflict(text),
            3 => EngineError::Timeout(text),
            4 if option.is_empty() => EngineError::Unsupported(text),
            4 => EngineError::capability(&option, text),
            5 => refused(&option, text),
            _ => EngineError::Fatal(text),
        }
    }
}

/// Returns the text up to the first zero byte, or all of it.
fn text_of(text: &[c_char]) -> String {
    let bytes: Vec<u8> =
        text.iter().flat_map(|c| c.to_ne_bytes()).take_while(|c| *c != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(crate) type Texts = Vec<(String, String)>;
pub(crate) type Numbers = Vec<(String, f64)>;

/// Adds one named text to the [`Texts`] behind `to`.
unsafe extern "C" fn take_text(to: *mut c_void, name: *const c_char, text: *const c_char) {
    // SAFETY: the caller passes `to` with this function: a live list that nothing else borrows.
    let texts: &mut Texts = unsafe { &mut *to.cast() };
    texts.push((owned(name), owned(text)));
}

/// Adds one named number to the [`Numbers`] behind `to`.
unsafe extern "C" fn take_number(to: *mut c_void, name: *const c_char, value: f64) {
    // SAFETY: the caller passes `to` with this function: a live list that nothing else borrows.
    let numbers: &mut Numbers = unsafe { &mut *to.cast() };
    numbers.push((owned(name), value));
}

fn owned(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the header requires zero-terminated texts.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
