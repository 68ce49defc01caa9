//! Function names, normalised over releases and compilers.

/// Suffixes of a function's clones, before their numbers.
///
/// Source: [GCC source], [LLVM source]: the passes that clone functions.
const CLONES: [&str; 6] = ["cold", "constprop", "isra", "llvm", "lto_priv", "part"];
/// Parts of the names of a libc function's variants for instruction sets.
///
/// Source: [glibc source].
const INSTRUCTION_SETS: &str = "_avx _erms _evex _fma _generic _sse _ssse3 _unaligned";
/// Namespaces that compilers and libraries add.
const ADDED_NAMESPACES: [&str; 5] =
    ["(anonymous namespace)::", "{anonymous}::", "_GLOBAL__N_1::", "__cxx11::", "__1::"];
/// Operators whose names contain brackets, the longest first.
const OPERATORS: &str = "<=> <<= >>= ->* () [] -> << >> <= >= < >";

/// The rules, in the order of their use.
const RULES: [fn(&str) -> String; 8] = [
    without_clones,
    without_version,
    without_abi_tags,
    without_added_namespaces,
    without_hash,
    without_impl,
    without_numbers_of_closures,
    without_instruction_set,
];

/// A function's names, each less specific than the one before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FunctionName {
    /// Without what compilers and libraries add.
    pub exact: String,
    /// Also without the namespaces between the first one and the class.
    pub outer: String,
    /// Also without template arguments.
    pub plain: String,
}

impl FunctionName {
    /// Normalises a demangled name without parameters and return type.
    pub fn of(function: &str) -> Self {
        let exact = RULES.iter().fold(function.to_owned(), |name, rule| rule(&name));
        // A name that is left empty stays as it is.
        let exact = if exact.is_empty() { function.to_owned() } else { exact };
        let outer = without_inner_namespaces(&exact);
        let plain = without_templates(&outer);
        Self { exact, outer, plain }
    }
}

/// `seek.isra.0`, `seek [clone .cold]` -> `seek`
fn without_clones(name: &str) -> String {
    let name = name.split(" [clone").next().unwrap_or(name);
    let mut parts: Vec<&str> = name.split('.').collect();
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let is_clone = |part: &&str| CLONES.contains(part) || is_number(part);
    while parts.len() > 1 && parts.last().is_some_and(is_clone) {
        parts.pop();
    }
    parts.join(".")
}

/// `memcpy@@GLIBC_2.14`, `memcpy@plt`, `__GI_memcpy` -> `memcpy`
fn without_version(name: &str) -> String {
    // A call within the C library. Source: [glibc source], `include/libc-symbols.h`.
    let name = name.strip_prefix("__GI_").unwrap_or(name);
    name.split('@').next().unwrap_or(name).to_owned()
}

/// `LogFileName[abi:cxx11]` -> `LogFileName`
fn without_abi_tags(name: &str) -> String {
    let mut parts = name.split("[abi:");
    let first = parts.next().unwrap_or(name).to_owned();
    parts.fold(first, |sum, part| sum + part.split_once(']').map_or("", |(_, rest)| rest))
}

/// `std::__cxx11::string`, `std::__1::string`, `std::(anonymous namespace)::string` ->
/// `std::string`
fn without_added_namespaces(name: &str) -> String {
    ADDED_NAMESPACES.iter().fold(name.to_owned(), |name, added| name.replace(added, ""))
}

/// `redb::Table::get::h0123456789abcdef` -> `redb::Table::get`
fn without_hash(name: &str) -> String {
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit());
    let parts = name.rsplit_once("::h").filter(|(_, hash)| is_hash(hash));
    parts.map_or(name, |(function, _)| function).to_owned()
}

/// `<T as Trait>::get` -> `T::get`; `slice::<impl [T]>::sort` -> `slice::sort`
fn without_impl(name: &str) -> String {
    let scopes = split(name, "::").into_iter().filter(|scope| !scope.starts_with("<impl "));
    let mut scopes: Vec<&str> = scopes.collect();
    if let Some(first) = scopes.first_mut()
        && let Some(typed) = first.strip_prefix('<').and_then(|rest| rest.strip_suffix('>'))
    {
        *first = split(typed, " as ")[0];
    }
    scopes.join("::")
}

/// `Get::{lambda(int)#2}::operator()` -> `Get::{lambda}::operator()`; `get::{{closure}}`,
/// `get::{closure#0}` -> `get::{closure}`
fn without_numbers_of_closures(name: &str) -> String {
    let normal = |scope: &str| -> String {
        let Some(inner) = scope.strip_prefix('{') else { return scope.to_owned() };
        let letters = inner.trim_start_matches('{').chars().take_while(|c| c.is_alphabetic());
        format!("{{{}}}", letters.collect::<String>())
    };
    split(name, "::").into_iter().map(normal).collect::<Vec<String>>().join("::")
}

/// `__memcpy_avx_unaligned_erms` -> `memcpy`
fn without_instruction_set(name: &str) -> String {
    let function = name.strip_prefix("__").unwrap_or_default();
    let is_c = function.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let end = INSTRUCTION_SETS.split(' ').filter_map(|part| function.find(part)).min();
    let known = end.filter(|end| is_c && *end > 0).map(|end| &function[..end]);
    known.unwrap_or(name).to_owned()
}

/// `rocksdb::lru_cache::LRUHandleTable::Find` -> `rocksdb::LRUHandleTable::Find`
fn without_inner_namespaces(name: &str) -> String {
    let scopes = split(name, "::");
    let last = scopes.len() - 1;
    // A namespace begins with a small letter and has no template arguments.
    let is_inner = |(place, scope): &(usize, &str)| {
        let is_small = scope.starts_with(|c: char| c.is_lowercase() || c == '_');
        *place > 0 && *place < last && is_small && !scope.contains('<')
    };
    let outer = scopes.into_iter().enumerate().filter(|scope| !is_inner(scope));
    outer.map(|(_, scope)| scope).collect::<Vec<&str>>().join("::")
}

/// `Iter<Key>::Parse<Decode, false>` -> `Iter::Parse`
fn without_templates(name: &str) -> String {
    let plain = |scope: &str| -> String {
        let from = operator(scope);
        let end = scope[from..].find('<').map_or(scope.len(), |end| from + end);
        scope[..end].to_owned()
    };
    let plain = split(name, "::").into_iter().map(plain).filter(|scope| !scope.is_empty());
    plain.collect::<Vec<String>>().join("::")
}

/// Splits a name at separators outside of brackets; never empty.
fn split<'a>(name: &'a str, separator: &str) -> Vec<&'a str> {
    let (mut parts, mut start, mut depth, mut at) = (Vec::new(), 0, 0_u32, operator(name));
    while at < name.len() {
        let rest = &name.as_bytes()[at..];
        if depth == 0 && rest.starts_with(separator.as_bytes()) {
            parts.push(&name[start..at]);
            start = at + separator.len();
            at = start + operator(&name[start..]);
            continue;
        }
        match rest[0] {
            b'<' | b'(' | b'[' | b'{' => depth += 1,
            b'>' | b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        // The arrow of a function type closes nothing.
        at += if rest.starts_with(b"->") { 2 } else { 1 };
    }
    parts.push(&name[start..]);
    parts
}

/// Returns the length of the operator with brackets that a scope begins with, or 0.
fn operator(scope: &str) -> usize {
    let symbol = scope.strip_prefix("operator").unwrap_or_default();
    let found = OPERATORS.split(' ').find(|operator| symbol.starts_with(operator));
    found.map_or(0, |operator| "operator".len() + operator.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rule: fn(&str) -> String, cases: &[(&str, &str)]) {
        for (name, normal) in cases {
            assert_eq!(rule(name), *normal, "{name}");
            assert_eq!(rule(normal), *normal, "{name}, repeated");
        }
    }

    #[test]
    fn clones_have_the_name_of_their_function() {
        check(
            without_clones,
            &[
                ("seek.isra.0", "seek"),
                ("seek.constprop.0.isra.12", "seek"),
                ("seek.part.0.cold", "seek"),
                ("seek.lto_priv.0", "seek"),
                ("rocksdb::Get.llvm.1234567", "rocksdb::Get"),
                ("rocksdb::Get [clone .isra.0] [clone .cold]", "rocksdb::Get"),
                ("f<T...>", "f<T...>"),
            ],
        );
    }

    #[test]
    fn abi_tags_are_left_out() {
        check(without_abi_tags, &[("LogFileName[abi:cxx11]", "LogFileName"), ("a[abi:x", "a")]);
        check(without_abi_tags, &[("A[abi:v1]::f[abi:v2]<int>", "A::f<int>")]);
    }

    #[test]
    fn inline_and_anonymous_namespaces_are_left_out() {
        check(
            without_added_namespaces,
            &[
                ("std::__cxx11::string::x", "std::string::x"),
                ("std::__1::string<std::__1::a>", "std::string<std::a>"),
                ("a::(anonymous namespace)::F::g", "a::F::g"),
                ("(anonymous namespace)::g", "g"),
                ("a::_GLOBAL__N_1::g", "a::g"),
            ],
        );
    }

    #[test]
    fn libc_functions_have_one_name() {
        check(
            without_version,
            &[("memcpy@@GLIBC_2.14", "memcpy"), ("read@plt", "read"), ("__GI_read", "read")],
        );
        check(
            without_instruction_set,
            &[
                ("__memcpy_avx_unaligned_erms", "memcpy"),
                ("__memmove_evex_unaligned", "memmove"),
                ("__strlen_sse2", "strlen"),
                ("__memcpy_generic", "memcpy"),
                ("__libc_start_main", "__libc_start_main"),
                ("__x::y_avx", "__x::y_avx"),
                ("memcpy", "memcpy"),
            ],
        );
    }

    #[test]
    fn closures_have_no_number_and_their_function_stays() {
        check(
            without_numbers_of_closures,
            &[
                (
                    "Db::Get::{lambda(int, std::map<a, b>)#2}::operator()",
                    "Db::Get::{lambda}::operator()",
                ),
                ("redb::get::{{closure}}", "redb::get::{closure}"),
                ("redb::get::{closure#12}::{closure#0}", "redb::get::{closure}::{closure}"),
                ("a{b", "a{b"),
            ],
        );
    }

    #[test]
    fn rust_hashes_and_impls_are_left_out() {
        check(without_hash, &[("redb::get::h0123456789abcdef", "redb::get")]);
        check(without_hash, &[("redb::get::hash", "redb::get::hash")]);
        check(
            without_impl,
            &[
                ("<redb::Table<K> as redb::Read>::get", "redb::Table<K>::get"),
                ("<redb::Table>::get", "redb::Table::get"),
                ("<F<fn(A) -> B> as C>::call", "F<fn(A) -> B>::call"),
                ("core::slice::<impl [T]>::sort", "core::slice::sort"),
                ("<impl A for B>::f", "f"),
                ("<broken", "<broken"),
                ("a<impl b", "a<impl b"),
            ],
        );
    }

    #[test]
    fn inner_namespaces_are_left_out_and_classes_stay() {
        check(
            without_inner_namespaces,
            &[
                ("rocksdb::lru_cache::LRUHandleTable::Find", "rocksdb::LRUHandleTable::Find"),
                (
                    "rocksdb::clock_cache::A<b::c>::operator()<d::e>",
                    "rocksdb::A<b::c>::operator()<d::e>",
                ),
                ("std::vector<int>::push_back", "std::vector<int>::push_back"),
                ("rocksdb::Hash", "rocksdb::Hash"),
                ("mdb_get", "mdb_get"),
                ("a::B::operator<", "a::B::operator<"),
                ("a::b::operator<<::C::d", "a::operator<<::C::d"),
            ],
        );
    }

    #[test]
    fn template_arguments_are_left_out_and_operators_stay() {
        check(
            without_templates,
            &[
                ("Iter<Key>::Parse<Decode, false>", "Iter::Parse"),
                ("A<b::c<d>>::operator()<e>", "A::operator()"),
                ("A<b>::operator<", "A::operator<"),
                ("A::operator-><b>", "A::operator->"),
                ("redb::get::<u8>", "redb::get"),
            ],
        );
    }

    #[test]
    fn levels_go_from_exact_to_plain() {
        let name = FunctionName::of(
            "rocksdb::lru_cache::(anonymous namespace)::Iter<Key>::Get[abi:cxx11].isra.0",
        );
        assert_eq!(name.exact, "rocksdb::lru_cache::Iter<Key>::Get");
        assert_eq!((&*name.outer, &*name.plain), ("rocksdb::Iter<Key>::Get", "rocksdb::Iter::Get"));
        for odd in ["", "::", "<", ">>", "{}", "operator", "operator<", "é<ü>::ß", "a@", "<>::"]
        {
            let name = FunctionName::of(odd);
            assert!(odd.is_empty() || !name.exact.is_empty(), "{odd}");
        }
    }

    proptest::proptest! {
        #[test]
        fn names_of_any_shape_have_a_normal_one(name in "([a-z<>(){}:~.@é -]|::|operator|impl ){0,30}") {
            let once = FunctionName::of(&name);
            proptest::prop_assert!(name.is_empty() || !once.exact.is_empty());
        }
    }
}
