//! Published findings next to ours, in every format.

use analysis::Reproduction::{
    self, Differs, NoDifference, NotMeasured, Opposite, Reproduces, SameDirection, Undecided,
};
use render::{
    Compared, Format, Meta, PublishedFindings, Report, Style, render_answer, render_html,
    render_reproduced,
};

use crate::fixture::{Fixture, outcomes, published, published_bogus, published_once, quickstart};
use crate::page::{assert_well_nested, store};

fn with<T>(fixture: &Fixture, render: impl Fn(&Compared<'_>) -> T) -> T {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    render(&Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings))
}

fn text(fixture: &Fixture, width: usize) -> String {
    let style = Style { width, ..Style::default() };
    with(fixture, |compared| PublishedFindings(compared).render(Format::Text, style))
}

fn in_format(fixture: &Fixture, format: Format) -> String {
    with(fixture, |compared| compared.render(format, Style::default()))
}

#[test]
fn each_finding_has_both_ratios_and_its_verdict() {
    let fixture = published();
    let expected: [Reproduction; 9] = [
        Reproduces,
        SameDirection,
        Opposite,
        NoDifference,
        Differs,
        Undecided,
        NotMeasured,
        Reproduces,
        Reproduces,
    ];
    assert_eq!(outcomes(&fixture), expected);
    let text = text(&fixture, 100);
    assert!(text.lines().all(|line| line.chars().count() <= 100), "too wide:\n{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn section_stands_in_answer_and_comparison_only_with_findings() {
    let fixture = published();
    let style = Style { width: 100, ..Style::default() };
    let section = text(&fixture, 100);
    let answer = with(&fixture, |compared| render_answer(compared, style));
    let all = with(&fixture, |compared| compared.render(Format::Text, style));
    assert!(answer.contains(&section) && all.contains(&section));
    let other = quickstart(5);
    assert_eq!(with(&other, |it| PublishedFindings(it).render(Format::Text, style)), "\n");
    for format in [Format::Text, Format::Markdown] {
        assert!(!in_format(&other, format).contains("Published"));
    }
}

/// Goal: pages have the findings of several experiments, of one call or of several. Method: one
/// experiment at no named size, and the same at a size that cannot decide two of its findings; the
/// other tests one of them.
#[test]
fn pages_have_a_row_for_each_finding_that_was_tested() {
    let here = published();
    let mut brief = published();
    let experiment = &mut brief.manifest.plan.experiment;
    experiment.name.push_str("-minutes");
    experiment.size = Some("minutes".to_owned());
    experiment.published[1]
        .findings
        .iter_mut()
        .for_each(|one| one.sizes = vec!["night".to_owned()]);
    experiment.published[1].findings[0].claim.push_str(" at night");
    let brief = brief.compared();
    let metas = [&here, &brief].map(|one| Meta::of(&one.manifest));
    let all: Vec<Compared<'_>> = [&here, &brief]
        .into_iter()
        .zip(&metas)
        .map(|(one, meta)| {
            let host = &one.manifest.host;
            Compared::of(&one.comparison, meta, &one.runs, host, &one.findings)
        })
        .collect();
    let pages = render_reproduced("", &all).unwrap();
    let first = render_reproduced("", &all[..1]).unwrap();
    let then = render_reproduced(&first[0].1, &all[1..]).unwrap();
    assert_eq!(then[..2], pages[..2], "earlier findings stay");
    let again = render_reproduced(&pages[0].1, &all[..1]).unwrap();
    assert_eq!(again, pages, "findings of the same experiment are replaced");
    let outside = pages[0].1.replace("\nreproduced-minutes\t", "\n../minutes\t");
    let refused = render_reproduced(&outside, &all[..1]).unwrap_err();
    assert_eq!(refused, "`../minutes` is not the name of an experiment");
    // Files of earlier versions name neither variants nor waivers.
    let older = "experiment\tsource\there\tclaim\tstep\ttheirs\tours\toutcome\treasons\tsizes\n\
                 old\tAuthor\tsize minutes\tIt is so\tload\thigher\t2.00\treproduces\t\t\n";
    let both = render_reproduced(older, &all[..1]).unwrap();
    assert!(both[0].1.contains("\tIt is so\t") && both.iter().any(|(name, _)| name == "old.md"));
    let pages: Vec<String> =
        pages.into_iter().map(|(name, text)| format!("{name}:\n\n{text}")).collect();
    insta::assert_snapshot!(pages.join("\n"));
}

#[test]
fn narrow_terminal_gets_blocks() {
    let text = text(&published(), 72);
    assert!(text.lines().all(|line| line.chars().count() <= 72), "too wide:\n{text}");
}

#[test]
fn one_repetition_decides_nothing() {
    let fixture = published_once();
    let decided = outcomes(&fixture).into_iter().filter(|one| *one != Undecided);
    assert_eq!(decided.collect::<Vec<_>>(), [NotMeasured]);
    let text = text(&fixture, 100);
    assert!(text.contains("Of 9 published findings, 8 are undecided and 1 was not measured."));
    assert!(text.contains("Undecided: "), "{text}");
}

#[test]
fn bogus_comparison_has_no_verdict_on_publications() {
    let fixture = published_bogus();
    let text = text(&fixture, 100);
    assert!(text.contains("No verdict on 9 published findings: blocked by A001 durability"));
    assert_eq!(text.matches("no verdict").count(), 8, "{text}");
    assert!(!text.contains("reproduces") && !text.contains("opposite"), "{text}");
    let csv = in_format(&fixture, Format::Csv);
    let lines = csv.lines().filter(|line| line.starts_with("published,"));
    assert!(lines.clone().count() == 9 && lines.filter(|line| line.contains("bogus")).count() == 9);
}

#[test]
fn declared_reasons_are_shown_where_a_finding_does_not_reproduce() {
    let text = text(&published(), 150);
    assert_eq!(
        text.matches("  4  range reads were limited by memory bandwidth there\n").count(),
        1
    );
    assert!(text.contains("  7  there is no step overwrite"), "{text}");
    assert!(!text.contains("\n  1  "), "reproduced findings need no reason: {text}");
}

#[test]
fn undecided_finding_has_the_runs_that_would_decide() {
    let mut fixture = published();
    let sixth = &mut fixture.comparison.published[0].findings[5];
    sixth.here.as_mut().unwrap().runs_needed = Some(24);
    let text = text(&fixture, 150);
    assert!(text.contains("  6  the interval is too wide: about 24 runs of each"), "{text}");
}

#[test]
fn direction_without_size_and_levels_of_clients_are_shown() {
    let mut fixture = published();
    let sixth = &mut fixture.comparison.published[0].findings[5];
    sixth.reproduction = Reproduction::SizeUndecided;
    sixth.published.base_clients = Some(8);
    let text = text(&fixture, 150);
    for expected in ["same direction,", "size undecided", "readrandom against 8", "1 has the same"]
    {
        assert!(text.contains(expected), "no {expected}:\n{text}");
    }
    let csv = in_format(&fixture, Format::Csv);
    assert!(csv.contains("\"rocksdb-9.10, 8 clients\"") && csv.contains("size_undecided"), "{csv}");
    let json: serde_json::Value = serde_json::from_str(&in_format(&fixture, Format::Json)).unwrap();
    assert_eq!(json["published"][0]["findings"][5]["base_clients"], 8);
}

#[test]
fn markdown_has_a_line_per_finding() {
    let all = in_format(&published(), Format::Markdown);
    let (_, section) = all.split_once("## Published and here").unwrap();
    insta::assert_snapshot!(section.split_once("\n\n## ").map_or(section, |(own, _)| own));
}

#[test]
fn page_has_the_section_after_the_answer() {
    for (name, fixture) in [
        ("published.html", published()),
        ("published-once.html", published_once()),
        ("published-bogus.html", published_bogus()),
    ] {
        let page = render_html(&fixture.input());
        store(name, page.as_bytes());
        assert_well_nested(&page);
        let place = |mark: &str| page.find(mark).unwrap_or_else(|| panic!("no {mark} in {name}"));
        let order = ["id=\"answer\"", "id=\"published\"", "id=\"warnings\""];
        assert!(order.map(place).is_sorted(), "{name}");
    }
    let page = render_html(&published().input());
    let (_, section) = page.split_once("id=\"published\"").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    for expected in [
        "Of 9 published findings, 3 reproduce",
        "Author, 2025-06-01",
        "32 cores, 128 GiB",
        "Point reads got faster after 9.10",
        "same direction",
        "range reads were limited by memory bandwidth there",
        "lmdb against rocksdb-9.10",
    ] {
        assert!(section.contains(expected), "missing: {expected}");
    }
    assert!(!render_html(&quickstart(5).input()).contains("id=\"published\""));
}

#[test]
fn csv_and_json_hold_both_sides() {
    let fixture = published();
    let csv = in_format(&fixture, Format::Csv);
    let fields = |line: &str| csv_fields(line).len();
    let width = fields(csv.lines().next().unwrap());
    assert!(csv.lines().all(|line| fields(line) == width));
    let found: Vec<&str> = csv.lines().filter(|line| line.starts_with("published,")).collect();
    insta::assert_snapshot!(found.join("\n"));
    let json: serde_json::Value = serde_json::from_str(&in_format(&fixture, Format::Json)).unwrap();
    let first = &json["published"][0]["findings"][1];
    assert_eq!(first["verdict"], "same_direction");
    insta::assert_json_snapshot!(first);
}

/// Splits a line at the commas outside of quotes.
pub(crate) fn csv_fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(String::new()),
            other => fields.last_mut().unwrap().push(other),
        }
    }
    fields
}
