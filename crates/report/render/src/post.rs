//! The report as Markdown with SVG files, for a post.

use crate::comparison;
use crate::document::Part;
use crate::html::{command, explained};
use crate::input::{Compared, ReportInput};
use crate::meta::Meta;
use crate::plot::{Picture, Subject, gallery};
use crate::where_cpu;

/// Returns the files of a post: `report.md` and its pictures.
pub fn render_markdown_post(input: &ReportInput<'_>) -> Vec<(String, Vec<u8>)> {
    let meta = Meta::of_runs(input.manifest, input.runs);
    let compared =
        Compared::of(input.comparison, &meta, input.runs, &input.manifest.host, input.findings);
    let pictures = gallery(&Subject::of(*input, &compared));
    let drawn = [pictures.answer, pictures.more, pictures.costs].into_iter().flatten();
    let drawn: Vec<Picture> = drawn.collect();
    let file = |one: &Picture| (format!("{}.svg", one.labels.name), one.file().into_bytes());
    let cpu = where_cpu::section(input, &compared);
    let pictures = drawn.iter().chain(where_cpu::pictures(&cpu));
    let pictures: Vec<(String, Vec<u8>)> = pictures.map(file).collect();
    let mut document = comparison::document(&compared, None, true);
    document.add(Part::title("Explained").above(explained(input, &compared)));
    document.add(Part::title(where_cpu::TITLE).above(cpu));
    let trade_offs = comparison::trade_offs(&compared);
    document.add(Part::title(comparison::TRADE_OFFS).above(trade_offs));
    document.add(drawn.into_iter().map(Part::Picture));
    let line = command(&input.manifest.command_line);
    document.add([Part::title("To repeat the experiment"), Part::Verbatim(line)]);
    let text = document.markdown();
    let mut files = vec![("report.md".to_owned(), text.into_bytes())];
    files.extend(pictures);
    files
}
