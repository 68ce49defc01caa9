//! The Maven client: copies one artifact into a directory, and classifies its failures.

use std::path::{Path, PathBuf};
use std::process::Command;

use model::BuildRef;
use trust::Account;

use crate::error::{Result, SupplyError};
use crate::program::{first_error, without_addresses};
use crate::release::nearest;
use crate::source::{Client, client_failed};

/// The goal that copies one artifact; its version is pinned, the default one is of 2013.
const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy";

/// Timeout of a connection, ms: a wrong proxy fails within half a minute.
const CONNECT_TIMEOUT_MS: u32 = 20_000;

/// Timeout of a read, ms; Maven's default is half an hour.
const READ_TIMEOUT_MS: u32 = 120_000;

pub(super) struct Request<'a> {
    pub(super) client: &'a Client,
    pub(super) build: &'a BuildRef,
    pub(super) artifact: &'a str,
    /// Versions known to exist, oldest first.
    pub(super) known: &'static [&'static str],
}

impl Request<'_> {
    /// Copies the artifact into `dir` and returns the jar.
    pub(super) fn copy_artifact(&self, dir: &Path) -> Result<PathBuf> {
        std::fs::create_dir_all(dir).map_err(SupplyError::io("create", dir))?;
        match self.run_copy(dir, "--update-snapshots") {
            // Maven requests an artifact's description even when it has the artifact itself.
            Err(failed @ SupplyError::ClientFailed(_)) => {
                self.run_copy(dir, "--offline").map_err(|_not_had| failed)?;
            }
            other => other?,
        }
        self.client.file_in(self.build, dir, "jar")
    }

    /// Runs Maven's copy goal.
    ///
    /// `mode` is `--offline`, or `--update-snapshots`: retry artifacts that were missing before.
    fn run_copy(&self, dir: &Path, mode: &str) -> Result<()> {
        // Maven obeys a pom.xml where it runs, and a .mvn in the directories above.
        let mut command = self.client.command_in(Path::new("/"));
        command.args(["-q", "-B", "--strict-checksums", mode, GOAL]);
        command.args([
            format!("-Daether.connector.connectTimeout={CONNECT_TIMEOUT_MS}"),
            format!("-Daether.connector.requestTimeout={READ_TIMEOUT_MS}"),
            format!("-Dartifact={}", self.artifact),
            format!("-DoutputDirectory={}", dir.display()),
            "-Dmdep.useBaseVersion=true".to_owned(),
        ]);
        if Account::of_this_process().is_nameless() {
            give_home(&mut command);
        }
        let ended = self.client.run(self.build, &mut command)?;
        ended.map_err(|printed| classify_failure(self, &printed))
    }
}

/// Gives Java its home directory, which it reads from `/etc/passwd`: an account without a line
/// there has `?`.
fn give_home(command: &mut Command) {
    let variable = |wanted: &str| {
        let mut variables = command.get_envs().filter(|(name, _)| *name == wanted);
        variables.next()?.1?.to_str().map(str::to_owned)
    };
    // The script that starts Maven splits its options at blanks.
    let Some(home) = variable("HOME").filter(|home| !home.contains(char::is_whitespace)) else {
        return;
    };
    let options = variable("MAVEN_OPTS").unwrap_or_default();
    command.env("MAVEN_OPTS", format!("-Duser.home={home} {options}").trim_end());
}

/// Returns the error for Maven's output.
fn classify_failure(request: &Request<'_>, text: &str) -> SupplyError {
    let text = without_escapes(text);
    let line = first_error(&text, "[ERROR]");
    let not_found = ["Could not find artifact ", "was not found in "];
    // A missing plugin means an incomplete repository, not a wrong version.
    let is_own = request.artifact.split(':').nth(1).is_some_and(|name| line.contains(name));
    if is_own && not_found.iter().any(|text| line.contains(text)) {
        let (build, nearest) = (request.build, nearest(request.build, request.known));
        let text = format!("{build} does not exist: the nearest known is {nearest}");
        return SupplyError::Unpublished(text);
    }
    client_failed(request.build, "Maven", &without_addresses(line))
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

#[cfg(test)]
mod tests {
    use model::BuildRef;

    use super::*;

    fn request<'a>(client: &'a Client, build: &'a BuildRef) -> Request<'a> {
        Request {
            client,
            build,
            artifact: "org.rocksdb:rocksdbjni:9.10.1",
            known: &["9.9.9", "9.10.0"],
        }
    }

    /// Returns the text of the error for an error line, as Maven 3.8 decorates it.
    fn error_for(line: &str) -> String {
        let build = "rocksdb@9.10.1".parse().unwrap();
        let client = Client::new("mvn", "Maven", "maven");
        let request = request(&client, &build);
        let text = format!(
            "\x1b[0m\x1b[0m[\x1b[1;31mERROR\x1b[m] {line} -> [Help 1]\n[ERROR] \n[ERROR] To see \
             the full stack trace of the errors, re-run Maven with the -e switch.\n"
        );
        classify_failure(&request, &text).to_string()
    }

    const GOAL_FAILED: &str = "Failed to execute goal \
                               org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy \
                               (default-cli) on project standalone-pom: Unable to find/resolve \
                               artifact. ";
    const NO_PLUGIN: &str = "Plugin org.apache.maven.plugins:maven-dependency-plugin:3.6.1 or one \
                             of its dependencies could not be resolved: Failed to read artifact \
                             descriptor for \
                             org.apache.maven.plugins:maven-dependency-plugin:jar:3.6.1: Could not \
                             transfer artifact \
                             org.apache.maven.plugins:maven-dependency-plugin:pom:3.6.1 from/to r \
                             (https://repo.example/x): transfer failed for \
                             https://repo.example/x/p.pom: ";

    #[test]
    fn unpublished_version_error_names_the_nearest() {
        for text in [
            "Could not find artifact org.rocksdb:rocksdbjni:jar:9.10.1 in r (https://repo.example)",
            "org.rocksdb:rocksdbjni:jar:9.10.1 was not found in https://repo.example during a \
             previous attempt.",
        ] {
            assert_eq!(
                error_for(&format!("{GOAL_FAILED}{text}")),
                "rocksdb@9.10.1 does not exist: the nearest known is rocksdb@9.10.0"
            );
        }
    }

    #[test]
    fn network_errors_omit_host_names() {
        for (text, reason) in [
            ("Unknown host repo.example: Name or service not known", "Unknown host (host)"),
            ("Connect to repo.example:443 [/192.0.2.1] failed: Connection refused", "refused"),
            ("status code: 503, reason phrase: Service Unavailable (503)", "status code: 503"),
        ] {
            let text = error_for(&format!("{NO_PLUGIN}{text}"));
            assert!(text.contains(reason), "{text}");
            assert!(text.contains("proxy") && !text.contains("example"), "{text}");
        }
    }

    #[test]
    fn other_failures_quote_maven_without_addresses() {
        let text = error_for(
            "Error resolving version at https://repo.example:8443/x (repo.example refused)",
        );
        assert!(text.contains("Error resolving version at (address) ((host) refused)"), "{text}");
    }

    #[test]
    fn java_gets_the_home_of_an_account_without_a_name() {
        let mut command = Command::new("mvn");
        command.env_clear();
        give_home(&mut command);
        command.env("HOME", "/h h");
        give_home(&mut command);
        assert_eq!(command.get_envs().count(), 1);
        command.env("HOME", "/h").env("MAVEN_OPTS", "-Xmx64m");
        give_home(&mut command);
        let options = command.get_envs().find(|(name, _)| *name == "MAVEN_OPTS").unwrap().1;
        assert_eq!(options.unwrap(), "-Duser.home=/h -Xmx64m");
    }

    #[test]
    fn launcher_failure_is_quoted() {
        let build = "rocksdb@9.10.0".parse().unwrap();
        let client = Client::new("mvn", "Maven", "maven");
        let request = request(&client, &build);
        let text = "\nThe JAVA_HOME environment variable is not defined correctly,\n";
        let text = classify_failure(&request, text).to_string();
        assert!(text.contains("JAVA_HOME environment variable is not defined"), "{text}");
    }
}
