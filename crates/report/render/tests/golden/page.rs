//! The page and the post: structure, self-containment, size.

use std::collections::BTreeSet;
use std::path::Path;

use model::RunEnd;
use model::validity::InvalidCause;
use render::{ReportInput, render_html, render_markdown_post};

use crate::explain::wait;
use crate::fixture::{
    Fixture, adaptive, bogus, controlled, open_loops, quickstart, sweep, two_releases,
};

/// Stores a file for inspection by hand.
pub(crate) fn store(name: &str, bytes: &[u8]) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(name), bytes).unwrap();
}

/// Walks the tags of a page and panics where one is closed that is not the last opened.
pub(crate) fn assert_well_nested(page: &str) {
    const UNCLOSED: [&str; 2] = ["meta", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        let end = start + rest[start..].find('>').expect("every tag ends");
        let tag = &rest[start + 1..end];
        rest = &rest[end + 1..];
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed before: {}", &rest[..rest.len().min(200)]);
            continue;
        }
        let name = tag.split([' ', '\n']).next().unwrap();
        if !UNCLOSED.contains(&name) && !name.starts_with('?') {
            open.push(name);
        }
    }
    assert_eq!(open, [""; 0], "left open");
}

#[test]
fn page_needs_neither_network_nor_script() {
    let page = render_html(&quickstart(5).input());
    store("quickstart.html", page.as_bytes());
    assert!(page.contains("<svg") && page.contains("<table"));
    for foreign in ["http:", "https:", "src=", "<script", "url(", "@import", "<link", "javascript:"]
    {
        assert!(!page.contains(foreign), "the page has {foreign}");
    }
}

#[test]
fn page_is_well_nested_with_sections_in_order() {
    let page = render_html(&quickstart(5).input());
    assert_well_nested(&page);
    let order = [
        "<h1>",
        "answer",
        "pictures",
        "warnings",
        "explained",
        "evidence",
        "costs",
        "shape",
        "how",
        "more",
        "<footer>",
    ];
    let places: Vec<usize> = order
        .iter()
        .map(|name| {
            let mark =
                if name.starts_with('<') { (*name).to_owned() } else { format!("id=\"{name}\"") };
            page.find(&mark).unwrap_or_else(|| panic!("no {mark}"))
        })
        .collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn every_picture_and_table_names_every_variant() {
    let fixture = quickstart(5);
    let page = render_html(&fixture.input());
    let pictures: Vec<&str> = page.split("<figure").skip(1).collect();
    assert_eq!(pictures.len(), 8);
    for variant in &fixture.manifest.plan.experiment.variants {
        let name = format!(">{}", variant.name);
        // The base has no row in the picture of verdicts: it is the line at 1.
        let is_base = variant.name == fixture.manifest.plan.experiment.base;
        for picture in pictures.iter().skip(usize::from(is_base)) {
            assert!(picture.contains(&name), "{name} is missing in {}", &picture[..60]);
        }
    }
}

#[test]
fn first_screen_has_question_label_and_key_facts() {
    let page = render_html(&quickstart(5).input());
    let (header, _) = page.split_once("</header>").unwrap();
    for expected in [
        "Which embedded engine, on this machine?",
        "3 interleaved repetitions",
        "durability class os (survives a process crash)",
        "23 of 24 runs are complete",
        "Verdict: TRUTHY. Usable, with ",
        "(assay lint quickstart).",
    ] {
        assert!(header.contains(expected), "missing in the header: {expected}");
    }
    assert!(page.contains("fjall.c1.r2 crashed in readwhilewriting: signal 11"));
}

#[test]
fn page_has_command_machine_and_builds() {
    let page = render_html(&quickstart(5).input());
    let (_, how) = page.split_once("id=\"how\"").unwrap();
    for expected in [
        "assay run experiments/quickstart.toml --results 'my results'",
        "Intel(R) Xeon(R)",
        "20261120",
        "9f86d081884c<",
        "kCompactionStyleUniversal",
        "rocksdb-11.8.c1.r3",
    ] {
        assert!(how.contains(expected), "missing: {expected}");
    }
    // An option equal in all variants of an engine is no difference.
    let (differing, _) = how.split_once("id=\"more\"").unwrap();
    assert!(differing.contains("compaction_style") && !differing.contains("paranoid_checks"));
}

#[test]
fn page_has_methods_and_waivers() {
    let mut fixture = controlled();
    fixture.manifest.plan.experiment.waivers =
        vec![model::Waiver { code: "A003".to_owned(), reason: "debt is the question".to_owned() }];
    let mut fixture = fixture.compared();
    fixture.findings.clear();
    let page = render_html(&fixture.input());
    store("controlled.html", page.as_bytes());
    assert_well_nested(&page);
    let (header, _) = page.split_once("</header>").unwrap();
    assert!(header.contains("A003 waived: debt is the question. No other warning."));
    assert!(page.contains("No rule found anything."));
    let (_, how) = page.split_once("How it was compared").unwrap();
    for expected in [
        "smallest difference that matters",
        "paired t-test on the log ratios of blocks",
        "5 comparisons; ",
        "rocksdb-9.10-again: a copy of the base; ",
        "Rules waived by the author",
    ] {
        assert!(how.contains(expected), "missing: {expected}");
    }
}

/// Returns the text of a page's section on explanations.
fn explained(fixture: &Fixture) -> String {
    let page = render_html(&fixture.input());
    let Some((_, section)) = page.split_once("id=\"explained\"") else { return String::new() };
    let (section, _) = section.split_once("</section>").unwrap();
    without_tags(section, "\n")
}

/// Returns the texts between the tags.
pub(crate) fn without_tags(page: &str, separator: &str) -> String {
    let tags = page.split('<').filter_map(|part| part.split_once('>'));
    let texts = tags.map(|(_, text)| text).filter(|text| !text.is_empty());
    texts.collect::<Vec<_>>().join(separator)
}

/// Accounts for the time in every run of a fixture, and compares anew.
fn accounted(mut fixture: Fixture) -> Fixture {
    fixture.runs.iter_mut().for_each(|run| wait(run, 0.98));
    fixture.compared()
}

#[test]
fn each_variant_but_the_control_is_explained_by_its_largest_difference() {
    let fixture = accounted(controlled());
    store("explained.html", render_html(&fixture.input()).as_bytes());
    let post = render_markdown_post(&fixture.input());
    let text = String::from_utf8(post[0].1.clone()).unwrap();
    let (_, text) = text.split_once("## Explained\n\n").unwrap();
    let text = text.split_once("\n\n## ").unwrap().0;
    insta::assert_snapshot!(text);
    let page = explained(&fixture);
    for word in ["of each: ", "time per operation", "Not explained", "other steps in which"] {
        assert_eq!(page.matches(word).count(), text.matches(word).count(), "{word}: {page}");
    }
}

#[test]
fn unaccounted_difference_takes_one_line() {
    let text = explained(&controlled());
    assert!(text.contains("]. Not explained: the records lack "), "{text}");
}

#[test]
fn bogus_or_unestablished_difference_is_not_explained() {
    assert_eq!(explained(&accounted(bogus())), "");
    assert_eq!(explained(&accounted(two_releases(5))), "");
}

#[test]
fn explanation_has_the_intervals_of_the_comparison() {
    let fixture = accounted(quickstart(5));
    let (page, text) = (render_html(&fixture.input()), explained(&fixture));
    let (answer, _) = page.split_once("id=\"explained\"").unwrap();
    let headlines: Vec<&str> = text.lines().filter(|line| line.contains(" runs of each")).collect();
    assert!(headlines.len() > 8, "{text}");
    for headline in headlines.iter().filter(|line| line.contains(" times the ")) {
        let limits = headline.split(['[', ']']).nth(1).unwrap();
        assert!(answer.contains(&format!("[{limits}]")), "{headline}");
    }
}

#[test]
fn page_of_a_long_experiment_is_below_three_megabytes() {
    let page = render_html(&quickstart(60).input());
    store("long.html", page.as_bytes());
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
}

#[test]
fn page_of_one_repetition_claims_nothing() {
    let page = render_html(&two_releases(5).input());
    store("releases.html", page.as_bytes());
    assert_well_nested(&page);
    assert!(page.contains("no verdict (one run may be noise)"));
    // Lines of public reports are coloured by the rule of these reports.
    let (before, rest) = page.split_once("<summary>A line per variant and step").unwrap();
    let (_, after) = rest.split_once("</section>").unwrap();
    for part in [before, after] {
        assert!(!part.contains("class=\"better\"") && !part.contains("class=\"worse\""));
    }
}

#[test]
fn experiment_of_killed_runs_has_a_page() {
    let mut fixture = two_releases(5);
    for run in &mut fixture.runs {
        run.steps.clear();
        run.end =
            RunEnd::OutOfMemory { step: "filluniquerandom".to_owned(), reason: String::new() };
    }
    fixture.intervals.clear();
    let experiment = &fixture.manifest.plan.experiment;
    let comparison = analysis::compare(
        &fixture.runs,
        experiment,
        &experiment.base,
        &analysis::NoiseHistory::default(),
    )
    .unwrap();
    let page = render_html(&ReportInput { comparison: &comparison, ..fixture.input() });
    assert_well_nested(&page);
    assert!(page.contains("No run finished a step"));
    assert!(page.contains("killed for memory in filluniquerandom; the run finished no step"));
}

#[test]
fn markup_in_names_is_escaped() {
    let mut fixture = two_releases(5);
    fixture.manifest.plan.experiment.question = "<script>alert(1)</script> & \"more\"?".to_owned();
    let page = render_html(&fixture.input());
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    assert_well_nested(&page);
}

#[test]
fn levels_of_clients_have_their_own_columns() {
    let mut fixture = two_releases(5);
    let mut more = fixture.runs.clone();
    for run in &mut more {
        run.cell.clients = 4;
    }
    fixture.intervals.extend(fixture.intervals.clone());
    fixture.manifest.plan.cells.extend(more.iter().map(|run| run.cell.clone()));
    fixture.manifest.plan.experiment.clients.push(4);
    // The fill has one client in all runs.
    for step in &mut fixture.manifest.plan.experiment.steps[1..] {
        step.clients = 0;
    }
    fixture.runs.extend(more);
    let experiment = &fixture.manifest.plan.experiment;
    let comparison = analysis::compare(
        &fixture.runs,
        experiment,
        &experiment.base,
        &analysis::NoiseHistory::default(),
    )
    .unwrap();
    let page = render_html(&ReportInput { comparison: &comparison, ..fixture.input() });
    store("levels.html", page.as_bytes());
    assert!(page.contains("readrandom, 1 client<") && page.contains("readrandom, 4 clients<"));
    assert!(page.contains("filluniquerandom, 1 client (in runs of 4)<"));
    assert!(page.contains("id=\"amplification-c1\"") && page.contains("id=\"amplification-c4\""));
}

#[test]
fn post_names_its_picture_files() {
    let files = render_markdown_post(&quickstart(5).input());
    files.iter().for_each(|(name, bytes)| store(name, bytes));
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    assert_eq!(files[0].0, "report.md");
    assert!(files.len() > 5);
    for (name, bytes) in &files[1..] {
        assert!(text.contains(&format!("]({name})")), "{name} is not in the post");
        let svg = std::str::from_utf8(bytes).unwrap();
        assert!(svg.starts_with("<?xml") && svg.contains("xmlns=\"http://www.w3.org/2000/svg\""));
        assert_well_nested(svg);
    }
    let names: BTreeSet<&String> = files.iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), files.len(), "two files of one name");
}

#[test]
fn same_records_give_the_same_page() {
    let page = |fixture: Fixture| render_html(&fixture.input());
    assert_eq!(page(quickstart(5)), page(quickstart(5)));
}

#[test]
fn open_loops_searches_and_sweeps_have_their_pictures() {
    let page = render_html(&open_loops().input());
    store("open.html", page.as_bytes());
    assert_well_nested(&page);
    for id in ["highest", "rates", "times", "seconds", "responses"] {
        assert!(page.contains(&format!("<figure id=\"{id}\"")), "no picture {id}");
    }
    for cause in [InvalidCause::Throttled, InvalidCause::Aftermath] {
        assert!(page.contains(&format!("invalid: {}: ", cause.phrase())));
    }
    assert!(page.contains("1 run invalid, not counted"));
    let page = render_html(&sweep().input());
    store("sweep.html", page.as_bytes());
    assert_well_nested(&page);
    assert!(page.contains("<figure id=\"scaling\"") && page.contains("USL: contention"));
    let page = render_html(&adaptive().input());
    store("adaptive.html", page.as_bytes());
    assert_well_nested(&page);
    assert!(page.contains("<figure id=\"scaling\""));
}

#[test]
fn page_of_invalid_runs_reports_them() {
    let mut fixture = open_loops();
    for run in &mut fixture.runs {
        run.invalid = Some("the client was late throughout".to_owned());
    }
    let fixture = fixture.compared();
    let page = render_html(&fixture.input());
    assert_well_nested(&page);
    assert!(page.contains("Nothing is counted") && page.contains("9 runs invalid, not counted"));
}
