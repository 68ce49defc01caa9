//! The cluster of these tests behaves as one of several machines.

use std::fs;
use std::time::Duration;

use crate::cluster::Cluster;
use crate::programs::wait_for;

/// Longest time until a job ends elsewhere after its machine was lost: 35 s on an idle host.
const MOVE_MAX: Duration = Duration::from_secs(240);

/// The script of a job array; an element that starts for the first time does not end by itself.
const ELEMENT: &str = "#!/bin/sh
touch \"started.$SLURM_ARRAY_TASK_ID.${SLURM_RESTART_COUNT-0}.$SLURMD_NODENAME\"
[ \"${SLURM_RESTART_COUNT-0}\" -gt 0 ] || exec sleep 600
touch \"ended.$SLURM_ARRAY_TASK_ID\"
";

#[test]
fn commands_run_on_the_machine_that_a_constraint_selects() {
    let Some(cluster) = Cluster::start(&["bench", "bench", "db"]) else { return };
    let args = ["-n1", "--constraint=db", "sh", "-c", "echo $SLURMD_NODENAME"];
    assert_eq!(cluster.output("srun", &args), "n3\n");
}

/// One machine is lost, and on another one only Slurm's daemon stops: both of their elements start
/// again on the third. The job of the second one lives on, so two processes run one element.
#[test]
fn elements_of_lost_machines_start_elsewhere() {
    let Some(mut cluster) = Cluster::start(&["", "", ""]) else { return };
    fs::write(cluster.path("element"), ELEMENT).unwrap();
    let args = ["--array=1-2", "--exclusive", "--requeue", "--export=NONE", "element"];
    cluster.output("sbatch", &args);
    let place = |element: u32, restarts: u32| {
        let prefix = format!("started.{element}.{restarts}.n");
        let files = fs::read_dir(cluster.path("")).unwrap().flatten();
        files
            .filter_map(|file| file.file_name().into_string().ok())
            .find_map(|name| name.strip_prefix(&prefix)?.parse::<usize>().ok())
    };
    let (lost, stopped) =
        wait_for("both elements start", MOVE_MAX, || Some((place(1, 0)?, place(2, 0)?)));
    cluster.node(lost).kill();
    cluster.node(stopped).stop_daemon();
    assert_eq!(cluster.node(lost).processes(), []);
    let ended = [cluster.path("ended.1"), cluster.path("ended.2")];
    wait_for("both elements end", MOVE_MAX, || {
        ended.iter().all(|file| file.exists()).then_some(())
    });
    assert!(cluster.node(stopped).processes().len() > 1, "the first process of element 2 lives on");
    cluster.node(stopped).continue_daemon();
    cluster.restart_node(lost);
}

#[test]
fn jobs_survive_the_controller() {
    let Some(mut cluster) = Cluster::start(&[""]) else { return };
    let ended = cluster.path("ended");
    let command = "while [ -e wait ]; do sleep 0.1; done; touch ended";
    fs::write(cluster.path("wait"), "").unwrap();
    cluster.output("sbatch", &["--wrap", command]);
    let state = |cluster: &Cluster| cluster.output("squeue", &["-h", "-o", "%T"]);
    wait_for("the job runs", MOVE_MAX, || (state(&cluster) == "RUNNING\n").then_some(()));
    Cluster::wait_until_saved();
    cluster.kill_controller();
    assert!(
        !cluster.command("squeue").env("SLURM_CONF", cluster.config()).status().unwrap().success()
    );
    fs::remove_file(cluster.path("wait")).unwrap();
    wait_for("the job ends", MOVE_MAX, || ended.exists().then_some(()));
    cluster.start_controller();
    wait_for("the controller knows that", MOVE_MAX, || state(&cluster).is_empty().then_some(()));
}

#[test]
fn frozen_machine_goes_on_when_it_thaws() {
    let Some(mut cluster) = Cluster::start(&[""]) else { return };
    let count = cluster.path("count");
    cluster.output("sbatch", &["--wrap", "while sleep 0.05; do echo >>count; done"]);
    let lines = || fs::read(&count).map_or(0, |text| text.len());
    wait_for("the job runs", MOVE_MAX, || (lines() > 2).then_some(()));
    cluster.node(1).freeze();
    let frozen = lines();
    let mut polls = 0..5;
    wait_for("a second", MOVE_MAX, || polls.next().is_none().then_some(()));
    assert_eq!(lines(), frozen);
    cluster.node(1).thaw();
    wait_for("the job goes on", MOVE_MAX, || (lines() > frozen).then_some(()));
    let leader = cluster.node(1).processes();
    assert!(leader.len() > 2, "{leader:?}");
    drop(cluster);
    for pid in leader {
        assert!(!fs::exists(format!("/proc/{pid}")).unwrap(), "{pid} is left");
    }
}
