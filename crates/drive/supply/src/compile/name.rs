//! The name of a compiled build: release, compiler, flags.

use crate::error::SupplyError;

/// Longest version name: it is used in directory names.
const NAME_CHARS: usize = 100;

/// Returns the version name of a build: `10.4.2-gcc12-O3-march-native-lto`.
///
/// It begins with the release's version and a dash, so that version checks can parse it.
///
/// # Errors
/// When it would be too long.
pub(crate) fn version(
    release: &str,
    compiler: &str,
    flags: &[String],
    is_lto: bool,
) -> Result<String, SupplyError> {
    let mut parts = vec![release.to_owned(), compiler.to_owned()];
    parts.extend(flags.iter().map(|flag| name_part(flag)).filter(|part| !part.is_empty()));
    if is_lto {
        parts.push("lto".to_owned());
    }
    let name = parts.join("-");
    if name.len() > NAME_CHARS {
        return Err(SupplyError::BadFlags(format!(
            "the flags make the name too long ({} characters): give one with --name",
            name.len()
        )));
    }
    Ok(name)
}

/// Returns a flag as part of a name: `-march=native` is `march-native`.
fn name_part(flag: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    flag.split(|c| !is_allowed(c)).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use model::BuildRef;
    use proptest::prelude::*;

    use super::*;

    fn named(flags: &[&str], is_lto: bool) -> String {
        let flags: Vec<_> = flags.iter().map(|flag| (*flag).to_owned()).collect();
        version("10.4.2", "gcc12", &flags, is_lto).unwrap()
    }

    #[test]
    fn name_contains_compiler_and_flags() {
        assert_eq!(named(&["-O3", "-march=native"], true), "10.4.2-gcc12-O3-march-native-lto");
        assert_eq!(named(&["-O2"], false), "10.4.2-gcc12-O2");
        assert_eq!(
            named(&["-mtune=x86-64-v3", "--param=a=b"], false),
            "10.4.2-gcc12-mtune-x86-64-v3-param-a-b"
        );
        assert_eq!(named(&["--", "-O1"], false), "10.4.2-gcc12-O1");
    }

    #[test]
    fn too_long_name_requests_an_explicit_one() {
        let flags = vec!["-fno-semantic-interposition".to_owned(); 5];
        let error = version("10.4.2", "gcc12", &flags, false).unwrap_err();
        assert!(error.to_string().ends_with("give one with --name"), "{error}");
    }

    proptest! {
        #[test]
        fn every_name_parses_as_a_build(flags in prop::collection::vec("-[ -~]{0,20}", 0..4)) {
            let Ok(name) = version("1.2.3", "clang14", &flags, false) else { return Ok(()) };
            prop_assert!(format!("rocksdb@{name}").parse::<BuildRef>().is_ok(), "{}", name);
        }
    }
}
