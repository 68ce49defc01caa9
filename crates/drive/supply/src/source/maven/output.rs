//! Understands what the Maven client says when it fails.

use super::client::Request;
use crate::error::SupplyError;

/// Longest excerpt of Maven's words in an error.
const SUMMARY_CHARS: usize = 300;

/// Returns the error Maven's output stands for.
pub(super) fn refusal(request: &Request<'_>, output: &str) -> SupplyError {
    let output = without_escapes(output);
    let line = error_line(&output);
    let not_found = ["Could not find artifact ", "was not found in "];
    // A plugin that is not found means a strange repository, not a wrong version.
    if request.is_meant_by(line) && not_found.iter().any(|words| line.contains(words)) {
        return request.unpublished();
    }
    match network_reason(line) {
        Some(reason) => SupplyError::Unreachable { build: request.build.to_string(), reason },
        None => request.failed(without_addresses(line)),
    }
}

/// Returns the first error line, or the first line that says anything.
fn error_line(output: &str) -> &str {
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.clone().next().unwrap_or("nothing");
    lines.find_map(|line| line.strip_prefix("[ERROR]")).unwrap_or(first).trim()
}

/// Returns what kept Maven from its repository, or `None` when something else went wrong.
fn network_reason(line: &str) -> Option<String> {
    const REASONS: &[(&str, &str)] = &[
        ("offline mode", "Maven is in offline mode"),
        ("Unknown host", "its host name was not resolved"),
        ("Name or service not known", "its host name was not resolved"),
        ("name resolution", "its host name was not resolved"),
        ("Connection refused", "connection refused"),
        ("Network is unreachable", "the network is unreachable"),
        ("No route to host", "no route to it"),
        ("PKIX", "its certificate is not trusted"),
        ("imed out", "no answer in time"),
        ("Connection reset", "the connection was reset"),
        ("status code", "it answered with an error"),
        ("Could not transfer", "the transfer failed"),
    ];
    let (_, reason) = REASONS.iter().find(|(words, _)| line.contains(words))?;
    let status = line.split_once("status code: ").map(|(_, rest)| rest);
    let digits = status.map(|rest| rest.chars().take_while(char::is_ascii_digit).collect());
    match digits {
        Some::<String>(code) if !code.is_empty() => Some(format!("{reason}, HTTP status {code}")),
        _ => Some((*reason).to_owned()),
    }
}

/// Returns the text without terminal escape sequences.
fn without_escapes(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\x1b' {
            clean.push(c);
        } else if chars.next() == Some('[') {
            // The sequence ends with its first letter.
            chars.by_ref().find(|c| ('@'..='~').contains(c));
        }
    }
    clean
}

/// Returns the line without addresses and the hosts they name, cut to a readable length.
pub(in crate::source) fn without_addresses(line: &str) -> String {
    let is_end = |c: char| c.is_whitespace() || matches!(c, ')' | ',' | '"' | '\'' | ']');
    let mut clean = line.to_owned();
    while let Some(scheme) = clean.find("://") {
        let start =
            clean[..scheme].rfind(|c: char| !c.is_ascii_alphanumeric()).map_or(0, |i| i + 1);
        let rest = &clean[scheme + 3..];
        let end = scheme + 3 + rest.find(is_end).unwrap_or(rest.len());
        let host: String =
            rest.chars().take_while(|&c| !is_end(c) && !matches!(c, '/' | ':')).collect();
        clean.replace_range(start..end, "(address)");
        if !host.is_empty() {
            clean = clean.replace(&host, "(host)");
        }
    }
    match clean.char_indices().nth(SUMMARY_CHARS) {
        Some((cut, _)) => format!("{}...", &clean[..cut]),
        None => clean,
    }
}

#[cfg(test)]
mod tests {
    use model::BuildRef;

    use super::*;

    fn request(build: &BuildRef) -> Request<'_> {
        Request {
            build,
            artifact: "org.rocksdb:rocksdbjni:9.10.1",
            known: &["9.9.9", "9.10.0"],
            own: String::new(),
        }
    }

    /// Returns the text of the error for an error line, as Maven 3.8 decorates it.
    fn told(line: &str) -> String {
        let build = "rocksdb@9.10.1".parse().unwrap();
        let request = request(&build);
        let output = format!(
            "\x1b[0m\x1b[0m[\x1b[1;31mERROR\x1b[m] {line} -> [Help 1]\n[ERROR] \n[ERROR] To see \
             the full stack trace of the errors, re-run Maven with the -e switch.\n"
        );
        refusal(&request, &output).to_string()
    }

    const GOAL_FAILED: &str = "Failed to execute goal \
        org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy (default-cli) on project \
        standalone-pom: Unable to find/resolve artifact. ";
    const NO_PLUGIN: &str = "Plugin org.apache.maven.plugins:maven-dependency-plugin:3.6.1 or one \
        of its dependencies could not be resolved: Failed to read artifact descriptor for \
        org.apache.maven.plugins:maven-dependency-plugin:jar:3.6.1: Could not transfer artifact \
        org.apache.maven.plugins:maven-dependency-plugin:pom:3.6.1 from/to r \
        (https://repo.example/x): transfer failed for https://repo.example/x/p.pom: ";

    #[test]
    fn a_version_that_was_never_published_names_the_nearest() {
        for words in [
            "Could not find artifact org.rocksdb:rocksdbjni:jar:9.10.1 in r (https://repo.example)",
            "org.rocksdb:rocksdbjni:jar:9.10.1 was not found in https://repo.example during a \
             previous attempt.",
        ] {
            assert_eq!(
                told(&format!("{GOAL_FAILED}{words}")),
                "rocksdb@9.10.1 does not exist: the nearest known release is rocksdb@9.10.0"
            );
        }
    }

    #[test]
    fn a_network_that_is_down_is_told_without_host_names() {
        for (words, reason) in [
            ("Unknown host repo.example: Name or service not known", "its host name was not"),
            ("Connect to repo.example:443 [/192.0.2.1] failed: Connection refused", "refused"),
            ("Connect to repo.example:443 failed: connect timed out", "no answer in time"),
            ("status code: 503, reason phrase: Service Unavailable (503)", "HTTP status 503"),
        ] {
            let text = told(&format!("{NO_PLUGIN}{words}"));
            assert!(text.contains(reason), "{text}");
            assert!(text.contains("proxy") && !text.contains("example"), "{text}");
        }
        let offline = "Cannot access r (https://repo.example) in offline mode and the artifact \
            org.rocksdb:rocksdbjni:jar:9.10.1 has not been downloaded from it before.";
        assert!(told(&format!("{GOAL_FAILED}{offline}")).contains("offline mode"));
    }

    #[test]
    fn any_other_failure_quotes_maven_without_addresses() {
        let text =
            told("Error resolving version at https://repo.example:8443/x (repo.example said no)");
        assert!(text.contains("Error resolving version at (address) ((host) said no)"), "{text}");
        assert!(text.contains("mvn org.apache.maven.plugins"), "{text}");
    }

    #[test]
    fn a_launcher_that_fails_before_maven_is_quoted() {
        let build = "rocksdb@9.10.0".parse().unwrap();
        let request = request(&build);
        let output = "\nThe JAVA_HOME environment variable is not defined correctly,\n";
        let text = refusal(&request, output).to_string();
        assert!(text.contains("JAVA_HOME environment variable is not defined"), "{text}");
    }

    #[test]
    fn a_long_line_is_cut() {
        let long = without_addresses(&"x".repeat(10 * SUMMARY_CHARS));
        assert_eq!(long.len(), SUMMARY_CHARS + 3);
    }
}
