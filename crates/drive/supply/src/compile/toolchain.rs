//! The compiler of an engine and its flags.

use std::process::{Command, ExitStatus, Output};

use child::Role;

use crate::error::{Result, SupplyError};
use crate::program::{self, text};

/// Lines shown of a compiler's errors.
const ERROR_LINES_MAX: usize = 12;

/// Flags that make the compiler produce something other than an object.
const NON_OBJECT_FLAGS: &[&str] =
    &["-c", "-S", "-E", "-o", "-v", "--version", "-fsyntax-only", "-M", "-MM"];

/// A compiler with its flags.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Toolchain {
    is_clang: bool,
    cc: String,
    cxx: String,
    /// First line of its `--version`.
    pub(crate) version_line: String,
    /// Its version, `12` or `14.0.6`.
    number: String,
    pub(crate) flags: Vec<String>,
    pub(crate) is_lto: bool,
}

impl Toolchain {
    /// Finds a compiler, `gcc`, `clang` or one of those with a version as `gcc-13`.
    pub(crate) fn find(compiler: &str, flags: &str, is_lto: bool) -> Result<Self> {
        let (is_clang, cxx) = commands(compiler)?;
        let flags = parse_flags(flags)?;
        let first_line = |argument: &str| {
            let mut command = child::command(Role::BuildTool, compiler);
            let output = run(command.current_dir("/").arg(argument))?;
            let line = text(&output.stdout).lines().next().unwrap_or_default().trim().to_owned();
            Ok::<_, SupplyError>(line)
        };
        Ok(Self {
            is_clang,
            cc: compiler.to_owned(),
            cxx,
            version_line: first_line("--version")?,
            number: first_line("-dumpversion")?,
            is_lto,
            flags,
        })
    }

    /// Returns compiler and major version for a name: `gcc12`.
    pub(crate) fn label(&self) -> String {
        let major = self.number.split('.').next().unwrap_or_default();
        let name = if self.is_clang { "clang" } else { "gcc" };
        format!("{name}{major}")
    }

    /// Returns the flags as text, `-flto` included.
    pub(crate) fn flags_text(&self) -> String {
        let lto = self.is_lto.then_some("-flto");
        self.flags.iter().map(String::as_str).chain(lto).collect::<Vec<_>>().join(" ")
    }

    /// Checks that the compiler of a language accepts the flags.
    pub(crate) fn check(&self, is_cxx: bool) -> Result<()> {
        let program = self.program(is_cxx);
        let name = if is_cxx { "c++" } else { "c" };
        let mut command = child::command(Role::BuildTool, program);
        // Syntax only: a failing assembler would remove /dev/null.
        command.args(self.common()).args(["-fsyntax-only", "-x", name, "/dev/null"]);
        let output = run(&mut command)?;
        if output.status.success() {
            return Ok(());
        }
        let (flags, errors) = (self.flags_text(), compiler_errors(&output));
        Err(SupplyError::Unavailable(format!("{program} rejects the flags {flags}:\n{errors}")))
    }

    /// Returns the command that compiles a file, without the file and the object's name.
    pub(crate) fn compile(&self, is_cxx: bool, arguments: &[String]) -> Vec<String> {
        let mut command = vec![self.program(is_cxx).to_owned()];
        command.extend_from_slice(arguments);
        command.extend(["-fPIC", "-w"].map(str::to_owned));
        command.extend(self.common());
        command
    }

    /// Returns the command that links objects, without their names and the library's.
    pub(crate) fn link(&self, is_cxx: bool, jobs: usize) -> Vec<String> {
        let mut command = vec![self.program(is_cxx).to_owned()];
        command.extend(["-shared", "-fPIC"].map(str::to_owned));
        // Undefined symbols fail here, not when a run begins; sanitizers resolve theirs late.
        if !self.flags.iter().any(|flag| flag.starts_with("-fsanitize")) {
            command.push("-Wl,-z,defs".to_owned());
        }
        command.extend(self.flags.iter().cloned());
        if self.is_lto {
            if self.is_clang {
                command.extend(["-flto", "-fuse-ld=lld"].map(str::to_owned));
            } else {
                command.push(format!("-flto={jobs}"));
            }
        }
        command
    }

    /// Returns the user's flags, and `-flto`.
    fn common(&self) -> impl Iterator<Item = String> {
        self.flags.iter().cloned().chain(self.is_lto.then(|| "-flto".to_owned()))
    }

    /// Returns the command for a language.
    fn program(&self, is_cxx: bool) -> &str {
        if is_cxx { &self.cxx } else { &self.cc }
    }
}

/// Returns whether a compiler is Clang, and its command for C++.
fn commands(compiler: &str) -> Result<(bool, String)> {
    let (name, version) = match compiler.split_once('-') {
        Some((name, version)) => (name, format!("-{version}")),
        None => (compiler, String::new()),
    };
    let is_version = version.chars().skip(1).all(|c| c.is_ascii_digit() || c == '.');
    match name {
        "gcc" if is_version => Ok((false, format!("g++{version}"))),
        "clang" if is_version => Ok((true, format!("clang++{version}"))),
        _ => Err(SupplyError::Unavailable(format!(
            "`{compiler}` is not a known compiler: write gcc or clang, or add a version, as in \
             gcc-13"
        ))),
    }
}

/// Returns the flags of a text, split at spaces.
fn parse_flags(text: &str) -> Result<Vec<String>> {
    let flags: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
    for flag in &flags {
        let reason = if flag.contains(['"', '\'', '\\']) {
            ": flags are split at spaces, quotes are not supported"
        } else if !flag.starts_with('-') {
            " is not a flag: flags begin with a dash; write a value as in --param=NAME=VALUE"
        } else if NON_OBJECT_FLAGS.contains(&flag.as_str()) {
            " would prevent the compiler from making the library"
        } else {
            continue;
        };
        return Err(SupplyError::Unavailable(format!("`{flag}`{reason}")));
    }
    Ok(flags)
}

/// Runs a compiler with untranslated messages.
pub(crate) fn run(command: &mut Command) -> Result<Output> {
    let name = command.get_program().display().to_string();
    program::run(command.env("LC_ALL", "C"), || {
        format!(
            "there is no compiler `{name}` on this machine: install it (Debian: apt install \
                 {name})"
        )
    })
}

/// Returns a compiler's errors from the first one on, truncated.
///
/// The exit status when there is no output, as of a killed compiler.
pub(crate) fn compiler_errors(output: &Output) -> String {
    excerpt(&text(&output.stderr), output.status)
}

fn excerpt(text: &str, status: ExitStatus) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let is_error = |line: &&str| line.contains("error") || line.contains("undefined reference");
    let start = lines.iter().position(is_error).unwrap_or(0);
    let shown = &lines[start..];
    let mut excerpt = shown[..shown.len().min(ERROR_LINES_MAX)].join("\n");
    if shown.len() > ERROR_LINES_MAX {
        excerpt.push_str("\n...");
    }
    if excerpt.is_empty() {
        excerpt = status.to_string();
    }
    excerpt
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn flag_error(flags: &str) -> String {
        parse_flags(flags).unwrap_err().to_string()
    }

    fn gcc(flags: &[&str], is_lto: bool) -> Toolchain {
        Toolchain {
            is_clang: false,
            cc: "gcc".to_owned(),
            cxx: "g++".to_owned(),
            version_line: "gcc (Debian 12.2.0-14) 12.2.0".to_owned(),
            number: "12".to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            is_lto,
        }
    }

    #[test]
    fn cxx_compiler_has_the_version_of_the_c_compiler() {
        assert_eq!(commands("gcc").unwrap(), (false, "g++".to_owned()));
        assert_eq!(commands("gcc-13").unwrap(), (false, "g++-13".to_owned()));
        assert_eq!(commands("clang-18").unwrap(), (true, "clang++-18".to_owned()));
        for other in ["icc", "gcc-ar", "rm -rf"] {
            let excerpt = commands(other).unwrap_err().to_string();
            assert!(excerpt.ends_with("or add a version, as in gcc-13"), "{excerpt}");
        }
    }

    #[test]
    fn invalid_flag_is_rejected_before_compiling() {
        assert_eq!(parse_flags(" -O3  -march=native ").unwrap(), ["-O3", "-march=native"]);
        assert!(flag_error("-O3 main.c").starts_with("`main.c` is not a flag"));
        assert!(flag_error("-DA=\"b c\"").contains("quotes are not supported"));
        assert!(flag_error("-O2 -c").starts_with("`-c` would prevent the compiler"));
    }

    #[test]
    fn user_flags_come_last() {
        let own = ["-DNDEBUG".to_owned()];
        assert_eq!(
            gcc(&["-O3", "-UNDEBUG"], true).compile(true, &own),
            ["g++", "-DNDEBUG", "-fPIC", "-w", "-O3", "-UNDEBUG", "-flto"]
        );
    }

    #[test]
    fn lto_is_used_only_when_requested() {
        let plain = ["gcc", "-shared", "-fPIC", "-Wl,-z,defs", "-O2"];
        assert_eq!(gcc(&["-O2"], false).link(false, 2), plain);
        assert_eq!(gcc(&["-O2"], true).link(false, 2), [&plain[..], &["-flto=2"]].concat());
        let clang = Toolchain { is_clang: true, ..gcc(&[], true) };
        assert!(clang.link(false, 2).ends_with(&["-flto".into(), "-fuse-ld=lld".into()]));
        assert_eq!(clang.label(), "clang12");
        assert_eq!(gcc(&["-O3"], true).flags_text(), "-O3 -flto");
    }

    #[test]
    fn excerpt_starts_at_the_first_error() {
        let text = "In file included from a.h:1:\nb.h:2: note: x\nb.h:3:1: error: no\n   3 | n\n";
        let flag_error = ExitStatus::from_raw(256);
        assert_eq!(excerpt(text, flag_error), "b.h:3:1: error: no\n   3 | n");
        assert_eq!(excerpt("", ExitStatus::from_raw(9)), "signal: 9 (SIGKILL)");
        assert_eq!(excerpt(&"error\n".repeat(40), flag_error).lines().count(), ERROR_LINES_MAX + 1);
    }
}
