//! Columns and rows of the table, before they are given a format.

use analysis::{CellComparison, MeanOfRuns, Measured, Rank, TradeOff};
use model::{Bytes, Label, metric};
use stats::Spread;

use crate::comparison::tables::{lower_bound, mean_cell};
use crate::document::{Cell, Tone};
use crate::figure::{self, digits};
use crate::input::Compared;
use crate::label::{level_suffix, variant_label};
use crate::meta::Meta;

/// A column: metric, name in data, heading, and what it takes to measure it.
pub(super) struct Column {
    pub(super) metric: &'static str,
    pub(super) name: &'static str,
    pub(super) heading: &'static str,
    pub(super) needs: &'static str,
}

/// The columns; blocks per point read are shown where they are known.
pub(super) const COLUMNS: [Column; 7] = [
    Column {
        metric: metric::STORAGE_READS_PER_POINT_READ.name,
        name: "read",
        heading: "read\nrequests/row",
        needs: "read: a step with point reads only (readrandom), on a known device",
    },
    Column {
        metric: metric::READ_AMPLIFICATION.name,
        name: "blocks",
        heading: "\nblocks/row",
        needs: "",
    },
    Column {
        metric: metric::STORAGE_READS_PER_RANGE_ROW.name,
        name: "range_read",
        heading: "range read\nrequests/row",
        needs: "range read: a step with range reads only (fwdrange)",
    },
    Column {
        metric: metric::BYTES_WRITTEN_PER_BYTE_PUT.name,
        name: "write",
        heading: "bytes written\nper byte put",
        needs: "bytes written: steps that write (overwrite) and a settle, in records that count \
                write calls (older records do not)",
    },
    Column {
        metric: metric::WRITE_AMPLIFICATION_PROCESS.name,
        name: "storage",
        heading: "to storage\nper byte put",
        needs: "",
    },
    Column {
        metric: metric::SPACE_AMPLIFICATION.name,
        name: "space",
        heading: "space\nbytes/byte",
        needs: "space: rows that reached storage",
    },
    Column {
        metric: metric::CACHE_AMPLIFICATION.name,
        name: "cache",
        heading: "cache\nbytes/byte",
        needs: "cache: uniform point reads (readrandom after a load of every row) with a memory \
                cap, some of which are answered without storage",
    },
];

/// Returns whether some variant has the metric of a column, or a lower bound.
pub(super) fn is_known(compared: &Compared<'_>, column: &Column) -> bool {
    let own = |one: &&TradeOff| one.metric.name == column.metric;
    let mut all = compared.comparison.trade_offs.iter().filter(own);
    let mut cells = compared.comparison.runs.iter().flat_map(|level| &level.cells);
    all.any(|one| one.means.iter().any(Option::is_some))
        || cells.any(|cell| lower_bound(column.metric, cell).is_some())
}

/// Returns what distinguishes each size: bytes of a value, of all rows, data to memory.
///
/// The experiment too where these are the same.
pub(super) fn size_labels(sizes: &[Compared<'_>]) -> Vec<String> {
    let all: Vec<String> = sizes.iter().map(|one| size_label(one.meta)).collect();
    let is_twin = |label: &String| all.iter().filter(|other| *other == label).count() > 1;
    let label = |(label, one): (&String, &Compared<'_>)| match is_twin(label) {
        true => format!("{label} \u{b7} {}/{}", one.meta.name, one.meta.id),
        false => label.clone(),
    };
    all.iter().zip(sizes).map(label).collect()
}

fn size_label(meta: &Meta) -> String {
    let (shape, data) = (&meta.shape, meta.shape.live_bytes());
    let value = Bytes(shape.value_bytes.into());
    let memory = meta.memory_bytes.filter(|memory| memory.0 > 0);
    let ratio = memory.map(|memory| match model::float(data.0) / model::float(memory.0) {
        ratio if ratio >= 1.0 => format!(" \u{b7} {}:1", short(ratio)),
        ratio => format!(" \u{b7} 1:{}", short(1.0 / ratio)),
    });
    format!("{value} \u{b7} {data}{}", ratio.unwrap_or_default())
}

/// Returns a ratio from 1 on with one decimal place, if that is not 0.
fn short(ratio: f64) -> String {
    format!("{ratio:.1}").trim_end_matches(".0").to_owned()
}

/// A variant at one level of clients in one size.
pub(super) struct Row<'a> {
    pub(super) compared: &'a Compared<'a>,
    size: usize,
    /// Position among the comparison's variants.
    variant: usize,
    /// The trade-offs of this level, in the order of [`COLUMNS`].
    level: &'a [TradeOff],
}

/// Returns the rows, by size, level of clients and variant.
pub(super) fn rows<'a>(sizes: &'a [Compared<'a>]) -> Vec<Row<'a>> {
    let of_size = |(size, compared): (usize, &'a Compared<'a>)| {
        let comparison = compared.comparison;
        let levels = comparison.trade_offs.chunk_by(|one, two| one.clients == two.clients);
        let variants = comparison.variants.len();
        let of_level =
            move |level| (0..variants).map(move |variant| Row { compared, size, variant, level });
        levels.flat_map(of_level)
    };
    sizes.iter().enumerate().flat_map(of_size).collect()
}

impl Row<'_> {
    pub(super) fn name(&self) -> &str {
        &self.compared.comparison.variants[self.variant].name
    }

    pub(super) fn clients(&self) -> u32 {
        self.level.first().map_or(0, |one| one.clients)
    }

    /// Returns variant and level of clients, after the size where there are several.
    pub(super) fn label(&self, sizes: &[String]) -> String {
        let comparison = self.compared.comparison;
        let mut label = variant_label(comparison, self.name());
        if comparison.levels().len() > 1 {
            label.push_str(&level_suffix(self.clients()));
        }
        if sizes.len() > 1 { format!("{} \u{b7} {label}", sizes[self.size]) } else { label }
    }

    /// Returns the metrics of its complete runs.
    fn metrics(&self) -> Option<&CellComparison> {
        let levels = &self.compared.comparison.runs;
        let level = levels.iter().find(|level| level.clients == self.clients());
        level.map(|level| &level.cells[self.variant])
    }

    /// Returns the complete runs behind it.
    pub(super) fn runs(&self) -> u32 {
        self.metrics().map_or(0, |cell| cell.runs)
    }

    /// Returns the lower bound of a column's metric, where nothing else is known.
    pub(super) fn lower_bound(&self, column: usize) -> Option<&Measured> {
        lower_bound(COLUMNS[column].metric, self.metrics()?)
    }

    pub(super) fn mean(&self, column: usize) -> Option<&MeanOfRuns> {
        self.level[column].means[self.variant].as_ref()
    }

    pub(super) fn rank(&self, column: usize) -> Option<Rank> {
        let rank = self.level[column].rank(self.variant);
        rank.filter(|_| self.compared.label != Label::Nothing)
    }

    /// Returns mean and interval, marked as best or worst; a lower bound is neither.
    pub(super) fn cell(&self, column: usize) -> Cell {
        let Some(mean) = self.mean(column) else {
            let unknown = || figure::MISSING.into();
            let bound = |cell| mean_cell(COLUMNS[column].metric, cell);
            return self.metrics().map_or_else(unknown, bound);
        };
        let (mark, tone) = match self.rank(column) {
            Some(Rank::Best) => ("best ", Tone::Better),
            Some(Rank::Worst) => ("worst ", Tone::Worse),
            None => ("", Tone::Plain),
        };
        let Spread { n, mean: value, min, max, .. } = mean.spread;
        let interval = mean.interval.map(|it| figure::limits(digits(it.low), digits(it.high)));
        let range = (n > 1).then(|| format!("[{}..{}]", digits(min), digits(max)));
        let text = format!("{mark}{}", digits(value));
        Cell::new(text, tone).with(interval.or(range).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_trade_offs_of_the_analysis() {
        let metrics = COLUMNS.iter().map(|column| column.metric);
        assert!(metrics.eq(analysis::TRADE_OFFS.iter().map(|metric| metric.name)));
    }
}
