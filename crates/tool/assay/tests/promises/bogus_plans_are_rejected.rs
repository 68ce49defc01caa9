//! Plans with blocking findings are rejected unless waived.
//!
//! The waiver's reason is in the first line of the results.

use insta::assert_snapshot;

use crate::rejection::{TINY, rejected_at_once, unwrapped};
use crate::workspace::Workspace;

/// Two variants with different durability classes.
fn unlike() -> String {
    format!("{TINY}\n[[variant]]\nname = \"two\"\nengine = \"sqlite\"\ndurability = \"sync\"\n")
}

#[test]
fn blocked_plan_is_rejected_with_rule_remedy_and_waiver() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", unlike());
    let output = rejected_at_once(&workspace, &["run", "mine.toml"]);
    assert_snapshot!(unwrapped(&output), @"
    × the result would be bogus: A001 durability mismatch: durability classes differ: os, sync
    help: give all variants the same durability class, or waive A001 if the durability class is what
          the experiment compares
          to run the experiment anyway: --waive 'A001=REASON', or [[waive]] with `code` and `reason`
          in the file; every result shows the reason in its first line
    nothing was run
    ");
    let plan = workspace.assay(&["plan", "mine.toml"]);
    assert_eq!((plan.code, plan.err.as_str()), (0, ""));
    assert!(plan.out.contains("\nrejected  A001 durability classes differ"), "{}", plan.out);
}

#[test]
fn waived_plan_runs_and_shows_the_waiver_first() {
    let reason = "the class is the question";
    let typed = format!("A001={reason}");
    let workspace = Workspace::new();
    workspace.write("mine.toml", unlike());
    let run = ["run", "mine.toml", "--duration", "50ms", "--waive", &typed];
    let output = workspace.recorded(&run);
    assert!(output.err.starts_with(&format!("waived    A001 ({reason})\n")), "{}", output.err);
    let first = output.out.lines().next().unwrap_or_default();
    assert!(first.contains("A001") && first.contains(reason), "{first}");
    workspace.write(
        "mine.toml",
        format!("{}[[waive]]\ncode = \"A001\"\nreason = \"{reason}\"", unlike()),
    );
    let plan = workspace.assay(&["plan", "mine.toml"]);
    assert!(plan.out.starts_with(&format!("waived    A001 ({reason})\n")), "{}", plan.out);
    assert!(plan.out.contains("\nwaived    A001 durability classes differ"), "{}", plan.out);
}

#[test]
fn waiver_needs_a_known_rule_and_a_reason() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", format!("{TINY}[[waive]]\ncode = \"A0O1\"\nreason = \"?\"\n"));
    assert_snapshot!(rejected_at_once(&workspace, &["run", "mine.toml"]), @r#"
      × no rule has the code `A0O1`
        ╭─[mine.toml:14:8]
     13 │ [[waive]]
     14 │ code = "A0O1"
        ·        ───┬──
        ·           ╰── unknown code
     15 │ reason = "?"
        ╰────
      help: did you mean A001?
      nothing was run
    "#);
    workspace.write("mine.toml", format!("{TINY}[[waive]]\ncode = \"A001\"\nreason = \"\"\n"));
    assert_snapshot!(rejected_at_once(&workspace, &["run", "mine.toml"]), @r#"
     × the waiver of A001 has no reason
       ╭─[mine.toml:15:10]
    14 │ code = "A001"
    15 │ reason = ""
       ·          ─┬
       ·           ╰── no reason
       ╰────
     help: give the reason: it is shown in the first line of every result
     nothing was run
    "#);
    workspace.write("mine.toml", TINY);
    let output = workspace.assay(&["run", "mine.toml", "--waive", "A001"]);
    assert_eq!(output.code, 2);
    assert!(
        output.err.contains("the waiver `A001` has no reason: write 'A001=REASON"),
        "{}",
        output.err
    );
}

#[test]
fn margin_is_a_percentage_and_control_name_is_unique() {
    let workspace = Workspace::new();
    workspace.write("mine.toml", TINY.replace("question", "margin = 0.02\nquestion"));
    assert_snapshot!(rejected_at_once(&workspace, &["run", "mine.toml"]), @r#"
      × `0.02` is not a percentage: write 2% or 0.5%
       ╭─[mine.toml:3:10]
     2 │ name = "tiny"
     3 │ margin = 0.02
       ·          ──┬─
       ·            ╰── here
     4 │ question = "Is it refused?"
       ╰────
      nothing was run
    "#);
    let clash = format!("{TINY}\n[[variant]]\nname = \"one-control\"\nengine = \"sqlite\"\n");
    workspace.write("mine.toml", clash);
    assert_snapshot!(rejected_at_once(&workspace, &["run", "mine.toml", "--control"]), @r#"
      × the name `one-control` is needed for the control
        ╭─[mine.toml:15:8]
     14 │ [[variant]]
     15 │ name = "one-control"
        ·        ──────┬──────
        ·              ╰── has the control's name
     16 │ engine = "sqlite"
        ╰────
      help: give this variant another name, or leave the control out
      nothing was run
    "#);
}
