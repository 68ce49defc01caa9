//! Options that select the machines of an experiment.

use std::path::Path;

use fleet::{Hosts, Slurm, Transport, read_hosts};
use miette::{IntoDiagnostic as _, Result, WrapErr as _, miette};
use model::ShellCommand;
use reader::error::Source;
use serde::{Deserialize, Serialize};

use crate::diagnostic::IntoReport as _;

/// Heading of the options.
const HEADING: &str = "Other machines";
/// Word for Slurm in `--on`.
pub(super) const SLURM: &str = "slurm";

/// Checks a class of machines, which is written into a job and shown on a terminal.
pub(super) fn check_class(constraint: Option<&str>) -> Result<()> {
    let Some(class) = constraint else { return Ok(()) };
    if class.is_empty() {
        return Err(miette!(help = "name a feature of nodes", "--constraint is empty"));
    }
    match class.chars().any(model::is_obeyed) {
        true => Err(miette!(
            help = "name a feature of nodes, in printable characters",
            "--constraint `{class}` has a character that a terminal obeys"
        )),
        false => Ok(()),
    }
}

/// Machines that run the blocks of an experiment.
#[derive(Debug, Clone, Default, Serialize, Deserialize, clap::Args)]
pub(super) struct FleetArgs {
    /// Run each block on one of several machines: slurm, or a file of hosts
    #[arg(long, value_name = "TARGET", help_heading = HEADING)]
    pub(super) on: Option<String>,
    /// Run only on machines of this class: a constraint of Slurm
    #[arg(long, value_name = "CLASS", help_heading = HEADING)]
    pub(super) constraint: Option<String>,
    /// Largest number of machines at the same time [default: one for each block]
    #[arg(long, value_name = "N", help_heading = HEADING)]
    pub(super) machines: Option<u32>,
    /// Send blocks through srun: the machines of Slurm share no directory with this host
    #[arg(long, help_heading = HEADING)]
    #[serde(default)]
    pub(super) stream: bool,
}

/// Where blocks run.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// Machines that Slurm allocates, of a class if one is named.
    Slurm { constraint: Option<String> },
    /// Machines of a file of hosts.
    Hosts(Hosts),
    /// The machine of the server of an experiment that names its machines.
    Server(Transport),
}

impl FleetArgs {
    /// Returns the options with the whole path of the file of hosts.
    pub(super) fn absolute(&self) -> Self {
        let on = self.on.as_ref().filter(|on| *on != SLURM);
        let path = on.and_then(|on| std::path::absolute(on).ok());
        let path = path.and_then(|path| path.into_os_string().into_string().ok());
        Self { on: path.or_else(|| self.on.clone()), ..self.clone() }
    }

    /// Returns these options, completed by the options of an earlier command.
    pub(super) fn or(&self, mut earlier: Self) -> Self {
        if self.on.as_deref().is_some_and(|on| on != SLURM) {
            // They apply to Slurm, and hosts are named now.
            (earlier.constraint, earlier.stream) = (None, false);
        }
        Self {
            on: self.on.clone().or(earlier.on),
            constraint: self.constraint.clone().or(earlier.constraint),
            machines: self.machines.or(earlier.machines),
            stream: self.stream || earlier.stream,
        }
    }

    /// Adds the option that names the machines to a command.
    pub(super) fn carried(&self, command: ShellCommand) -> ShellCommand {
        match &self.on {
            Some(on) => command.option("--on", on),
            None => command,
        }
    }

    /// Returns whether blocks go on without this process.
    pub(super) fn survives_submitter(&self) -> bool {
        self.on.as_deref() == Some(SLURM) && !self.stream
    }

    /// Checks that blocks can be sent to their machines from this host.
    pub(super) fn check(&self) -> Result<()> {
        match self.target()? {
            None => Ok(()),
            Some(Target::Slurm { constraint }) => {
                Slurm::find().and_then(|it| it.check(constraint.as_deref())).into_report()
            }
            Some(Target::Hosts(_) | Target::Server(_)) => Transport::check_ssh().into_report(),
        }
    }

    /// Returns where blocks run; `None` for this machine.
    ///
    /// # Errors
    /// When the file of hosts cannot be read, or an option does not apply.
    pub(super) fn target(&self) -> Result<Option<Target>> {
        let Some(on) = &self.on else { return self.without_target() };
        if self.machines == Some(0) {
            return Err(miette!(
                help = "write --machines 1 or more",
                "no machine could run a block"
            ));
        }
        let constraint = self.constraint.clone();
        check_class(constraint.as_deref())?;
        if on == SLURM {
            return Ok(Some(Target::Slurm { constraint }));
        }
        if constraint.is_some() {
            return Err(miette!(
                help = "write a file with the hosts of the class only",
                "--constraint applies to Slurm, and --on names the file of hosts {on}"
            ));
        }
        if self.stream {
            return Err(miette!(
                help = "leave out --stream: hosts need no directory in common",
                "--stream applies to Slurm, and --on names the file of hosts {on}"
            ));
        }
        let text = std::fs::read_to_string(Path::new(on)).into_diagnostic();
        let text = text.wrap_err_with(|| {
            format!("cannot read the file of hosts {on} (--on takes slurm or such a file)")
        })?;
        let mut hosts = read_hosts(&Source::new(on, text))?;
        // The file may be named from any directory.
        let dir = Path::new(on).parent().unwrap_or(Path::new(""));
        hosts.ssh_config = hosts.ssh_config.map(|config| dir.join(config));
        if let Some(config) = hosts.ssh_config.as_ref().filter(|config| !config.is_file()) {
            return Err(miette!(
                help =
                    "name a configuration of ssh, or leave out `ssh_config` to use the default one",
                "the file of hosts {on} names the file {}, which is not there",
                config.display()
            ));
        }
        Ok(Some(Target::Hosts(hosts)))
    }

    /// Refuses options of machines where none are named.
    fn without_target(&self) -> Result<Option<Target>> {
        let given = [
            ("--constraint", self.constraint.is_some()),
            ("--machines", self.machines.is_some()),
            ("--stream", self.stream),
        ];
        match given.iter().find(|(_, is_given)| *is_given) {
            None => Ok(None),
            Some((option, _)) => Err(miette!(
                help = "name the machines: --on slurm, or --on with a file of hosts",
                "{option} needs --on"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_slurm_do_not_follow_to_hosts() {
        let slurm = FleetArgs {
            on: Some(SLURM.to_owned()),
            constraint: Some("bench".to_owned()),
            machines: Some(2),
            stream: true,
        };
        let again = FleetArgs::default().or(slurm.clone());
        assert_eq!((again.constraint.as_deref(), again.stream), (Some("bench"), true));
        let hosts = FleetArgs { on: Some("hosts.toml".to_owned()), ..FleetArgs::default() };
        let hosts = hosts.or(slurm);
        assert_eq!((hosts.constraint, hosts.machines, hosts.stream), (None, Some(2), false));
    }

    #[test]
    fn a_configuration_of_ssh_that_is_absent_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("hosts.toml");
        std::fs::write(&path, "ssh_config = \"own\"\n[[host]]\nname = \"c1\"\n").unwrap();
        let args = FleetArgs { on: path.to_str().map(str::to_owned), ..FleetArgs::default() };
        let text = args.target().unwrap_err().to_string();
        assert!(text.contains("own, which is not there"), "{text}");
        std::fs::write(dir.path().join("own"), "").unwrap();
        assert!(args.target().is_ok());
    }
}
