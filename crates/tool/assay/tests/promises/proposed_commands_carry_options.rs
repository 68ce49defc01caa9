//! A command that Assay proposes finds what the command before it has made.

use crate::workspace::Workspace;

/// Returns the proposed commands in an output: those of "Resume" and "Next".
fn proposed(out: &str) -> Vec<Vec<String>> {
    let commands = out.lines().filter_map(|line| {
        let (head, command) = line.split_once(" assay ")?;
        matches!(head.trim(), "" | "Next" | "Resume").then_some(command)
    });
    commands.map(|command| command.split(' ').map(str::to_owned).collect()).collect()
}

/// Goal: an experiment outside of the default directories is shown and compared by the commands
/// that are printed, as they are.
#[test]
fn proposed_commands_name_the_directories_of_the_user() {
    let workspace = Workspace::with_pair_file();
    let run = ["run", "pair.toml", "--repetitions", "1", "--data-dir", "d", "--cache-dir", "c"];
    let spaced = workspace.recorded(&[&run[..], &["--results", "else where"]].concat()).out;
    assert!(spaced.contains(" --results 'else where' --data-dir d --cache-dir c\n"), "{spaced}");
    let output = workspace.recorded(&[&run[..], &["--results", "r"]].concat());
    let commands = proposed(&output.out);
    assert!(commands.len() > 2, "{}", output.out);
    for command in commands {
        let text = command.join(" ");
        assert!(text.ends_with(" --results r --data-dir d --cache-dir c"), "{text}");
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let again = workspace.assay(&words);
        assert!(matches!(again.code, 0 | 3), "{text}: {}", again.err);
    }
}

/// Goal: the missing runs of an experiment are made within the limits of the others.
#[test]
fn a_command_that_resumes_names_the_limits_of_the_user() {
    let workspace = Workspace::new();
    let steps = [
        "run",
        "fillseq",
        "--engine",
        "faulty",
        "--option",
        "fault=fail fatal at 100",
        "--rows",
        "200",
    ];
    let limits = ["--watchdog", "90s", "--snapshot-limit", "1GiB", "--results", "r"];
    let output = workspace.assay(&[&steps[..], &limits].concat());
    assert_eq!(output.code, 1, "{}", output.err);
    let resume = output.out.lines().find_map(|line| line.strip_prefix("Resume   assay "));
    let resume = resume.unwrap_or_else(|| panic!("{}", output.out));
    let expected = " --watchdog 90s --disk-floor 1048576 --snapshot-limit 1073741824 --results r";
    assert!(resume.ends_with(expected), "{resume}");
    let again = workspace.assay(&resume.split(' ').collect::<Vec<_>>());
    assert!(again.err.contains("fillseq"), "{}", again.err);
}
