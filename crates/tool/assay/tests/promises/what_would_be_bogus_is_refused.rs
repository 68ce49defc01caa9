//! What would be bogus is refused before machine time is spent on it, unless its author says why it
//! does not matter; and what he says is in the first line.

use insta::assert_snapshot;

use crate::place::Place;
use crate::refusal::{TINY, refused_at_once, unwrapped};

/// Two variants that promise different durability.
fn unlike() -> String {
    format!("{TINY}\n[[variant]]\nname = \"two\"\nengine = \"sqlite\"\ndurability = \"sync\"\n")
}

#[test]
fn a_plan_that_a_rule_blocks_is_refused_with_the_rule_the_remedy_and_the_waiver() {
    let place = Place::new();
    place.write("mine.toml", unlike());
    let said = refused_at_once(&place, &["run", "mine.toml"]);
    assert_snapshot!(unwrapped(&said), @"
    × the result would be bogus: A001 durability mismatch: durability classes differ: os, sync
    help: give all variants one durability class, or waive A001 when the class is the question
          to run it as it is: --waive 'A001=REASON', or [[waive]] with `code` and `reason` in the
          file; the reason stands in the first line of every result
    nothing was run
    ");
    let plan = place.assay(&["plan", "mine.toml"]);
    assert_eq!((plan.code, plan.err.as_str()), (0, ""));
    assert!(plan.out.contains("\nrefused   A001 durability classes differ"), "{}", plan.out);
}

#[test]
fn a_waiver_lets_it_run_and_stands_in_the_first_line() {
    let reason = "the class is the question";
    let typed = format!("A001={reason}");
    let place = Place::new();
    place.write("mine.toml", unlike());
    let said = place.assay(&["run", "mine.toml", "--waive", &typed]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert!(said.err.starts_with(&format!("waived    A001 ({reason})\n")), "{}", said.err);
    let first = said.out.lines().next().unwrap_or_default();
    assert!(first.contains("A001") && first.contains(reason), "{first}");
    place.write(
        "mine.toml",
        format!("{}[[waive]]\ncode = \"A001\"\nreason = \"{reason}\"", unlike()),
    );
    let plan = place.assay(&["plan", "mine.toml"]);
    assert!(plan.out.starts_with(&format!("waived    A001 ({reason})\n")), "{}", plan.out);
    assert!(plan.out.contains("\nwaived    A001 durability classes differ"), "{}", plan.out);
}

#[test]
fn a_waiver_names_a_rule_and_has_a_reason() {
    let place = Place::new();
    place.write("mine.toml", format!("{TINY}[[waive]]\ncode = \"A0O1\"\nreason = \"?\"\n"));
    assert_snapshot!(refused_at_once(&place, &["run", "mine.toml"]), @r#"
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
    place.write("mine.toml", format!("{TINY}[[waive]]\ncode = \"A001\"\nreason = \"\"\n"));
    assert_snapshot!(refused_at_once(&place, &["run", "mine.toml"]), @r#"
      × why does A001 not matter here?
        ╭─[mine.toml:15:10]
     14 │ code = "A001"
     15 │ reason = ""
        ·          ─┬
        ·           ╰── no reason
        ╰────
      help: give the reason: it stands in the first line of every result
      nothing was run
    "#);
    place.write("mine.toml", TINY);
    let said = place.assay(&["run", "mine.toml", "--waive", "A001"]);
    assert_eq!(said.code, 2);
    assert!(said.err.contains("`A001` has no reason: write 'A001=why"), "{}", said.err);
}

#[test]
fn a_margin_is_a_percentage_and_a_control_has_its_name_for_itself() {
    let place = Place::new();
    place.write("mine.toml", TINY.replace("question", "margin = 0.02\nquestion"));
    assert_snapshot!(refused_at_once(&place, &["run", "mine.toml"]), @r#"
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
    place.write("mine.toml", clash);
    assert_snapshot!(refused_at_once(&place, &["run", "mine.toml", "--control"]), @r#"
      × the control would be named `one-control` too
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
