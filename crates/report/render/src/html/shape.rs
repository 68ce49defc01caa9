//! Final tree shapes: levels of an LSM, height of a B-tree.

use maud::{Markup, html};
use model::state::LevelShape;
use model::{Bytes, EngineState, RunRecord};

use crate::input::ReportInput;

/// Returns the section; nothing when no engine reports its shape.
pub(super) fn section(input: &ReportInput<'_>) -> Markup {
    let shapes: Vec<Shape<'_>> = input
        .comparison
        .variants
        .iter()
        .filter_map(|variant| Shape::of(input.runs, &variant.name))
        .collect();
    let depth = shapes.iter().map(Shape::depth).max().unwrap_or(0);
    html! {
        @if !shapes.is_empty() {
            section id="shape" {
                h2 { "Shape of the trees" }
                p { "As the first complete run of each variant left them after its last step. A \
                     bar is the level's share of the tree's bytes; engines that report no \
                     tree have no row." }
                div.wide { table.shape {
                    thead { tr {
                        th {}
                        th.text { "after" }
                        th { "tree" }
                        @for level in 0..depth { th { "L" (level) } }
                    } }
                    tbody { @for shape in &shapes { (row(shape, depth)) } }
                } }
            }
        }
    }
}

/// One variant's tree.
struct Shape<'a> {
    variant: &'a str,
    step: &'a str,
    state: &'a EngineState,
}

impl<'a> Shape<'a> {
    fn of(runs: &'a [RunRecord], variant: &str) -> Option<Self> {
        let mut own = runs.iter().filter(|run| run.cell.variant == variant);
        let run = own.find(|run| run.end.is_complete())?;
        let last = run.steps.last()?;
        let (step, state) = (last.step.name.as_str(), &last.after);
        let is_known = state.levels.is_some() || state.tree_height.is_some();
        is_known.then_some(Self { variant: &run.cell.variant, step, state })
    }

    fn levels(&self) -> &[LevelShape] {
        self.state.levels.as_deref().unwrap_or_default()
    }

    /// Returns how many levels the table needs for this tree.
    fn depth(&self) -> u32 {
        self.levels().iter().map(|level| level.level + 1).max().unwrap_or(0)
    }
}

fn row(shape: &Shape<'_>, depth: u32) -> Markup {
    let total: u64 = shape.levels().iter().map(|level| level.bytes).sum();
    let files: u64 = shape.levels().iter().map(|level| level.files).sum();
    let at = |number: u32| shape.levels().iter().find(|level| level.level == number);
    html! {
        tr {
            th scope="row" { (shape.variant) }
            td.text { (shape.step) }
            @if let Some(height) = shape.state.tree_height {
                td { "height " (height) }
                @if depth > 0 { td.text colspan=(depth) { "B-tree: no levels" } }
            } @else {
                td { (Bytes(total)) small { (files) " files" } }
                @for number in 0..depth { (level(at(number), total)) }
            }
        }
    }
}

fn level(level: Option<&LevelShape>, total: u64) -> Markup {
    let Some(level) = level.filter(|level| level.files > 0 || level.bytes > 0) else {
        return html! { td.none { "\u{2013}" } };
    };
    let tenths = u128::from(level.bytes) * 1_000 / u128::from(total.max(1));
    let width = format!("width:{}.{}%", tenths / 10, tenths % 10);
    html! {
        td {
            (Bytes(level.bytes))
            small { (level.files) @if level.files == 1 { " file" } @else { " files" } }
            span.bar { span style=(width) {} }
        }
    }
}
