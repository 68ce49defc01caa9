//! Checksums and codecs that shared libraries export.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use dynlib::{Library, RTLD_LOCAL, RTLD_NOW};

dynlib::functions! {
    /// Checksums and codecs; every one may be absent.
    pub(super) struct Exports {
        required {}
        optional {
            _ZN7rocksdb6crc32c6ExtendEjPKcm: fn(u32, *const c_char, usize) -> u32;
            ROCKSDB_XXH3_64bits: fn(*const c_void, usize) -> u64;
            LZ4_compress_default: fn(*const c_char, *mut c_char, c_int, c_int) -> c_int;
            LZ4_decompress_safe: fn(*const c_char, *mut c_char, c_int, c_int) -> c_int;
            ZSTD_createCCtx: fn() -> *mut c_void;
            ZSTD_freeCCtx: fn(*mut c_void) -> usize;
            ZSTD_createDCtx: fn() -> *mut c_void;
            ZSTD_freeDCtx: fn(*mut c_void) -> usize;
            ZSTD_isError: fn(usize) -> c_uint;
            ZSTD_versionString: fn() -> *const c_char;
            ZSTD_compressCCtx: fn(
                *mut c_void, *mut c_void, usize, *const c_void, usize, c_int
            ) -> usize;
            ZSTD_decompressDCtx: fn(
                *mut c_void, *mut c_void, usize, *const c_void, usize
            ) -> usize;
        }
    }
}

/// Level of Zstandard: RocksDB's default.
const ZSTD_LEVEL: c_int = 3;

/// Returns the functions of a library.
pub(super) fn exports_of(library: &Library) -> Exports {
    Exports::bind(library, "").expect("no function is required")
}

/// Loads the distribution's Zstandard, which stays loaded.
///
/// # Errors
/// When it is not installed, with the remedy.
pub(super) fn system_zstd() -> Result<Exports, String> {
    const NAME: &str = "libzstd.so.1";
    // SAFETY: the library has no initialisers that depend on this process.
    let opened = unsafe { Library::open(Some(NAME), RTLD_NOW | RTLD_LOCAL) };
    let library = opened.map_err(|error| format!("{NAME}: {error}: apt-get install libzstd1"))?;
    Ok(exports_of(Box::leak(Box::new(library))))
}

/// Zstandard's contexts, reused from block to block as in RocksDB.
pub(super) struct Contexts {
    made: Option<(*mut c_void, *mut c_void)>,
    free: Option<[unsafe extern "C" fn(*mut c_void) -> usize; 2]>,
}

impl Contexts {
    /// Returns whether there are contexts, and so Zstandard.
    pub(super) const fn are_there(&self) -> bool {
        self.made.is_some()
    }
}

impl Drop for Contexts {
    fn drop(&mut self) {
        let (Some((compress, uncompress)), Some([free_c, free_d])) = (self.made, self.free) else {
            return;
        };
        // SAFETY: the context was made by the same library and is used no more.
        unsafe { free_c(compress) };
        // SAFETY: as above.
        unsafe { free_d(uncompress) };
    }
}

impl Exports {
    pub(super) const fn has_crc32c(&self) -> bool {
        self._ZN7rocksdb6crc32c6ExtendEjPKcm.is_some()
    }

    pub(super) const fn has_xxh3(&self) -> bool {
        self.ROCKSDB_XXH3_64bits.is_some()
    }

    pub(super) const fn has_lz4(&self) -> bool {
        self.LZ4_compress_default.is_some() && self.LZ4_decompress_safe.is_some()
    }

    /// Makes contexts where every function of Zstandard that is needed is there.
    pub(super) fn contexts(&self) -> Contexts {
        let all = (
            self.ZSTD_createCCtx,
            self.ZSTD_createDCtx,
            self.ZSTD_freeCCtx,
            self.ZSTD_freeDCtx,
            self.ZSTD_isError,
            self.ZSTD_compressCCtx,
            self.ZSTD_decompressDCtx,
        );
        let (Some(make_c), Some(make_d), Some(free_c), Some(free_d), Some(_), Some(_), Some(_)) =
            all
        else {
            return Contexts { made: None, free: None };
        };
        // SAFETY: the function takes nothing and returns a context or null.
        let compress = unsafe { make_c() };
        // SAFETY: as above.
        let uncompress = unsafe { make_d() };
        let is_made = !compress.is_null() && !uncompress.is_null();
        Contexts { made: is_made.then_some((compress, uncompress)), free: Some([free_c, free_d]) }
    }

    /// Returns the CRC-32C of a block; 0 where the library has no such function.
    #[inline]
    pub(super) fn crc32c(&self, block: &[u8]) -> u32 {
        let Some(extend) = self._ZN7rocksdb6crc32c6ExtendEjPKcm else { return 0 };
        // SAFETY: it reads `len` bytes from the pointer and keeps nothing.
        unsafe { extend(0, block.as_ptr().cast(), block.len()) }
    }

    /// Returns the XXH3 of a block; 0 where the library has no such function.
    #[inline]
    pub(super) fn xxh3(&self, block: &[u8]) -> u64 {
        let Some(hash) = self.ROCKSDB_XXH3_64bits else { return 0 };
        // SAFETY: it reads `len` bytes from the pointer and keeps nothing.
        unsafe { hash(block.as_ptr().cast(), block.len()) }
    }

    /// Compresses by LZ4; returns the bytes written, 0 on failure.
    #[inline]
    pub(super) fn lz4_compress(&self, input: &[u8], output: &mut [u8]) -> usize {
        lz4(self.LZ4_compress_default, input, output)
    }

    /// Decompresses what LZ4 made; returns the bytes written, 0 on failure.
    #[inline]
    pub(super) fn lz4_uncompress(&self, input: &[u8], output: &mut [u8]) -> usize {
        lz4(self.LZ4_decompress_safe, input, output)
    }

    /// Compresses by Zstandard; returns the bytes written, 0 on failure.
    #[inline]
    pub(super) fn zstd_compress(
        &self,
        contexts: &mut Contexts,
        input: &[u8],
        output: &mut [u8],
    ) -> usize {
        let (Some((context, _)), Some(compress)) = (contexts.made, self.ZSTD_compressCCtx) else {
            return 0;
        };
        // SAFETY: the context is alive and used by this thread alone; it reads the input and writes
        // at most the length of the output.
        let bytes = unsafe {
            compress(
                context,
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
                ZSTD_LEVEL,
            )
        };
        self.without_error(bytes)
    }

    /// Decompresses what Zstandard made; returns the bytes written, 0 on failure.
    #[inline]
    pub(super) fn zstd_uncompress(
        &self,
        contexts: &mut Contexts,
        input: &[u8],
        output: &mut [u8],
    ) -> usize {
        let (Some((_, context)), Some(uncompress)) = (contexts.made, self.ZSTD_decompressDCtx)
        else {
            return 0;
        };
        // SAFETY: as in `zstd_compress`.
        let bytes = unsafe {
            uncompress(
                context,
                output.as_mut_ptr().cast(),
                output.len(),
                input.as_ptr().cast(),
                input.len(),
            )
        };
        self.without_error(bytes)
    }

    /// Returns the version of Zstandard, where the library reports it.
    pub(super) fn zstd_version(&self) -> Option<String> {
        // SAFETY: it returns a constant of the library, which stays loaded.
        let text = self.ZSTD_versionString.map(|version| unsafe { version() })?;
        // SAFETY: the constant ends with NUL.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    fn without_error(&self, bytes: usize) -> usize {
        let Some(is_error) = self.ZSTD_isError else { return 0 };
        // SAFETY: it reads the number alone.
        if unsafe { is_error(bytes) } == 0 { bytes } else { 0 }
    }
}

/// One of LZ4's functions.
type Lz4 = unsafe extern "C" fn(*const c_char, *mut c_char, c_int, c_int) -> c_int;

/// Calls it; returns the bytes written, 0 on failure.
#[inline]
fn lz4(function: Option<Lz4>, input: &[u8], output: &mut [u8]) -> usize {
    let Some(function) = function else { return 0 };
    let (Ok(from), Ok(to)) = (c_int::try_from(input.len()), c_int::try_from(output.len())) else {
        return 0;
    };
    // SAFETY: it reads `from` bytes of the input and writes at most `to` bytes of the output.
    let bytes = unsafe { function(input.as_ptr().cast(), output.as_mut_ptr().cast(), from, to) };
    usize::try_from(bytes).unwrap_or(0)
}
