//! Compiler and flags of a server, read from its files.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use object::{Object as _, ObjectSection as _};

/// Build information file of MySQL's packages, from the tree's root.
const INFO_BIN: &str = "docs/INFO_BIN";

/// Longest string considered: longer ones are tables, not flags.
const TEXT_MAX: usize = 4096;

/// Returns compiler and flags of a program below `root`, if recorded.
pub(crate) fn facts(program: &Path, root: &Path) -> BTreeMap<String, String> {
    let mut facts = Facts::default();
    if let Ok(text) = fs::read_to_string(root.join(INFO_BIN)) {
        facts.read_info(&text);
    }
    if let Ok(image) = fs::read(program) {
        facts.read_image(&image);
    }
    let named = [("compiler", facts.compiler), ("compiler_flags", facts.flags)];
    named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Compiler and flags; the first value found wins.
#[derive(Debug, Default, PartialEq, Eq)]
struct Facts {
    compiler: Option<String>,
    flags: Option<String>,
}

impl Facts {
    /// Parses MySQL's build information file.
    fn read_info(&mut self, text: &str) {
        let value = |start: &str| {
            text.lines().find_map(|line| Some(line.strip_prefix(start)?.trim().to_owned()))
        };
        self.compiler = self.compiler.take().or_else(|| value("Compiler: "));
        let kind = value("CMAKE_BUILD_TYPE: ").unwrap_or_default().to_uppercase();
        let flags = value(&format!("CMAKE_CXX_FLAGS_{kind}:")).or_else(|| value("CXX_FLAGS ="));
        self.flags = self.flags.take().or_else(|| flags.map(|flags| code_flags(&flags)));
    }

    /// Reads a program's strings, then its `.comment` section.
    fn read_image(&mut self, image: &[u8]) {
        let Ok(elf) = object::File::parse(image) else { return };
        let section = |name: &str| elf.section_by_name(name)?.uncompressed_data().ok();
        if let Some(data) = section(".rodata") {
            texts(&data).for_each(|text| self.read_text(text));
        }
        if let Some(data) = section(".comment") {
            let mut marks: Vec<&str> = texts(&data).filter(|mark| !mark.is_empty()).collect();
            marks.sort_unstable();
            marks.dedup();
            let marks = Some(marks.join(", ")).filter(|marks| !marks.is_empty());
            self.compiler = self.compiler.take().or(marks);
        }
    }

    /// Reads one string of a program: Postgres contains its version and flags.
    ///
    /// Source: PostgreSQL, src/common/config_info.c (`CFLAGS`) and `PG_VERSION_STR`.
    fn read_text(&mut self, text: &str) {
        if text.starts_with("PostgreSQL ") {
            let compiler = text.split_once(" compiled by ").map(|(_, rest)| rest);
            let compiler = compiler.map(|rest| rest.rsplit_once(", ").map_or(rest, |(it, _)| it));
            self.compiler = self.compiler.take().or_else(|| compiler.map(str::to_owned));
        }
        if text.starts_with("-W") && text.contains(" -O") {
            self.flags = self.flags.take().or_else(|| Some(code_flags(text)));
        }
    }
}

/// Returns the flags that change the code, without warnings and paths.
fn code_flags(flags: &str) -> String {
    let ignored = ["-W", "-I", "-B", "-fdebug-prefix-map", "-pipe"];
    let changes_code = |flag: &&str| !ignored.iter().any(|start| flag.starts_with(start));
    flags.split_whitespace().filter(changes_code).collect::<Vec<_>>().join(" ")
}

/// Returns the zero-terminated strings in data, up to a length.
fn texts(data: &[u8]) -> impl Iterator<Item = &str> {
    data.split(|byte| *byte == 0)
        .filter(|text| text.len() <= TEXT_MAX)
        .filter_map(|text| std::str::from_utf8(text).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn postgres_strings_contain_compiler_and_flags() {
        let mut facts = Facts::default();
        facts.read_text("PostgreSQL JDBC");
        facts.read_text(
            "PostgreSQL 15.10 on x86_64-pc-linux-gnu, compiled by gcc (Ubuntu 7.5.0) 7.5.0, 64-bit",
        );
        facts.read_text("-Wall -Werror=vla -fwrapv -Os -DMAP_HUGETLB=0x40000");
        facts.read_text("-Wall -O3");
        assert_eq!(facts.compiler.as_deref(), Some("gcc (Ubuntu 7.5.0) 7.5.0"));
        assert_eq!(facts.flags.as_deref(), Some("-fwrapv -Os -DMAP_HUGETLB=0x40000"));
    }

    #[test]
    fn mysql_info_file_contains_compiler_and_flags() {
        let mut new = Facts::default();
        new.read_info(
            "CMAKE_BUILD_TYPE:STRING=RelWithDebInfo\nCMAKE_BUILD_TYPE: RelWithDebInfo\nCompiler: \
             GNU 8.3.1\nCMAKE_CXX_FLAGS: -Wall\nCMAKE_CXX_FLAGS_RELWITHDEBINFO: \
             -ffunction-sections -O2 -g -DNDEBUG\n",
        );
        assert_eq!(new.compiler.as_deref(), Some("GNU 8.3.1"));
        assert_eq!(new.flags.as_deref(), Some("-ffunction-sections -O2 -g -DNDEBUG"));
        let mut old = Facts::default();
        old.read_info("CXX_FLAGS =  -fPIC -Wall -O3 -g -I/x/y -DDBUG_OFF\n");
        assert_eq!(old, Facts { compiler: None, flags: Some("-fPIC -O3 -g -DDBUG_OFF".into()) });
    }

    #[test]
    fn rust_program_has_a_compiler_comment() {
        let own = std::env::current_exe().unwrap();
        let found = facts(&own, Path::new("/nowhere"));
        assert!(found.get("compiler").is_some_and(|mark| !mark.is_empty()), "{found:?}");
    }
}
