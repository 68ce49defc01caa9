//! Names of C++ and Rust functions as programmers write them.

use cpp_demangle::{DemangleOptions, Symbol};

/// Returns a function's name without parameters, return type and hash; as it is where it is not
/// mangled or the library fails.
pub(crate) fn demangle(name: &str) -> String {
    if let Ok(rust) = rustc_demangle::try_demangle(name) {
        return format!("{rust:#}");
    }
    if !name.starts_with("_Z") {
        return name.to_owned();
    }
    let options = DemangleOptions::new().no_params().no_return_type();
    let cpp = Symbol::new(name).ok().and_then(|symbol| symbol.demangle_with_options(&options).ok());
    cpp.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpp_names_have_no_parameters_and_return_type() {
        assert_eq!(demangle("_ZN7rocksdb6DBImpl3GetERKNS_11ReadOptionsE"), "rocksdb::DBImpl::Get");
        assert_eq!(demangle("_Z4spinIiEvT_"), "spin<int>");
    }

    #[test]
    fn rust_names_have_no_hash() {
        let legacy = "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE";
        assert_eq!(demangle(legacy), "core::fmt::Formatter::pad");
        assert_eq!(demangle("_RNvCskwGfYPst2Cb_3foo3bar"), "foo::bar");
    }

    #[test]
    fn other_names_stay_as_they_are() {
        for name in ["main", "_Z-", "memcpy@@GLIBC_2.14", "", "seek.isra.0"] {
            assert_eq!(demangle(name), name);
        }
    }
}
