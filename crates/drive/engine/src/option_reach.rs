//! What an engine's options reach beyond its data: paths, libraries, commands, hosts.
//!
//! Each driver declares it for its engine, so that the options of a stranger's experiment can be
//! shown before they are used. An option that the driver does not list counts as one that may
//! reach anything.

/// The options of an engine, by what they reach. A list has its names with white space between.
#[derive(Debug, Clone, Copy)]
pub struct OptionReach {
    /// Returns a name as the lists have it: an engine may know several spellings.
    pub canonical: fn(&str) -> String,
    /// Options that name files and directories.
    pub paths: &'static str,
    /// Options that name files of the data directory, unless their value has a slash.
    pub files: &'static [&'static str],
    /// Options that load libraries, or name an object that the engine creates.
    pub libraries: &'static str,
    /// Options that run a command, or statements of their own.
    pub commands: &'static str,
    /// Options that name hosts, ports and sockets.
    pub hosts: &'static str,
    /// Options that reach nothing: sizes, counts, switches, names of algorithms; by their prefix.
    pub plain: &'static [(&'static str, &'static str)],
    /// Options whose value is a string of options, `a=1;b={c=2}`, each with the names in it that
    /// reach nothing.
    pub strings: &'static [(&'static str, &'static str)],
    /// Whether every other option reaches nothing: the driver refuses those it does not know.
    pub is_closed: bool,
}

/// What an option reaches; in this order it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// A command.
    Command,
    /// Code that is loaded.
    Library,
    /// A host.
    Host,
    /// Files or directories.
    Path,
    /// Anything: its value has signs that may end it and begin another option.
    Value,
    /// Anything: no list has the option.
    Unknown,
}

impl Reach {
    /// Returns it as the end of a sentence about the option.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Path => "names a path",
            Self::Library => "loads code",
            Self::Command => "runs a command",
            Self::Host => "names a host",
            Self::Unknown => "is not known to be harmless",
            Self::Value => "has characters in its value that may set other options",
        }
    }
}

impl OptionReach {
    /// An engine of which no option is known.
    pub const UNKNOWN: Self = Self {
        canonical: str::to_owned,
        paths: "",
        files: &[],
        libraries: "",
        commands: "",
        hosts: "",
        plain: &[],
        strings: &[],
        is_closed: false,
    };
    /// An engine whose driver refuses options it does not know; none of the others reaches
    /// anything.
    pub const CLOSED: Self = Self { is_closed: true, ..Self::UNKNOWN };

    /// Returns what an option reaches; `None` when that is nothing.
    pub fn of(&self, name: &str, value: &str) -> Option<Reach> {
        let known = (self.canonical)(name);
        let is_in = |list: &str| has(list, &known);
        let string = self.strings.iter().find(|(name, _)| *name == known);
        let is_file = self.files.contains(&&*known);
        let is_plain = |(prefix, names): &(&str, &str)| {
            known.strip_prefix(prefix).is_some_and(|rest| has(names, rest))
        };
        match () {
            () if is_in(self.paths) || (is_file && value.contains('/')) => Some(Reach::Path),
            () if is_in(self.libraries) => Some(Reach::Library),
            () if is_in(self.commands) => Some(Reach::Command),
            () if is_in(self.hosts) => Some(Reach::Host),
            () if string.is_some_and(|(_, names)| is_plain_string(value, names)) => None,
            () if value.contains(is_structural) => Some(Reach::Value),
            () if self.is_closed || is_file || self.plain.iter().any(is_plain) => None,
            () => Some(Reach::Unknown),
        }
    }
}

/// Returns whether a list has a name.
fn has(list: &str, name: &str) -> bool {
    list.split_whitespace().any(|one| one == name)
}

/// Returns whether every option in a string of options, in braces too, is one of these names.
fn is_plain_string(value: &str, names: &str) -> bool {
    let mut options = value.split([';', '{', '}']).map(str::trim).filter(|it| !it.is_empty());
    options.all(|option| {
        let option = option.split_once('=');
        option
            .is_some_and(|(name, value)| has(names, name.trim()) && !value.contains(is_structural))
    })
}

/// Returns whether a sign can end a value in some engine's text of options.
fn is_structural(sign: char) -> bool {
    sign.is_control() || matches!(sign, ';' | '{' | '}' | '(' | ')' | '"' | '\'' | '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    const REACH: OptionReach = OptionReach {
        canonical: str::to_ascii_lowercase,
        paths: "wal_dir",
        files: &["log_bin"],
        commands: "archive_command",
        plain: &[("", "size\n    count"), ("table.", "block_size")],
        strings: &[("cf_options", "size table block")],
        ..OptionReach::UNKNOWN
    };

    #[test]
    fn an_option_that_no_list_has_may_reach_anything() {
        for (name, value, reach) in [
            ("wal_dir", "w", Some(Reach::Path)),
            ("WAL_DIR", "w", Some(Reach::Path)),
            ("log_bin", "binlog", None),
            ("log_bin", "/x/binlog", Some(Reach::Path)),
            ("archive_command", "true", Some(Reach::Command)),
            ("size", "64MB", None),
            ("table.block_size", "-1", None),
            ("block_size", "1", Some(Reach::Unknown)),
            ("size;wal_dir", "1", Some(Reach::Unknown)),
            ("size", "{};wal_dir=/x", Some(Reach::Value)),
            ("cf_options", "size=8m;table={block=bloom:10:false; size=1};", None),
            ("cf_options", "size=8m;table={block=1};env=x", Some(Reach::Value)),
            ("cf_options", "size=8m;table={x}", Some(Reach::Value)),
            ("cf_options", "size=\"8m", Some(Reach::Value)),
            ("size", "1'\narchive_command = x", Some(Reach::Value)),
        ] {
            assert_eq!(REACH.of(name, value), reach, "{name} = {value}");
            assert!(OptionReach::UNKNOWN.of(name, value).is_some());
        }
        assert_eq!(OptionReach::CLOSED.of("size", "1"), None);
    }
}
