//! Checksums and codecs that shared libraries export.
#![expect(unsafe_code, reason = "foreign functions are bound and called here")]

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use dynlib::{Library, RTLD_LOCAL, RTLD_NOW};

dynlib::functions! {
    /// RocksDB's own checksum and hash, outside its C interface.
    pub(super) struct Checksums {
        required {}
        optional {
            _ZN7rocksdb6crc32c6ExtendEjPKcm: fn(u32, *const c_char, usize) -> u32;
            ROCKSDB_XXH3_64bits: fn(*const c_void, usize) -> u64;
        }
    }
}

impl Checksums {
    /// Returns the CRC-32C of a block; `None` where the library has no such function.
    #[inline]
    pub(super) fn crc32c(&self, block: &[u8]) -> Option<u32> {
        let extend = self._ZN7rocksdb6crc32c6ExtendEjPKcm?;
        // SAFETY: it reads `len` bytes from the pointer and keeps nothing.
        Some(unsafe { extend(0, block.as_ptr().cast(), block.len()) })
    }

    /// Returns the XXH3 of a block; `None` where the library has no such function.
    #[inline]
    pub(super) fn xxh3(&self, block: &[u8]) -> Option<u64> {
        let hash = self.ROCKSDB_XXH3_64bits?;
        // SAFETY: it reads `len` bytes from the pointer and keeps nothing.
        Some(unsafe { hash(block.as_ptr().cast(), block.len()) })
    }
}

dynlib::functions! {
    /// LZ4's functions.
    pub(super) struct Lz4 {
        required {
            LZ4_compress_default: fn(*const c_char, *mut c_char, c_int, c_int) -> c_int;
            LZ4_decompress_safe: fn(*const c_char, *mut c_char, c_int, c_int) -> c_int;
        }
    }
}

impl Lz4 {
    /// Compresses a block, or decompresses one; returns the bytes written, 0 on failure.
    #[inline]
    pub(super) fn run(&self, compresses: bool, input: &[u8], output: &mut [u8]) -> usize {
        let function =
            if compresses { self.LZ4_compress_default } else { self.LZ4_decompress_safe };
        let (Ok(from), Ok(to)) = (c_int::try_from(input.len()), c_int::try_from(output.len()))
        else {
            return 0;
        };
        let (input, output) = (input.as_ptr().cast(), output.as_mut_ptr().cast());
        // SAFETY: it reads `from` bytes of the input and writes at most `to` bytes of the output.
        usize::try_from(unsafe { function(input, output, from, to) }).unwrap_or(0)
    }
}

dynlib::functions! {
    /// Zstandard's functions.
    struct ZstdFunctions {
        required {
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

/// Zstandard with its contexts, reused from block to block as in RocksDB.
pub(super) struct Zstd {
    functions: ZstdFunctions,
    compression: *mut c_void,
    decompression: *mut c_void,
}

impl Zstd {
    /// Binds the functions of a library; the error names one that is absent.
    pub(super) fn bind(library: &Library) -> Result<Self, String> {
        let functions = ZstdFunctions::bind(library, "")?;
        // SAFETY: the function takes nothing and returns a context or null.
        let compression = unsafe { (functions.ZSTD_createCCtx)() };
        // SAFETY: as above.
        let decompression = unsafe { (functions.ZSTD_createDCtx)() };
        if compression.is_null() || decompression.is_null() {
            return Err("there is no memory for the contexts of Zstandard".to_owned());
        }
        Ok(Self { functions, compression, decompression })
    }

    /// Binds the distribution's library, which stays loaded.
    ///
    /// # Errors
    /// When it is not installed, with the remedy.
    pub(super) fn of_system() -> Result<Self, String> {
        const NAME: &str = "libzstd.so.1";
        // SAFETY: the library has no initialisers that depend on this process.
        let opened = unsafe { Library::open(Some(NAME), RTLD_NOW | RTLD_LOCAL) };
        let library =
            opened.map_err(|error| format!("{NAME}: {error}: apt-get install libzstd1"))?;
        Self::bind(Box::leak(Box::new(library)))
    }

    /// Compresses a block, or decompresses one; returns the bytes written, 0 on failure.
    #[inline]
    pub(super) fn run(&mut self, compresses: bool, input: &[u8], output: &mut [u8]) -> usize {
        let ZstdFunctions { ZSTD_compressCCtx, ZSTD_decompressDCtx, ZSTD_isError, .. } =
            self.functions;
        let (from, bytes) = (input.as_ptr().cast(), input.len());
        let (to, room) = (output.as_mut_ptr().cast(), output.len());
        let written = if compresses {
            // SAFETY: the context is alive and used by this thread alone; the input is read, and at
            // most the length of the output written.
            unsafe { ZSTD_compressCCtx(self.compression, to, room, from, bytes, ZSTD_LEVEL) }
        } else {
            // SAFETY: as above.
            unsafe { ZSTD_decompressDCtx(self.decompression, to, room, from, bytes) }
        };
        // SAFETY: it reads the number alone.
        if unsafe { ZSTD_isError(written) } == 0 { written } else { 0 }
    }

    /// Returns its version.
    pub(super) fn version(&self) -> String {
        // SAFETY: it returns a constant of the library, which stays loaded.
        let text = unsafe { (self.functions.ZSTD_versionString)() };
        // SAFETY: the constant ends with NUL.
        unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
    }
}

impl Drop for Zstd {
    fn drop(&mut self) {
        // SAFETY: the context was made by the same library and is used no more.
        unsafe { (self.functions.ZSTD_freeCCtx)(self.compression) };
        // SAFETY: as above.
        unsafe { (self.functions.ZSTD_freeDCtx)(self.decompression) };
    }
}
