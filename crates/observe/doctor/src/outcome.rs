//! What a check found, before its texts are added.

use model::record::Severity;
use model::{CheckState, MachineRemedy, Privilege, shell_word};

/// Outcome of one check.
#[derive(Debug, Clone)]
pub(crate) struct Outcome {
    pub(crate) state: CheckState,
    pub(crate) value: Option<String>,
    pub(crate) evidence: String,
    /// Instead of the check's own.
    pub(crate) severity: Option<Severity>,
    pub(crate) remedy: MachineRemedy,
}

impl Outcome {
    fn new(state: CheckState, value: Option<String>, evidence: String) -> Self {
        Self { state, value, evidence, severity: None, remedy: MachineRemedy::default() }
    }

    /// Returns a value that is as it should be.
    pub(crate) fn fine(value: impl Into<String>) -> Self {
        Self::new(CheckState::Fine, Some(value.into()), String::new())
    }

    /// Returns a value that can spoil results, with its evidence.
    pub(crate) fn finding(value: impl Into<String>, evidence: impl Into<String>) -> Self {
        Self::new(CheckState::Finding, Some(value.into()), evidence.into())
    }

    /// Returns that nothing can be read, with the reason.
    pub(crate) fn unknown(reason: impl Into<String>) -> Self {
        Self::new(CheckState::Unknown, None, reason.into())
    }

    /// Returns that this machine has no such thing.
    pub(crate) fn absent(reason: impl Into<String>) -> Self {
        Self::new(CheckState::NotApplicable, None, reason.into())
    }

    /// Returns it with a line that fixes it.
    pub(crate) fn fix(mut self, line: impl Into<String>) -> Self {
        self.remedy.fix.push(line.into());
        self
    }

    /// Returns it with a line that undoes the change.
    pub(crate) fn undo(mut self, line: impl Into<String>) -> Self {
        self.remedy.undo.push(line.into());
        self
    }

    /// Returns it with the lines that write a value into a file, and the old one.
    pub(crate) fn write(self, path: &str, wanted: &str, old: &str) -> Self {
        let line = |value: &str| format!("echo {} > {}", shell_word(value), shell_word(path));
        self.fix(line(wanted)).undo(line(old))
    }

    /// Returns it with a kernel setting's wanted value and the old one.
    pub(crate) fn sysctl(self, name: &str, wanted: &str, old: &str) -> Self {
        let line = |value: &str| format!("sysctl -w {name}={}", shell_word(value));
        self.fix(line(wanted)).undo(line(old))
    }

    /// Returns it with a kernel parameter to add at boot.
    pub(crate) fn boot_with(self, parameter: &str) -> Self {
        let place = "GRUB_CMDLINE_LINUX_DEFAULT of /etc/default/grub, update-grub, reboot";
        self.fix(format!("# add {parameter} to {place}"))
            .undo(format!("# remove {parameter} from {place}"))
    }

    /// Returns it with this severity.
    pub(crate) fn severity(self, severity: Severity) -> Self {
        Self { severity: Some(severity), ..self }
    }
}

/// Returns the message of a program, with the privilege that it needs where one is missing.
pub(crate) fn with_privilege(message: String, privilege: Privilege) -> String {
    let is_refused = message.contains("ermission denied") || message.contains("not permitted");
    if is_refused { format!("{message}: it {privilege}") } else { message }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undo_restores_the_old_value() {
        let found = Outcome::finding("1", "on").write("/sys/x", "0", "1");
        assert_eq!(found.remedy.fix, ["echo 0 > /sys/x"]);
        assert_eq!(found.remedy.undo, ["echo 1 > /sys/x"]);
    }
}
