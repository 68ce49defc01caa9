//! Server flavour and version.

/// MySQL or MariaDB.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Oracle's MySQL and compatible servers.
    Mysql,
    /// MariaDB's.
    Mariadb,
}

model::names!(Flavour, "an engine": Mysql "mysql", Mariadb "mariadb");

/// A server's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Release(pub(crate) u16, pub(crate) u16, pub(crate) u16);

impl Release {
    /// Returns the first version in `text`; `None` when there is none.
    pub(crate) fn find(text: &str) -> Option<Self> {
        text.split(|c: char| c.is_whitespace()).find_map(Self::parse)
    }

    /// Parses `8.0.31` with any suffix.
    fn parse(word: &str) -> Option<Self> {
        let word = word.strip_prefix("5.5.5-").unwrap_or(word);
        let end = word.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(word.len());
        let mut numbers = word[..end].split('.').map(str::parse);
        match (numbers.next(), numbers.next(), numbers.next()) {
            (Some(Ok(a)), Some(Ok(b)), Some(Ok(c))) => Some(Self(a, b, c)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_version_texts() {
        for (text, release) in [
            ("/x/mysqld  Ver 8.0.31 for Linux on x86_64 (MySQL Community)", Release(8, 0, 31)),
            ("mysqld  Ver 5.6.24 for linux-glibc2.5 on x86_64", Release(5, 6, 24)),
            ("mariadbd  Ver 10.11.19-MariaDB-0+deb12u1 for debian", Release(10, 11, 19)),
            ("5.5.5-10.11.6-MariaDB", Release(10, 11, 6)),
        ] {
            assert_eq!(Release::find(text), Some(release), "{text}");
        }
        assert_eq!(Release::find("mysqld: error while loading libaio.so.1"), None);
        assert!(Release(5, 7, 22) < Release(8, 0, 0));
    }
}
