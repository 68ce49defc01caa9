//! A table of C functions, found by name.

/// Declares a table of the C functions of one library, and how it is bound.
///
/// The fields are named as the functions, less the prefix given to `bind`. A missing required
/// function is an error; an optional one is an `Option`. The caller guarantees the signatures: each
/// must hold in every build that has the function.
///
/// An engine that is also linked names the crate of its C functions. `linked()` then fills the
/// table without a library, and the compiler compares each signature with that crate's.
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
            $(optional { $($oname:ident: fn($($oarg:ty),* $(,)?) $(-> $oout:ty)?;)* })?
        }
    ) => {
        $crate::functions! {
            $(#[$meta])*
            $vis struct $table {
                required { $($name: fn($($arg),*) $(-> $out)?;)* }
                $(optional { $($oname: fn($($oarg),*) $(-> $oout)?;)* })?
            }
        }

        impl $table {
            /// Returns the functions that this program is linked with.
            $vis fn linked() -> Self {
                Self { $($name: $sys::$name,)* $($($oname: Some($sys::$oname),)*)? }
            }
        }
    };
    (
        $(#[$meta:meta])*
        $vis:vis struct $table:ident {
            required { $($name:ident: fn($($arg:ty),* $(,)?) $(-> $out:ty)?;)* }
            $(optional { $($oname:ident: fn($($oarg:ty),* $(,)?) $(-> $oout:ty)?;)* })?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        #[allow(missing_docs, non_snake_case, reason = "a field is named as its function")]
        $vis struct $table {
            $($vis $name: unsafe extern "C" fn($($arg),*) $(-> $out)?,)*
            $($($vis $oname: Option<unsafe extern "C" fn($($oarg),*) $(-> $oout)?>,)*)?
        }

        impl $table {
            /// Resolves every function that begins with `prefix`.
            ///
            /// # Errors
            /// The name of a required function that is absent.
            $vis fn bind(library: &$crate::Library, prefix: &str) -> Result<Self, String> {
                Ok(Self {
                    $($name: {
                        let symbol = format!("{prefix}{}", stringify!($name));
                        // SAFETY: the table's declaration guarantees its signatures.
                        let found = unsafe { library.get(symbol.as_str()) };
                        *found.map_err(|_absent| symbol)?
                    },)*
                    $($($oname: {
                        let symbol = format!("{prefix}{}", stringify!($oname));
                        // SAFETY: the table's declaration guarantees its signatures.
                        let found = unsafe { library.get(symbol.as_str()) };
                        found.ok().map(|function| *function)
                    },)*)?
                })
            }
        }
    };
}

/// Declares handles of a library's own types.
#[macro_export]
macro_rules! handles {
    ($vis:vis $($name:ident)*) => { $(
        #[doc = concat!("The library's `", stringify!($name), "`.")]
        #[repr(C)]
        #[derive(Debug)]
        $vis struct $name { _opaque: [u8; 0] }
    )* };
}
