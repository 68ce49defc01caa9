//! A command that Assay proposes finds what the command before it has made.

use crate::workspace::Workspace;

/// Returns the commands that an output proposes as next steps.
fn next(out: &str) -> Vec<&str> {
    let (_, rest) = out.split_once("\nNext     ").unwrap_or_else(|| panic!("{out}"));
    rest.lines().map_while(|line| line.trim().strip_prefix("assay ")).collect()
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
    let commands = next(&output.out);
    assert!(commands.len() > 2, "{}", output.out);
    for command in commands {
        assert!(command.contains(" --results r --data-dir d --cache-dir c"), "{command}");
        let again = workspace.assay(&command.split(' ').collect::<Vec<_>>());
        // On a busy host `lint` ends by the code of a blocking finding, without an error.
        let is_lint = command.starts_with("lint ") && again.err.is_empty();
        assert!(matches!(again.code, 0 | 3) || is_lint, "{command}: {}", again.err);
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

/// Goal: a comparison follows the measurement of one engine: more runs of it decide nothing.
#[test]
fn an_experiment_of_one_engine_proposes_a_second_one() {
    let workspace = Workspace::new();
    let typed = ["run", "fillseq", "--engine", "memory", "--rows", "200", "--repetitions", "1"];
    let one = workspace.recorded(&typed).out;
    let second = format!("{} --disk-floor 1MiB --engine sqlite", typed.join(" "));
    assert_eq!(next(&one)[0], second);
    let compared = workspace.recorded(&second.split(' ').collect::<Vec<_>>()).out;
    assert!(compared.contains("memory (base)"), "{compared}");
    let resumed = "run --resume quick-fillseq --repetitions 3";
    assert!(!one.contains(resumed) && compared.contains(resumed), "{compared}");
    let own = [&typed[..], &["--option", "fault=fail fatal at 1000000"]].concat();
    let own = own.iter().map(|word| if *word == "memory" { "faulty" } else { word });
    let own = workspace.assay(&own.collect::<Vec<_>>()).out;
    assert_eq!(next(&own)[0], "engine list", "an option of one engine is no option of another");
}
