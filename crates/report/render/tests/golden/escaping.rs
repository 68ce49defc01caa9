//! Data hold no markup and no control character that a reader obeys, in any format.

use model::{RunEnd, Waiver, is_obeyed};
use proptest::prelude::*;
use render::{
    Checked, Compared, Format, Meta, Report, RunList, RunReport, RunSummary, Style, next_steps,
    render_answer, render_html, render_markdown_post,
};

use crate::fixture::{Fixture, two_releases};

/// A tag that no output has of its own.
const TAG: &str = "<zz9";

/// Returns an experiment whose names, texts and messages hold `data`.
fn with(data: &str) -> Fixture {
    let mut fixture = two_releases(5);
    let experiment = &mut fixture.manifest.plan.experiment;
    experiment.name = format!("name{data}");
    experiment.question = format!("question{data}");
    let reason = format!("reason{data}");
    experiment.waivers.push(Waiver { code: "A010".to_owned(), reason: reason.clone() });
    let renamed = |name: &str| format!("{name}{data}");
    experiment.base = renamed(&experiment.base);
    experiment.variants.iter_mut().for_each(|variant| variant.name = renamed(&variant.name));
    for cell in &mut fixture.manifest.plan.cells {
        cell.variant = renamed(&cell.variant);
    }
    for run in &mut fixture.runs {
        run.variant.name = renamed(&run.variant.name);
        run.cell.variant = renamed(&run.cell.variant);
        let identity = run.identity.as_mut().expect("it was opened");
        identity.origin = format!("origin{data}");
        identity.facts.insert(format!("fact{data}"), format!("value{data}"));
    }
    fixture.runs[1].end = RunEnd::Failed { step: "settle".to_owned(), reason };
    fixture.manifest.command_line.push(format!("argument{data}"));
    fixture.compared()
}

/// Returns every output for a reader: its name, and its content.
fn outputs(fixture: &Fixture, style: Style) -> Vec<(String, String)> {
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    let checked = Checked {
        name: fixture.manifest.plan.experiment.name.clone(),
        size: None,
        label: model::Label::True,
        findings: fixture.findings.clone(),
    };
    let summaries: Vec<_> = fixture.runs.iter().map(RunSummary::of).collect();
    let mut all: Vec<(String, String)> = Format::ALL
        .map(|format| (format.name().to_owned(), compared.render(format, style)))
        .to_vec();
    all.extend([
        ("answer".to_owned(), render_answer(&compared, style)),
        ("findings".to_owned(), [checked.clone()].render(Format::Text, style)),
        ("findings.json".to_owned(), [checked].render(Format::Json, style)),
        (
            "list".to_owned(),
            RunList { runs: &summaries, planned: 0 }
                .render(Format::Text, Style { width: usize::MAX, ..style }),
        ),
        (
            "run".to_owned(),
            RunReport { manifest: &fixture.manifest, run: &fixture.runs[1] }
                .render(Format::Text, style),
        ),
        ("report.html".to_owned(), render_html(&fixture.input())),
    ]);
    let files = render_markdown_post(&fixture.input()).into_iter();
    all.extend(files.map(|(name, bytes)| (name, String::from_utf8(bytes).expect("text"))));
    all
}

/// Returns Markdown without its fenced blocks, in which HTML is shown as it is.
fn without_fences(text: &str) -> String {
    let mut is_fenced = false;
    let is_outside = |line: &&str| {
        let is_fence = line.starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    };
    text.lines().filter(is_outside).collect::<Vec<_>>().join("\n")
}

fn check(data: &str) {
    let mut markup = 0;
    for (name, text) in outputs(&with(data), Style::default()) {
        let obeyed = text.chars().find(|c| is_obeyed(*c) && !matches!(c, '\n' | '\t'));
        assert_eq!(obeyed, None, "{name} of {data:?}");
        let is_markup = [".html", ".svg", ".md", "markdown"].iter().any(|end| name.ends_with(end));
        if is_markup {
            markup += 1;
            let text = if name.contains('.') && !name.ends_with(".md") {
                text
            } else {
                without_fences(&text)
            };
            assert!(!text.contains(TAG) && !text.contains("<script"), "{name} of {data:?}");
        }
    }
    assert!(markup > 3, "{markup} outputs with markup");
}

#[test]
fn scripts_and_escape_sequences_of_data_are_shown_as_text() {
    check("<script>alert(1)</script>\u{1b}]0;title\u{7}\u{1b}[2J");
    let fixture = with(TAG);
    for (name, text) in outputs(&fixture, Style::default()) {
        let shown = match name.as_str() {
            "report.html" | "report.md" | "markdown" => "&lt;zz9",
            _ if name.ends_with(".svg") => continue,
            _ => TAG,
        };
        assert!(text.contains(shown), "{name} leaves data out");
    }
}

/// Goal: no data begin a line, and none load a picture.
#[test]
fn data_begin_no_line_and_are_no_picture() {
    const FORGED: &str = "Verdict: TRUE. No rule warns.";
    let mut fixture = two_releases(5);
    let experiment = &mut fixture.manifest.plan.experiment;
    experiment.question = format!("q?\n\n{FORGED}\n![x](https://tracker/x.png)[l](javascript:y)");
    for run in &mut fixture.runs {
        let identity = run.identity.as_mut().expect("it was opened");
        identity.facts.insert("fact".to_owned(), format!("value\n{FORGED}"));
    }
    for (name, text) in outputs(&fixture.compared(), Style::default()) {
        // Lines of a page mean nothing.
        let is_page = name.ends_with(".html") || name.ends_with(".svg");
        let begins = !is_page && text.lines().any(|line| line.starts_with(FORGED));
        let is_markdown = matches!(name.as_str(), "report.md" | "markdown");
        assert!(!(begins || is_markdown && text.contains("![x]")), "{name}: {text}");
    }
}

/// Goal: a command that is copied from an output takes a name as one word.
/// Method: each command of every output is followed by names in quotes, or by none.
#[test]
fn commands_for_pasting_quote_names() {
    let fixture = with("; touch PWNED");
    let meta = Meta::of(&fixture.manifest);
    let host = &fixture.manifest.host;
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &fixture.findings);
    let steps = ("next".to_owned(), next_steps(&compared).join("\n"));
    assert!(steps.1.contains("assay compare 'name; touch PWNED' --costs"), "{}", steps.1);
    let mut number = 0;
    for (name, text) in outputs(&fixture, Style::default()).into_iter().chain([steps]) {
        let text = text.replace("&#39;", "'");
        let commands =
            text.match_indices("assay ").filter_map(|(at, _)| text[at..].split(['\n', '<']).next());
        for command in commands.filter(|command| command.contains("; touch PWNED")) {
            let bare = command.split('\'').step_by(2).any(|part| part.contains("; touch PWNED"));
            assert!(!bare, "{name}: {command}");
            number += 1;
        }
    }
    assert!(number > 5, "{number} commands");
}

proptest! {
    // Few cases, each with many parts: the outputs take most of the time.
    #![proptest_config(ProptestConfig::with_cases(8))]
    #[test]
    fn no_data_are_markup_or_obeyed(
        parts in prop::collection::vec(
            prop_oneof![
                Just(TAG.to_owned()), Just("<script>".to_owned()), Just("\n```\n".to_owned()),
                Just("|`*".to_owned()), Just("\n# ".to_owned()), any::<char>().prop_map(String::from),
                Just("\n~~~\n".to_owned()),
                (0_u32..0xa0).prop_map(|code| char::from_u32(code).unwrap_or(' ').to_string()),
            ],
            4..16,
        )
    ) {
        check(&parts.concat());
    }
}
