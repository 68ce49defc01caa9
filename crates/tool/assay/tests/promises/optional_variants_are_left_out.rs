//! An optional variant whose build this machine lacks is left out, and the rest is measured.

use crate::workspace::{ProgramOutput, Workspace};

/// The quickstart without the engines of the distribution, which a machine may have.
fn quickstart() -> String {
    let text = include_str!("../../../../../experiments/quickstart.toml");
    let is_of_distribution = |variant: &&str| variant.contains("@system\"");
    let variants = text.split("[[variant]]").filter(|variant| !is_of_distribution(variant));
    variants.collect::<Vec<_>>().join("[[variant]]")
}

/// Runs a command without any other program on the path.
fn alone(workspace: &Workspace, arguments: &[&str]) -> ProgramOutput {
    let output = workspace.program(arguments).env("PATH", workspace.path("bin")).output();
    ProgramOutput::of(output.expect("the program starts"))
}

#[test]
fn quickstart_without_maven_measures_the_rest_and_names_two_commands() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", quickstart());
    let short = ["--rows", "100", "--duration", "10ms", "--warmup", "10ms", "--repetitions", "1"];
    let plan = alone(&workspace, &[&["plan", "mine.toml"], &short[..]].concat());
    let run = alone(&workspace, &[&["run", "mine.toml"], &short[..]].concat());
    for output in [&plan, &run] {
        let left_out: Vec<_> =
            output.err.lines().filter(|line| line.starts_with("left out")).collect();
        assert_eq!(
            left_out,
            ["left out  rocksdb-9.10, rocksdb-11.8: to add them, run `apt install maven`, then \
                 this command again"],
            "{}",
            output.err
        );
        assert!(output.out.contains("fjall") && !output.out.contains("rocksdb"), "{}", output.out);
    }
    assert!(run.out.contains("Stored in "), "{}{}", run.out, run.err);
}

#[test]
fn shipped_experiments_need_no_file_and_a_file_of_that_name_comes_first() {
    let workspace = Workspace::new();
    let listed = workspace.assay(&["workload"]);
    let (_, experiments) = listed.out.split_once("Experiments: assay run NAME\n").expect("a list");
    let experiments = experiments.lines().take_while(|line| line.starts_with("  "));
    let mut count = 0;
    for line in experiments {
        let (name, question) = line.trim().split_once("  ").expect("a name and a question");
        let plan = workspace.assay(&["plan", name]);
        assert!(plan.out.contains(question.trim()), "{line}: {}{}", plan.out, plan.err);
        let file = workspace.assay(&["workload", name]);
        assert!(file.out.contains("[experiment]"), "{}", file.out);
        count += 1;
    }
    assert!(count > 40, "{}", listed.out);
    workspace.write("quickstart", "no TOML");
    let output = workspace.assay(&["plan", "quickstart"]);
    assert!(output.code == 1 && output.err.contains("quickstart:1"), "{}", output.err);
}

#[test]
fn mistyped_experiment_is_met_with_its_name() {
    let output = Workspace::new().assay(&["run", "quikstart"]);
    assert!(output.err.contains("did you mean `quickstart`?"), "{}", output.err);
    assert!(output.err.contains("nothing was run"), "{}", output.err);
}
