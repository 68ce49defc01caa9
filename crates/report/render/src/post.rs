//! The report as Markdown with SVG files, for a post.

use crate::comparison::render_comparison;
use crate::explain::{Chosen, chosen};
use crate::format::{Format, Style};
use crate::html::command;
use crate::input::{Compared, ReportInput};
use crate::meta::Meta;
use crate::plot::{Picture, Subject, gallery};

/// Returns the files of a post: `report.md` and its pictures.
#[must_use]
pub fn render_markdown_post(input: &ReportInput<'_>) -> Vec<(String, Vec<u8>)> {
    let meta = Meta::of(input.manifest);
    let comparison = input.comparison;
    let style = Style { has_costs: true, ..Style::default() };
    let compared =
        Compared::of(comparison, &meta, input.runs, &input.manifest.host, input.findings);
    let pictures = gallery(&Subject::of(*input, &compared));
    let tables = render_comparison(&compared, Format::Markdown, style);
    let mut parts = vec![tables.trim().to_owned()];
    parts.extend(explained(input, &compared));
    let all = [&pictures.answer, &pictures.more, &pictures.costs].into_iter().flatten();
    let drawn: Vec<&Picture> = pictures.published.iter().chain(all).collect();
    for picture in &drawn {
        let labels = &picture.labels;
        parts.push(format!(
            "## {0}\n\n![{0}]({1}.svg)\n\n{2}",
            labels.title, labels.name, labels.caption
        ));
    }
    let line = command(&input.manifest.command_line);
    parts.push(format!("## To repeat it\n\n```sh\n{line}\n```"));
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n");
    let mut files = vec![("report.md".to_owned(), (text + "\n").into_bytes())];
    let file = |picture: &&Picture| (format!("{}.svg", picture.labels.name), picture.file().into());
    files.extend(drawn.iter().map(file));
    files
}

/// Returns where each variant's largest difference is; nothing where none is established.
fn explained(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<String> {
    let chosen = chosen(input, compared);
    let text = |one: &Chosen| {
        let largest = one.largest.refusal().unwrap_or_else(|| one.largest.markdown());
        let others = format!("\n\nOther steps in which it differs: `{}`", one.command(compared));
        largest + if one.others.is_empty() { "" } else { &others }
    };
    let title = (!chosen.is_empty()).then(|| "## Explained".to_owned());
    title.into_iter().chain(chosen.iter().map(text)).collect()
}
