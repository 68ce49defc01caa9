//! A table of C functions, found by name.

/// Declares a table of the C functions of one library, and how it is bound.
///
/// The fields are named as the functions, less the prefix that all of them have. A missing required
/// function is an error; an optional one is an `Option`. The caller guarantees the signatures: each
/// must hold in every build that has the function.
///
/// ```
/// dynlib::functions! {
///     /// The version functions of zlib.
///     pub(crate) struct Zlib prefix "zlib" {
///         required { Version: fn() -> *const std::ffi::c_char; }
///         optional { CompileFlags: fn() -> std::ffi::c_ulong; }
///     }
/// }
/// # fn main() {}
/// ```
///
/// An engine that is also linked names the crate of its C functions instead of a prefix, and its
/// fields have the functions' whole names. `linked()` then fills the table without a library, and
/// the compiler compares each signature with that crate's.
///
/// ```
/// mod zlib_sys {
///     pub unsafe extern "C" fn zlibVersion() -> *const std::ffi::c_char { c"1.3".as_ptr() }
///     pub unsafe extern "C" fn zlibCompileFlags() -> std::ffi::c_ulong { 0xa9 }
/// }
/// dynlib::functions! {
///     /// The version functions of zlib.
///     struct Zlib linked zlib_sys {
///         required { zlibVersion: fn() -> *const std::ffi::c_char; }
///         optional { zlibCompileFlags: fn() -> std::ffi::c_ulong; }
///     }
/// }
/// # fn main() {
/// let zlib = Zlib::linked();
/// assert!(zlib.zlibCompileFlags.is_some());
/// # }
/// ```
#[macro_export]
macro_rules! functions {
    (
        $(#[$meta:meta])*
        $vis:vis struct $table:ident linked $sys:ident {
            required { $($name:ident: fn($($arg:ty),* $(,)?) $(-> $out:ty)?;)* }
            optional { $($oname:ident: fn($($oarg:ty),* $(,)?) $(-> $oout:ty)?;)* }
        }
    ) => {
        $crate::functions! {
            $(#[$meta])*
            $vis struct $table prefix "" {
                required { $($name: fn($($arg),*) $(-> $out)?;)* }
                optional { $($oname: fn($($oarg),*) $(-> $oout)?;)* }
            }
        }

        impl $table {
            /// Returns the functions that this program is linked with.
            $vis fn linked() -> Self {
                Self { $($name: $sys::$name,)* $($oname: Some($sys::$oname),)* }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $table:ident prefix $prefix:literal {
            required { $($name:ident: fn($($arg:ty),* $(,)?) $(-> $out:ty)?;)* }
            optional { $($oname:ident: fn($($oarg:ty),* $(,)?) $(-> $oout:ty)?;)* }
        }
    ) => {
        $(#[$meta])*
        #[allow(non_snake_case, reason = "a field is named as its function")]
        $vis struct $table {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $out)?,)*
            $(pub(crate) $oname: Option<unsafe extern "C" fn($($oarg),*) $(-> $oout)?>,)*
        }

        impl $table {
            /// Resolves every function; the error names a required one that is absent.
            $vis fn bind(library: &$crate::Library) -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        let symbol = concat!($prefix, stringify!($name));
                        // SAFETY: the table's declaration guarantees its signatures.
                        let found = unsafe { library.get(symbol) };
                        *found.map_err(|_absent| symbol)?
                    },)*
                    $($oname: {
                        // SAFETY: the table's declaration guarantees its signatures.
                        let found = unsafe { library.get(concat!($prefix, stringify!($oname))) };
                        found.ok().map(|function| *function)
                    },)*
                })
            }
        }
    };
}
