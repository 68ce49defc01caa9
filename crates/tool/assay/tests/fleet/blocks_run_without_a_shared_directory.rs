//! Blocks over the pipes of `ssh` and `srun`: nothing is shared, and nothing is lost.

use std::fs;

use crate::cluster::Cluster;
use crate::fixture::{Fixture, MOVE_MAX, SOON, ended};
use crate::programs::wait_for;
use crate::sshd::SshHosts;

/// Writes the file of hosts; returns its options.
fn on(fixture: &Fixture, hosts: &SshHosts, names: &[&str]) -> [String; 2] {
    let mut text = format!("ssh_config = \"{}\"\n", hosts.config().display());
    for name in names {
        text += &format!("[[host]]\nname = \"{name}\"\ndata_dir = \"{}\"\n", data(fixture, name));
    }
    fs::write(fixture.path("hosts.toml"), text).expect("a scratch directory");
    ["--on".to_owned(), "hosts.toml".to_owned()]
}

fn data(fixture: &Fixture, name: &str) -> String {
    fixture.path(&format!("data of {name}")).display().to_string()
}

/// Returns the time left when the first run of a block begins, in seconds.
fn left_at_first(log: &str) -> Option<f64> {
    let line = log.lines().find(|line| line.contains("run 1 of 2"))?;
    let (value, unit) = line.rsplit("\u{b7} ").next()?.strip_suffix(" left")?.split_once(' ')?;
    let value: f64 = value.parse().ok()?;
    Some(if unit == "ms" { value / 1e3 } else { value })
}

/// Goal: a shell that prints, spaces and dollars change nothing. No process is left.
#[test]
fn blocks_run_on_hosts_with_a_noisy_shell() {
    let Some(mut hosts) = SshHosts::start(&["c1", "c2"]) else { return };
    for name in ["c1", "c2"] {
        fs::write(hosts.home(name).join(".bashrc"), "echo welcome; printf assay-lacks\n").unwrap();
    }
    let fixture = Fixture::new(4, "100ms");
    let options = on(&fixture, &hosts, &["c1", "c2"]);
    let run = fixture.run(None, &options.each_ref().map(String::as_str)).spawn().unwrap();
    let output = ended(run, SOON);
    fixture.assert_whole();
    let (manifest, records) = fixture.records();
    let left = left_at_first(&output.err).expect("a block begins");
    let of_block = manifest.plan.estimated_ns.as_secs_f64() / 4.0;
    assert!(left > 0.0 && left < 1.1 * of_block, "{left} of {of_block}: {}", output.err);
    for name in ["c1", "c2"] {
        let is_there = |it: &&model::RunRecord| it.machine.as_ref().unwrap().name == name;
        assert!(records.iter().any(|record| is_there(&record)), "{name}: {}", output.err);
        assert!(fs::exists(data(&fixture, name)).unwrap());
    }
    for number in [0, 1] {
        wait_for("no process but the server", SOON, || {
            (hosts.host(number).processes().len() <= 1).then_some(())
        });
    }
}

/// Goal: the block of a host that is lost, or silent, is run on another one.
#[test]
fn block_of_a_lost_host_moves() {
    for is_frozen in [false, true] {
        let Some(mut hosts) = SshHosts::start(&["c1", "c2"]) else { return };
        let fixture = Fixture::new(2, "2s");
        let options = on(&fixture, &hosts, &["c1", "c2"]);
        let run = fixture.run(None, &options.each_ref().map(String::as_str)).spawn().unwrap();
        let block = wait_for("a block of c1 with one run", SOON, || {
            let is_there = |block: &u32| fixture.machine_of(*block).as_deref() == Some("c1");
            (1..=2).find(|block| is_there(block) && fixture.runs_of(*block) == 1)
        });
        if is_frozen {
            hosts.host(0).freeze();
        } else {
            hosts.host(0).kill();
        }
        let output = ended(run, MOVE_MAX);
        if is_frozen {
            hosts.host(0).thaw();
        }
        assert_eq!(fixture.records().1.len(), 4, "{}", output.err);
        fixture.assert_whole();
        assert!(output.err.contains(&format!("block {block}  c1: failed: ")), "{}", output.err);
        assert_eq!(fixture.attempts().len(), 1, "{}", output.err);
    }
}

/// Goal: a host that cannot be reached is named with the words of ssh, and gets no third block.
#[test]
fn host_that_cannot_be_reached_is_named() {
    let Some(hosts) = SshHosts::start(&["c1"]) else { return };
    let fixture = Fixture::new(3, "50ms");
    let options = on(&fixture, &hosts, &["c1", "nowhere.invalid"]);
    let run = fixture.run(None, &options.each_ref().map(String::as_str)).spawn().unwrap();
    let output = ended(run, SOON);
    fixture.assert_whole();
    assert!(output.err.contains("nowhere.invalid: failed: "), "{}", output.err);
    assert!(output.err.contains("nowhere.invalid"), "{}", output.err);
}

/// Goal: a block does not fail on hosts that never began it, however many there are.
#[test]
fn a_block_finds_the_only_host_that_is_reached() {
    let Some(hosts) = SshHosts::start(&["c1"]) else { return };
    let fixture = Fixture::new(1, "50ms");
    let options = on(&fixture, &hosts, &["a.invalid", "b.invalid", "c.invalid", "c1"]);
    let run = fixture.run(None, &options.each_ref().map(String::as_str)).spawn().unwrap();
    let output = ended(run, SOON);
    assert!(output.err.contains("c.invalid: failed: "), "{}", output.err);
    fixture.assert_whole();
}

/// Goal: machines of Slurm need no directory in common with the submitter.
#[test]
fn blocks_run_through_srun() {
    let Some(cluster) = Cluster::start(&["", ""]) else { return };
    let fixture = Fixture::new(3, "100ms");
    let options = ["--on", "slurm", "--stream", "--machines", "2"];
    let run = fixture.run(Some(&cluster), &options).spawn().unwrap();
    let output = ended(run, SOON);
    assert_eq!(fixture.records().1.len(), 6, "{}", output.err);
    fixture.assert_whole();
}

/// Goal: Ctrl-C stops the machines, and what they had measured is in the archive.
#[test]
fn ctrl_c_stops_the_hosts() {
    let Some(mut hosts) = SshHosts::start(&["c1"]) else { return };
    let fixture = Fixture::new(2, "5s");
    let options = on(&fixture, &hosts, &["c1"]);
    let options = options.each_ref().map(String::as_str);
    let run = fixture.run(None, &options).spawn().unwrap();
    wait_for("one run has ended", SOON, || (fixture.runs_of(1) == 1).then_some(()));
    let pid = rustix::process::Pid::from_child(&run);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let stopped = ended(run, SOON);
    assert_eq!(stopped.code, Some(1), "{}", stopped.err);
    wait_for("no process but the server", SOON, || {
        (hosts.host(0).processes().len() <= 1).then_some(())
    });
    let resumed = ended(fixture.resume(None).spawn().unwrap(), SOON);
    assert_eq!(fixture.records().1.len(), 4, "{}", resumed.err);
    fixture.assert_whole();
    assert!(!fixture.attempts().is_empty(), "{}", stopped.err);
}
