//! The C compiler of shims.

use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Output};

use crate::error::SupplyError;

/// A C compiler, as it is called in a directory.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Compiler<'a> {
    /// The command, with arguments of its own: `ccache gcc`.
    pub(crate) command: &'a str,
    /// Working directory; its messages name files relative to this.
    pub(crate) dir: &'a Path,
}

impl Compiler<'_> {
    /// Runs it; fails only when it cannot be started.
    pub(crate) fn run<I: IntoIterator<Item: AsRef<std::ffi::OsStr>>>(
        &self,
        arguments: I,
    ) -> Result<Output, SupplyError> {
        let mut output = self.command.split_whitespace();
        let program = output.next().unwrap_or_default();
        let mut command = Command::new(program);
        // Its messages are parsed, so they must be untranslated.
        command.args(output).args(arguments).current_dir(self.dir).env("LC_ALL", "C");
        command.output().map_err(|error| {
            if error.kind() == ErrorKind::NotFound {
                return SupplyError::NoShimCompiler { command: program.to_owned() };
            }
            SupplyError::io("run", Path::new(program))(error)
        })
    }

    /// Returns the first line of its `--version`.
    pub(crate) fn version(&self) -> Result<String, SupplyError> {
        let errors = String::from_utf8_lossy(&self.run(["--version"])?.stdout).into_owned();
        Ok(errors.lines().next().unwrap_or_default().trim().to_owned())
    }
}

/// Returns the functions a linker reports as undefined, without duplicates.
///
/// GNU ld and gold print "undefined reference to `f'", lld "undefined symbol: f".
pub(crate) fn missing_functions(output: &Output) -> Vec<String> {
    let errors = String::from_utf8_lossy(&output.stderr);
    let mut missing: Vec<String> = Vec::new();
    for line in errors.lines() {
        let found = ["undefined reference to ", "undefined symbol: "]
            .iter()
            .find_map(|output| line.split_once(output));
        let Some((_, rest)) = found else { continue };
        let name =
            rest.trim_matches(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
        if !missing.iter().any(|known| known == name) {
            missing.push(name.to_owned());
        }
    }
    missing
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;
    use std::process::ExitStatus;

    use super::*;

    fn errors(text: &str) -> Output {
        Output { status: ExitStatus::from_raw(256), stdout: vec![], stderr: text.into() }
    }

    #[test]
    fn missing_functions_are_listed_once() {
        let gnu = "/usr/bin/ld: a.o: in function `x':\na.c:(.text+0x3): undefined reference to \
                   `f'\na.c:(.text+0x9): undefined reference to `f'\nb.c: undefined reference to \
                   'g_2'\n";
        assert_eq!(missing_functions(&errors(gnu)), ["f", "g_2"]);
        let lld = "ld.lld: error: undefined symbol: f\n>>> referenced by a.c\n";
        assert_eq!(missing_functions(&errors(lld)), ["f"]);
        assert!(missing_functions(&errors("cannot find -lx")).is_empty());
    }

    #[test]
    fn absent_compiler_error_names_the_package() {
        let compiler = Compiler { command: "cc-that-is-not-installed", dir: Path::new("/") };
        let text = compiler.version().unwrap_err().to_string();
        assert!(text.contains("`cc-that-is-not-installed`") && text.contains("apt install gcc"));
    }
}
