//! A storage profile as one self-contained HTML page.

use analysis::device_figures;
use maud::html;
use model::DeviceRecord;

use super::render::{summary, tables};
use crate::document::{self, Part};
use crate::html::page;
use crate::plot::device_pictures;

/// Returns a profile as a page: warnings, pictures, tables, and one job file of each kind.
pub fn render_device_page(record: &DeviceRecord, earlier: Option<&DeviceRecord>) -> String {
    let figures = device_figures(record, earlier);
    let pictures = device_pictures(&figures).into_iter().map(Part::Picture);
    // The fewest jobs of each test stand for the others, which differ in a number.
    let mut of_test = Vec::new();
    for cell in &record.cells {
        let key = (cell.access, cell.test);
        if !of_test.iter().any(|(other, _)| *other == key) {
            of_test.push((key, &cell.job_file));
        }
    }
    let titles: Vec<String> = record.targets.iter().map(|target| target.path.clone()).collect();
    let title = format!("Storage of {}", titles.join(" and "));
    let body = html! {
        header { p.kicker { "Assay \u{b7} " (record.id) } h1 { (title) } }
        main {
            (document::html(&summary(record, earlier)))
            section id="pictures" { (document::html(&pictures.collect::<Vec<_>>())) }
            section id="tables" { (document::html(&tables(record, &figures))) }
            section id="jobs" {
                h2 { "Job files" }
                @for ((access, test), text) in &of_test {
                    details { summary { (access) " " (test) } pre { code { (text) } } }
                }
            }
        }
        footer { "Made by Assay " (record.assay_version) }
    };
    page(&title, &body)
}
