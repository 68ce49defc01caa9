//! A job array of Slurm.
//!
//! Source: Slurm 22.05, sbatch(1).

use super::BlocksJob;
use crate::slurm::EXPORTED;

/// Returns the batch script; options on the command line of `sbatch` replace those of the script.
///
/// Each block writes its own log. The output of the job is discarded.
pub fn slurm(job: &BlocksJob) -> String {
    let BlocksJob { name, blocks, machines, .. } = job;
    let constraint = job.constraint.as_ref();
    let constraint = constraint.map(|class| format!("constraint={}", quoted(class)));
    let options = [
        format!("job-name={}", quoted(name)),
        format!("array=1-{blocks}%{machines}"),
        "nodes=1".to_owned(),
        "exclusive".to_owned(),
        "requeue".to_owned(),
        "open-mode=append".to_owned(),
        "output=/dev/null".to_owned(),
        format!("export={EXPORTED}"),
    ];
    let lines = options.into_iter().chain(constraint);
    let lines: String = lines.map(|option| format!("#SBATCH --{option}\n")).collect();
    let (program, fleet_dir) = (quoted(&job.program), quoted(&job.fleet_dir));
    format!("#!/bin/sh\n{lines}exec {program} block {fleet_dir} \"$SLURM_ARRAY_TASK_ID\"\n")
}

/// Returns a text as one word of `sh`, and of an option in a batch script.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_is_one_word_of_the_shell() {
        let job = BlocksJob { constraint: Some("fast&nvme".to_owned()), ..BlocksJob::odd() };
        let text = slurm(&job);
        let head: Vec<_> = text.lines().filter(|line| line.starts_with("#SBATCH")).collect();
        assert!(head.contains(&"#SBATCH --array=1-6%2"), "{text}");
        assert!(head.contains(&"#SBATCH --constraint='fast&nvme'"), "{text}");
        let script = text.replace("exec ", "printf '%s\\n' ");
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", &script]).env("SLURM_ARRAY_TASK_ID", "3");
        let output = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        assert_eq!(output, format!("{}\nblock\n{}\n3\n", job.program, job.fleet_dir));
    }
}
