//! Final tree shapes: levels of an LSM, height of a B-tree.

use model::state::LevelShape;
use model::units::many;
use model::{Bytes, EngineState, RunRecord, float};

use crate::document::{Cell, Part, Table, Tone};
use crate::input::ReportInput;

/// Returns the section; nothing when no engine reports its shape.
pub(crate) fn section(input: &ReportInput<'_>) -> Vec<Part> {
    let variants = input.comparison.variants.iter();
    let shapes: Vec<Shape<'_>> =
        variants.filter_map(|variant| Shape::of(input.runs, &variant.name)).collect();
    let depth = shapes.iter().map(Shape::depth).max().unwrap_or(0);
    let mut table = Table::named("", shapes.iter().map(|shape| shape.variant));
    table.labels("after", shapes.iter().map(|shape| shape.step));
    table.figures("tree", shapes.iter().map(Shape::tree));
    for level in 0..depth {
        table.figures(format!("L{level}"), shapes.iter().map(|shape| shape.level(level)));
    }
    let about = "State after the last step of the first complete run of each variant. Each bar \
                 shows the share of the tree's bytes that is in the level. Engines that do not \
                 report a tree have no row. B-trees have no levels.";
    Part::Text(about.to_owned()).above([Part::Table(table)])
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
        let (step, state) = (last.step.name.as_str(), last.final_state());
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

    fn bytes(&self) -> u64 {
        self.levels().iter().map(|level| level.bytes).sum()
    }

    /// Returns the height of a B-tree, or the size of an LSM tree.
    fn tree(&self) -> Cell {
        match self.state.tree_height {
            Some(height) => format!("height {height}").into(),
            None => {
                let files: u64 = self.levels().iter().map(|level| level.files).sum();
                Cell::from(Bytes(self.bytes()).to_string()).with(many(files, "file"))
            }
        }
    }

    fn level(&self, number: u32) -> Cell {
        let mut levels = self.levels().iter().filter(|level| level.files > 0 || level.bytes > 0);
        let Some(level) = levels.find(|level| level.level == number) else {
            return Cell::new("\u{2013}", Tone::Grey);
        };
        let share = float(level.bytes) / float(self.bytes().max(1));
        let files = many(level.files, "file");
        let cell = Cell::from(Bytes(level.bytes).to_string()).with(files);
        Cell { bar: Some(share), ..cell }
    }
}
