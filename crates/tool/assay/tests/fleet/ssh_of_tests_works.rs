//! The ssh servers of these tests behave like servers on several machines.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::programs::wait_for;
use crate::sshd::SshHosts;

/// Longest time until the client reports the loss of a machine: 0.01 s on an idle host.
const LOSS_MAX: Duration = Duration::from_secs(15);

/// The file `.bashrc` writes into the output of each command, as on some machines of users.
#[test]
fn each_host_has_a_home_with_its_own_bashrc() {
    let Some(hosts) = SshHosts::start(&["c1", "c2"]) else { return };
    fs::write(hosts.home("c1").join(".bashrc"), "echo welcome\n").unwrap();
    let output = |name: &str| {
        let output = hosts.ssh(name, "echo \"$HOME\"").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let home = |name: &str| format!("{}\n", hosts.home(name).display());
    assert_eq!(output("c2"), home("c2"));
    let noisy = output("c1");
    if !String::from_utf8(hosts.ssh("c2", "echo $0").output().unwrap().stdout)
        .unwrap()
        .contains("bash")
    {
        println!("skipped in part: the shell of this account is not bash");
        return;
    }
    assert_eq!(noisy, format!("welcome\n{}", home("c1")));
}

#[test]
fn lost_host_ends_its_connections_and_processes() {
    let Some(mut hosts) = SshHosts::start(&["c1", "c2"]) else { return };
    let mut ssh = hosts.ssh("c1", "echo started; exec sleep 600");
    let mut ssh = ssh.stdout(Stdio::piped()).stdin(Stdio::null()).spawn().unwrap();
    let sleeper = || {
        let is_sleep = |pid: &rustix::process::Pid| {
            fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "sleep\n")
        };
        hosts.host(0).processes().into_iter().find(is_sleep)
    };
    let sleeper = wait_for("the command runs", LOSS_MAX, sleeper);
    hosts.host(0).kill();
    let status = wait_for("the client ends", LOSS_MAX, || ssh.try_wait().unwrap());
    assert_eq!(status.code(), Some(255));
    assert!(!fs::exists(format!("/proc/{sleeper}")).unwrap());
    assert!(hosts.ssh("c2", "true").status().unwrap().success());
}
