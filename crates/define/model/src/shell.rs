//! Command lines that users paste into a shell.
//!
//! Names come from files of strangers: each is one word, whatever signs it has.

use std::fmt;
use std::sync::OnceLock;

use crate::visible::is_obeyed;

/// Returns text as one word of a shell; a plain one stays as it is.
///
/// Source: POSIX.1-2024, Shell Command Language, 2.2.2, single quotes, and 2.2.4, dollar-single
/// quotes, which hold what a terminal would obey.
pub fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=:,@%+".contains(c);
    // Some shells replace `=name` by the path of a program.
    if !text.is_empty() && !text.starts_with('=') && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if !text.contains(is_obeyed) {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    let escaped = |c: char| match c {
        '\'' | '\\' => format!("\\{c}"),
        _ if is_obeyed(c) => {
            c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\{byte:03o}")).collect()
        }
        _ => c.to_string(),
    };
    format!("$'{}'", text.chars().map(escaped).collect::<String>())
}

/// Options that the user gave to every command, such as another directory of results.
///
/// Without them a pasted command would find other experiments, or none.
static CARRIED: OnceLock<String> = OnceLock::new();

/// Sets the options that every command for pasting carries; only the first call counts.
pub fn carry_options<'a>(options: impl Iterator<Item = (&'a str, String)>) {
    let none = ShellCommand::of("");
    let all = options.fold(none, |command, (option, value)| command.option(option, &value));
    CARRIED.get_or_init(|| all.options);
}

/// A command of Assay for pasting, with names from data.
#[derive(Debug, Clone)]
pub struct ShellCommand {
    start: String,
    operands: Vec<String>,
    options: String,
}

impl ShellCommand {
    /// Begins a command with words that no data are part of: `assay lint`.
    pub fn of(start: &str) -> Self {
        Self { start: start.to_owned(), operands: Vec::new(), options: String::new() }
    }

    /// Returns the command with further operands.
    pub fn operands(mut self, texts: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        self.operands.extend(texts.into_iter().map(|text| text.as_ref().to_owned()));
        self
    }

    /// Returns the command with an option, such as `--costs`.
    pub fn flag(mut self, flag: &str) -> Self {
        self.options += &format!(" {flag}");
        self
    }

    /// Returns the command with an option and its value.
    pub fn option(mut self, option: &str, value: &str) -> Self {
        let separator = if value.starts_with('-') { '=' } else { ' ' };
        self.options += &format!(" {option}{separator}{}", shell_word(value));
        self
    }
}

impl fmt::Display for ShellCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { start, operands, options } = self;
        let carried = CARRIED.get().map_or("", String::as_str);
        let text: String = operands.iter().map(|name| format!(" {}", shell_word(name))).collect();
        // An operand with a dash would be an option.
        match operands.iter().any(|text| text.starts_with('-')) {
            true => write!(f, "{start}{options}{carried} --{text}"),
            false => write!(f, "{start}{text}{options}{carried}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_quoted_unless_it_is_plain() {
        for (text, word) in [
            ("a-b_c./=:,@%+1", "a-b_c./=:,@%+1"),
            ("", "''"),
            ("it's", "'it'\\''s'"),
            ("x; touch PWNED", "'x; touch PWNED'"),
            ("$(reboot)`id`", "'$(reboot)`id`'"),
            ("=ls", "'=ls'"),
            ("~", "'~'"),
            ("a\nb'\\\u{9b}", "$'a\\012b\\'\\\\\\302\\233'"),
        ] {
            assert_eq!(shell_word(text), word);
        }
    }

    #[test]
    fn names_are_operands_and_no_options() {
        let command = |name| ShellCommand::of("assay explain").operands(["a", name]);
        let one = command("b").option("--in", "x; y").flag("--costs");
        assert_eq!(one.to_string(), "assay explain a b --in 'x; y' --costs");
        let dashed = command("-rf").option("--in", "--costs");
        assert_eq!(dashed.to_string(), "assay explain --in=--costs -- a -rf");
    }

    /// Goal: a shell sees the words that were given. Method: a shell prints them.
    #[test]
    fn a_shell_reads_back_what_was_quoted() {
        let texts =
            ["x; touch PWNED", "-rf", "$(id)", "it's", "a\nb", "\u{1b}[2J\\", "*", "~", "'"];
        let script = format!("printf '%s\\0' {}", texts.map(shell_word).join(" "));
        let Ok(output) = std::process::Command::new("bash").args(["-c", &script]).output() else {
            println!("skipped: no bash");
            return;
        };
        let found = String::from_utf8(output.stdout).unwrap();
        assert_eq!(found.split_terminator('\0').collect::<Vec<_>>(), texts);
    }
}
