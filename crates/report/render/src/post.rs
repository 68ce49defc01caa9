//! The report as Markdown with SVG files, for a post.

use crate::comparison;
use crate::document::Part;
use crate::explain::chosen;
use crate::format::{Format, Style};
use crate::html::command;
use crate::input::{Compared, ReportInput};
use crate::meta::Meta;
use crate::plot::{Picture, Subject, gallery};

/// Returns the files of a post: `report.md` and its pictures.
pub fn render_markdown_post(input: &ReportInput<'_>) -> Vec<(String, Vec<u8>)> {
    let meta = Meta::of(input.manifest);
    let compared =
        Compared::of(input.comparison, &meta, input.runs, &input.manifest.host, input.findings);
    let pictures = gallery(&Subject::of(*input, &compared));
    let drawn = [pictures.answer, pictures.more, pictures.costs].into_iter().flatten();
    let drawn: Vec<Picture> = drawn.collect();
    let file = |one: &Picture| (format!("{}.svg", one.labels.name), one.file().into_bytes());
    let pictures: Vec<(String, Vec<u8>)> = drawn.iter().map(file).collect();
    let mut document = comparison::document(&compared, Format::Markdown, true);
    document.add(explained(input, &compared));
    document.add(drawn.into_iter().map(Part::Picture));
    let line = command(&input.manifest.command_line);
    document.add([Part::Heading(2, "To repeat it".to_owned()), Part::Command(line)]);
    let text = document.render(Format::Markdown, Style::default());
    let mut files = vec![("report.md".to_owned(), text.into_bytes())];
    files.extend(pictures);
    files
}

/// Returns where each variant's largest difference is; nothing where none is established.
fn explained(input: &ReportInput<'_>, compared: &Compared<'_>) -> Vec<Part> {
    let chosen = chosen(input, compared);
    let title = (!chosen.is_empty()).then(|| Part::Heading(2, "Explained".to_owned()));
    let mut parts: Vec<Part> = title.into_iter().collect();
    for one in chosen {
        let command = one.command(compared);
        let others = (!one.others.is_empty())
            .then(|| Part::Text(format!("Other steps in which it differs: `{command}`")));
        parts.extend(one.largest.in_report().into_iter().chain(others));
    }
    parts
}
