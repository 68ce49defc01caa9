//! Ways to log in that a release has, as remedies.

use crate::kind::Release;

/// Returns the ways to log in by a password that a server has and Assay speaks.
///
/// Source: [MySQL Manual], "Pluggable Authentication": `mysql_native_password` is off in 8.4 and
/// gone in 9.0; [MariaDB Docs], "Authentication Plugins": there is no `caching_sha2_password`.
pub(super) fn password_methods(version: &str) -> &'static str {
    if version.contains("MariaDB") {
        "a password by mysql_native_password, or ed25519 where its plugin is loaded (ALTER USER ... \
         IDENTIFIED VIA mysql_native_password USING PASSWORD(...))"
    } else if Release::find(version).is_some_and(|release| release < Release(8, 0, 0)) {
        "a password by mysql_native_password (ALTER USER ... IDENTIFIED WITH \
         mysql_native_password, then SET PASSWORD)"
    } else {
        "a password by caching_sha2_password (ALTER USER ... IDENTIFIED WITH \
         caching_sha2_password BY ...)"
    }
}

/// Returns the remedy for a refused login that depends on the server; `None` when it does not.
///
/// `lacking` is what the login had not and an account may require, with the remedy.
///
/// Source: MySQL's and MariaDB's error references: 1045 access denied, 1251 old client, 1524 plugin
/// not loaded, 1698 access denied whatever the password.
pub(super) fn remedy(
    number: u16,
    version: &str,
    lacking: Option<&str>,
    is_unix: bool,
) -> Option<String> {
    let methods = password_methods(version);
    match number {
        1045 => lacking.map(|lacking| {
            format!("give the dsn the right user and password; if the account requires {lacking}")
        }),
        1251 | 1524 => Some(format!("give the account {methods}")),
        1698 => {
            let how = match is_unix {
                true => "run assay as that account",
                false => {
                    "run assay as that account and connect by the server's unix socket \
                          (?socket=/path in the dsn)"
                }
            };
            Some(format!(
                "the user logs in as an account of the server's host, not by a password: {how}, \
                 or give the user {methods}"
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remedies_name_methods_that_the_server_has() {
        for (version, has, has_not) in [
            ("5.5.5-10.11.6-MariaDB-0+deb12u1", "ed25519", "caching_sha2_password"),
            ("11.8.2-MariaDB", "mysql_native_password", "caching_sha2_password"),
            ("9.7.0", "caching_sha2_password", "native"),
            ("8.4.3", "caching_sha2_password", "native"),
            ("5.7.44-log", "mysql_native_password", "sha2"),
            ("8.0.11-TiDB-v8.5.0", "caching_sha2_password", "native"),
        ] {
            for number in [1251, 1524, 1698] {
                let text = remedy(number, version, None, false).unwrap();
                assert!(text.contains(has) && !text.contains(has_not), "{version}: {text}");
            }
        }
        let text = remedy(1045, "8.0.31", Some("TLS, add ssl-mode=REQUIRED"), false).unwrap();
        assert!(text.ends_with("if the account requires TLS, add ssl-mode=REQUIRED"), "{text}");
        assert_eq!(remedy(1045, "8.0.31", None, false), None);
        let on_socket = remedy(1698, "11.8.2-MariaDB", None, true).unwrap();
        assert!(on_socket.contains("run assay as that account") && !on_socket.contains("?socket"));
    }
}
