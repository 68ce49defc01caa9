//! The compiler an engine is compiled with, and the flags it is given.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus, Output, Stdio};

use super::recipe::Language;
use crate::error::SupplyError;

/// Lines of a compiler's words that are shown.
const WORDS_LINES: usize = 12;

/// Flags that ask the compiler for something else than an object file.
const REFUSED: &[&str] = &["-c", "-S", "-E", "-o", "-v", "--version", "-fsyntax-only", "-M", "-MM"];

/// A kind of compiler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Family {
    Gcc,
    Clang,
}

/// A compiler with its flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolchain {
    family: Family,
    /// The command for C.
    cc: String,
    /// The command for C++.
    cxx: String,
    /// The first line of what it says of its version.
    pub(crate) version_line: String,
    /// Its version in numbers, `12` or `14.0.6`, as far as it tells.
    number: String,
    /// The user's flags.
    pub(crate) flags: Vec<String>,
    /// Whether files are optimised together when they are linked.
    pub(crate) is_lto: bool,
}

impl Toolchain {
    /// Finds a compiler, `gcc`, `clang` or one of those with a version as `gcc-13`.
    ///
    /// # Errors
    /// When there is none of that name, it does not start, or a flag cannot be one.
    pub(crate) fn find(compiler: &str, flags: &str, is_lto: bool) -> Result<Self, SupplyError> {
        let (family, cxx) = commands(compiler)?;
        let flags = flags_of(flags)?;
        let version = run(Command::new(compiler).arg("--version"), compiler)?;
        let number = run(Command::new(compiler).arg("-dumpversion"), compiler)?;
        let first = |output: &Output| {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.lines().next().unwrap_or_default().trim().to_owned()
        };
        Ok(Self {
            family,
            cc: compiler.to_owned(),
            cxx,
            version_line: first(&version),
            number: first(&number),
            is_lto,
            flags,
        })
    }

    /// Returns compiler and major version for a name: `gcc12`.
    pub(crate) fn label(&self) -> String {
        let major = self.number.split('.').next().unwrap_or_default();
        let name = if self.family == Family::Gcc { "gcc" } else { "clang" };
        format!("{name}{major}")
    }

    /// Returns the flags as they are written, that of link-time optimisation included.
    pub(crate) fn flags_text(&self) -> String {
        let lto = self.is_lto.then_some("-flto");
        self.flags.iter().map(String::as_str).chain(lto).collect::<Vec<_>>().join(" ")
    }

    /// Checks that the compiler of a language takes the flags, before anything is compiled.
    ///
    /// # Errors
    /// When it does not, in its own words.
    pub(crate) fn check(&self, language: Language) -> Result<(), SupplyError> {
        let program = self.program(language);
        let name = if language == Language::Cxx { "c++" } else { "c" };
        let mut command = Command::new(program);
        // No object is asked for: what a failing assembler leaves of /dev/null is nothing.
        command.args(self.common()).args(["-fsyntax-only", "-x", name, "/dev/null"]);
        let output = run(&mut command, program)?;
        if output.status.success() {
            return Ok(());
        }
        Err(SupplyError::FlagsRefused {
            compiler: program.to_owned(),
            flags: self.flags_text(),
            words: words(&String::from_utf8_lossy(&output.stderr), output.status),
        })
    }

    /// Returns the command that compiles a file, without the file and the object's name.
    pub(crate) fn compile(&self, language: Language, arguments: &[String]) -> Vec<String> {
        let mut command = vec![self.program(language).to_owned()];
        command.extend_from_slice(arguments);
        command.extend(["-fPIC", "-w"].map(str::to_owned));
        command.extend(self.common());
        command
    }

    /// Returns the command that links objects, without their names and the library's.
    pub(crate) fn link(&self, language: Language, jobs: usize) -> Vec<String> {
        let mut command = vec![self.program(language).to_owned()];
        command.extend(["-shared", "-fPIC"].map(str::to_owned));
        // A symbol that is nowhere is told now, not when a run begins; sanitizers bring theirs
        // late.
        if !self.flags.iter().any(|flag| flag.starts_with("-fsanitize")) {
            command.push("-Wl,-z,defs".to_owned());
        }
        command.extend(self.flags.iter().cloned());
        if self.is_lto {
            command.extend(match self.family {
                Family::Gcc => vec![format!("-flto={jobs}")],
                Family::Clang => vec!["-flto".to_owned(), "-fuse-ld=lld".to_owned()],
            });
        }
        command
    }

    /// Returns the user's flags, and that of link-time optimisation.
    fn common(&self) -> impl Iterator<Item = String> {
        self.flags.iter().cloned().chain(self.is_lto.then(|| "-flto".to_owned()))
    }

    /// Returns the command for a language.
    fn program(&self, language: Language) -> &str {
        match language {
            Language::C => &self.cc,
            Language::Cxx => &self.cxx,
        }
    }
}

/// Returns a compiler's family, and its command for C++.
fn commands(compiler: &str) -> Result<(Family, String), SupplyError> {
    let (name, version) = match compiler.split_once('-') {
        Some((name, version)) => (name, format!("-{version}")),
        None => (compiler, String::new()),
    };
    let is_version = version.chars().skip(1).all(|c| c.is_ascii_digit() || c == '.');
    match name {
        "gcc" if is_version => Ok((Family::Gcc, format!("g++{version}"))),
        "clang" if is_version => Ok((Family::Clang, format!("clang++{version}"))),
        _ => Err(SupplyError::BadFlags(format!(
            "`{compiler}` is no compiler that is known: write gcc or clang, or one with its \
             version as gcc-13"
        ))),
    }
}

/// Returns the flags of a text, split at spaces.
fn flags_of(text: &str) -> Result<Vec<String>, SupplyError> {
    let flags: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
    for flag in &flags {
        if flag.contains(['"', '\'', '\\']) {
            return Err(SupplyError::BadFlags(format!(
                "`{flag}`: flags are split at spaces and nothing is unquoted"
            )));
        }
        if !flag.starts_with('-') {
            return Err(SupplyError::BadFlags(format!(
                "`{flag}` is no flag: each begins with a dash; one with a value is one word, as \
                 in --param=NAME=VALUE"
            )));
        }
        if REFUSED.contains(&flag.as_str()) {
            return Err(SupplyError::BadFlags(format!(
                "`{flag}` would keep the compiler from making the library"
            )));
        }
    }
    Ok(flags)
}

/// Runs a compiler, whose messages are in English whatever the user's language.
pub(crate) fn run(command: &mut Command, program: &str) -> Result<Output, SupplyError> {
    let outcome = command.stdin(Stdio::null()).env("LC_ALL", "C").output();
    outcome.map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return SupplyError::NoCompiler { command: program.to_owned() };
        }
        SupplyError::io("run", Path::new(program))(error)
    })
}

/// Returns a compiler's own words from its first error on, cut to a readable length.
///
/// One that said nothing, because it was killed, is told by its end.
pub(crate) fn words(text: &str, status: ExitStatus) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_error = |line: &&str| line.contains("error") || line.contains("undefined reference");
    let start = lines.iter().position(is_error).unwrap_or(0);
    let shown = &lines[start..];
    let mut told = shown[..shown.len().min(WORDS_LINES)].join("\n");
    if shown.len() > WORDS_LINES {
        told.push_str("\n...");
    }
    if told.is_empty() {
        told = status.to_string();
    }
    told
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn refused(flags: &str) -> String {
        flags_of(flags).unwrap_err().to_string()
    }

    fn gcc(flags: &[&str], is_lto: bool) -> Toolchain {
        Toolchain {
            family: Family::Gcc,
            cc: "gcc".to_owned(),
            cxx: "g++".to_owned(),
            version_line: "gcc (Debian 12.2.0-14) 12.2.0".to_owned(),
            number: "12".to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            is_lto,
        }
    }

    #[test]
    fn the_compiler_for_cxx_is_the_one_of_the_same_version() {
        assert_eq!(commands("gcc").unwrap(), (Family::Gcc, "g++".to_owned()));
        assert_eq!(commands("gcc-13").unwrap(), (Family::Gcc, "g++-13".to_owned()));
        assert_eq!(commands("clang-18").unwrap(), (Family::Clang, "clang++-18".to_owned()));
        for other in ["icc", "gcc-ar", "rm -rf"] {
            let told = commands(other).unwrap_err().to_string();
            assert!(told.ends_with("or one with its version as gcc-13"), "{told}");
        }
    }

    #[test]
    fn what_is_no_flag_is_refused_before_anything_is_compiled() {
        assert_eq!(flags_of(" -O3  -march=native ").unwrap(), ["-O3", "-march=native"]);
        assert!(refused("-O3 main.c").starts_with("`main.c` is no flag"));
        assert!(refused("-DA=\"b c\"").contains("nothing is unquoted"));
        assert!(refused("-O2 -c").starts_with("`-c` would keep the compiler"));
    }

    #[test]
    fn the_user_s_flags_come_last_so_that_they_win() {
        let own = ["-DNDEBUG".to_owned()];
        assert_eq!(
            gcc(&["-O3", "-UNDEBUG"], true).compile(Language::Cxx, &own),
            ["g++", "-DNDEBUG", "-fPIC", "-w", "-O3", "-UNDEBUG", "-flto"]
        );
    }

    #[test]
    fn files_are_optimised_together_only_when_asked() {
        let plain = ["gcc", "-shared", "-fPIC", "-Wl,-z,defs", "-O2"];
        assert_eq!(gcc(&["-O2"], false).link(Language::C, 2), plain);
        assert_eq!(gcc(&["-O2"], true).link(Language::C, 2), [&plain[..], &["-flto=2"]].concat());
        let clang = Toolchain { family: Family::Clang, ..gcc(&[], true) };
        assert!(clang.link(Language::C, 2).ends_with(&["-flto".into(), "-fuse-ld=lld".into()]));
        assert_eq!(clang.label(), "clang12");
        assert_eq!(gcc(&["-O3"], true).flags_text(), "-O3 -flto");
    }

    #[test]
    fn a_compiler_s_words_begin_with_its_first_error() {
        let text = "In file included from a.h:1:\nb.h:2: note: x\nb.h:3:1: error: no\n   3 | n\n";
        let refused = ExitStatus::from_raw(256);
        assert_eq!(words(text, refused), "b.h:3:1: error: no\n   3 | n");
        assert_eq!(words("", ExitStatus::from_raw(9)), "signal: 9 (SIGKILL)");
        assert_eq!(words(&"error\n".repeat(40), refused).lines().count(), WORDS_LINES + 1);
    }
}
