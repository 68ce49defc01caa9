//! A fleet of machines in every format, and one machine as the host.

use model::{Machine, Nanos, RunRecord, metric};
use render::{Compared, Format, Meta, Report, Style, render_html, render_markdown_post};

use crate::fixture::{Fixture, controlled};
use crate::page::assert_well_nested;

/// The invented experiment with each block on the machine of this name.
fn on(name: impl Fn(u32) -> String) -> Fixture {
    let mut fixture = controlled();
    for run in &mut fixture.runs {
        let (name, host) = (name(run.cell.repetition), fixture.manifest.host.clone());
        run.machine = Some(Box::new(Machine { name, host }));
    }
    fixture.compared()
}

/// Six blocks on two machines, or on more.
fn fleet(machines: u32) -> Fixture {
    on(|repetition| format!("n{}", repetition % machines + 1))
}

fn rendered(fixture: &Fixture, format: Format) -> String {
    let meta = Meta::of_runs(&fixture.manifest, &fixture.runs);
    let host = &fixture.manifest.host;
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    compared.render(format, Style::default())
}

/// Goal: a fleet of one machine has the output of a local experiment, to the last byte.
///
/// Method: the same records with the machine, and without it.
#[test]
fn one_machine_has_the_output_of_the_host() {
    let (one, local) = (on(|_| "n1".to_owned()), controlled());
    let formats = [Format::Text, Format::Markdown, Format::Csv, Format::Json];
    for format in formats {
        assert_eq!(rendered(&one, format), rendered(&local, format), "{format:?}");
    }
    let strip = |run: &RunRecord| RunRecord { machine: None, ..run.clone() };
    assert_eq!(one.runs.iter().map(strip).collect::<Vec<_>>(), local.runs);
    assert_eq!(render_html(&one.input()), render_html(&local.input()));
    assert_eq!(render_markdown_post(&one.input()), render_markdown_post(&local.input()));
}

#[test]
fn machines_and_their_ratios_are_shown() {
    let text = rendered(&fleet(3), Format::Text);
    let (head, rest) = text.split_once("Ratios to rocksdb-9.10 on each machine").unwrap();
    assert!(head.contains("for machines of class"), "{head}");
    insta::assert_snapshot!(rest.split("\n\u{25b2}").next().unwrap());
    let page = render_html(&fleet(3).input());
    assert_well_nested(&page);
    for text in ["on each machine", "between machines", "3 machines of class", "n1, n2, n3"] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn machine_that_differs_is_named_and_counted() {
    let mut fixture = fleet(6);
    let is_far = |run: &&mut RunRecord| {
        run.cell.variant == "rocksdb-11.8" && run.machine.as_ref().unwrap().name == "n4"
    };
    for step in fixture.runs.iter_mut().filter(is_far).flat_map(|run| &mut run.steps) {
        step.duration_ns = Nanos(step.duration_ns.0 * 3);
    }
    let text = rendered(&fixture.compared(), Format::Text).replace('\n', " ");
    let expected = "rocksdb-11.8 in readrandom: the ratio 0.";
    assert!(text.contains(expected), "{text}");
    assert!(text.contains("on n4 differs from the ratios on the other 5 machines"), "{text}");
    assert!(!text.contains("on n3 differs"), "{text}");
}

#[test]
fn two_machines_state_what_more_would_give() {
    let fixture = fleet(2);
    let text = rendered(&fixture, Format::Text).replace('\n', " ");
    assert!(text.contains("inconclusive on 2 machines; 4 such machines would give"), "{text}");
    let json: serde_json::Value = serde_json::from_str(&rendered(&fixture, Format::Json)).unwrap();
    let machines = &json["comparison"]["machines"];
    assert_eq!(machines["machines"][1]["blocks"], 3);
    assert_eq!(machines["ratios"][0]["metric"], metric::THROUGHPUT_OPS_PER_S.name);
    assert_eq!(machines["ratios"][0]["more"]["machines"], 4);
}
