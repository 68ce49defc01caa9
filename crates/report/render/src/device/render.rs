//! The tables of a storage profile in every format.

use analysis::{DeviceFigure, device_figures, is_bogus, saturations};
use model::units::many;
use model::{Access, DeviceRecord, DeviceTarget, TracedRun, Unit, float};
use serde::Serialize;
use serde_json::{Value, json};

use crate::document::{Document, Part, Rows, Table, known, merged, ratio_fields};
use crate::figure::{digits, figure, interval, limits, percent, sign};
use crate::format::{Format, Style};
use crate::report::Report;

/// Columns of the CSV format.
const CSV: &str = "access,test,jobs,runs,per_s,per_s_low,per_s_high,mean_ns,p50_ns,p99_ns,\
                   await_ns,issued_per_request,issued_bytes,is_bogus,ratio,ratio_low,ratio_high,\
                   verdict";

/// A profile, and how it changed since the earlier one.
#[derive(Debug, Clone, Copy)]
pub struct DeviceProfile<'a> {
    /// The profile.
    pub record: &'a DeviceRecord,
    /// The one before it of the same storage.
    pub earlier: Option<&'a DeviceRecord>,
}

impl DeviceProfile<'_> {
    fn figures(&self) -> Vec<DeviceFigure> {
        device_figures(self.record, self.earlier)
    }
}

impl Report for DeviceProfile<'_> {
    fn document(&self, _: Format, _: Style) -> Document {
        let mut document = Document::default();
        document.add(summary(self.record, self.earlier));
        // Each heading begins a block.
        let mut block = Vec::new();
        for part in tables(self.record, &self.figures()) {
            if matches!(part, Part::Heading(..)) {
                document.add(std::mem::take(&mut block));
            }
            block.push(part);
        }
        document.add(block);
        document
    }

    fn rows(&self) -> Option<Rows> {
        Some(Rows::of(CSV.split(','), self.figures().iter().map(fields)))
    }

    fn data(&self) -> impl Serialize {
        let figures = self.figures();
        json!({
            "record": self.record,
            "figures": figures,
            "saturation": saturations(&figures),
            "earlier": self.earlier.map(|record| &record.id),
        })
    }
}

/// Returns what comes before the tables: warnings, and how it was measured.
pub(super) fn summary(record: &DeviceRecord, earlier: Option<&DeviceRecord>) -> Vec<Part> {
    let mut parts: Vec<Part> =
        record.targets.iter().filter(|target| is_bogus(target)).map(warning).collect();
    if !record.is_complete {
        parts.push(Part::Strong("Incomplete: the measurement was interrupted.".to_owned()));
    }
    parts.push(Part::Text(format!(
        "{}; runs of {} s, repetitions: {}, interleaved; medians with intervals of 95 % (ranges with \
         fewer than 6 runs)",
        record.fio_version, record.run_s, record.repetitions
    )));
    let host = &record.host;
    let cpu = host.cpu_model.clone().unwrap_or_default();
    parts.push(Part::Text(format!("{} {cpu}, {}", many(host.cpus, "CPU"), host.kernel)));
    parts.extend(record.targets.iter().map(facts));
    if let Some(earlier) = earlier {
        parts.push(Part::Text(format!(
            "ratios compare throughput with {}: \u{25b2} higher, \u{25bc} lower, \u{2248} the same \
             within 5 %, ? inconclusive",
            earlier.id
        )));
    }
    parts
}

/// Returns the sentence about a range that was not written before.
fn warning(target: &DeviceTarget) -> Part {
    let remedy = match target.is_raw {
        true => "fill the device first (--destroy), or measure a written file with --path",
        false => "leave out --no-fill",
    };
    let share = percent(target.never_written.unwrap_or_default());
    Part::Strong(format!(
        "BOGUS: {share} of {} was never written, and a device answers reads of such blocks faster; \
         {remedy}.",
        target.path
    ))
}

/// Returns what is known of a target.
fn facts(target: &DeviceTarget) -> Part {
    let never = target.never_written.map(percent).map_or_else(
        || format!("unknown: {}", target.never_written_by),
        |share| format!("{share} ({})", target.never_written_by),
    );
    let size = format!("{} of {}", target.size_bytes, target.path);
    let own = [
        (if target.is_raw { "device" } else { "file" }, size),
        ("file system", target.filesystem.clone().unwrap_or_default()),
        ("never written", never),
        ("block device", known(target.device.clone())),
    ];
    let queue = target.queue.iter().map(|(name, value)| (name.as_str(), value.clone()));
    Part::facts(own.into_iter().chain(queue))
}

/// Returns a table for each access, the saturation, and what was refused.
pub(super) fn tables(record: &DeviceRecord, figures: &[DeviceFigure]) -> Vec<Part> {
    let mut parts = Vec::new();
    for access in Access::ALL {
        let own: Vec<_> = figures.iter().filter(|of| of.access == access).collect();
        if !own.is_empty() {
            let title = match access {
                Access::Raw => "Raw device",
                Access::Direct => "File, O_DIRECT",
                Access::Buffered => "File, page cache",
            };
            parts.extend([Part::title(title), Part::Table(table(&own))]);
        }
    }
    if !parts.is_empty() {
        parts.push(Part::Note(
            "response times are of fio's requests   await: mean time of an issued request (of a \
             flush, for syncs) in the block layer and the device   issued: requests that the block \
             layer counted per request, of all programs   size: mean of an issued request"
                .to_owned(),
        ));
    }
    parts.extend(times(record));
    let mut table = Table::new(["<access", "<test", "jobs", "highest/s", "<"]);
    for one in saturations(figures) {
        let end = match one.is_at_end {
            true => "the highest number of jobs tried: more jobs may give more",
            false => "",
        };
        table.push([
            one.access.to_string(),
            one.test.to_string(),
            one.jobs.to_string(),
            figure(Unit::OpsPerSecond, one.per_s),
            end.to_owned(),
        ]);
    }
    let what = Part::Text("the fewest jobs with 95 % of the highest throughput".to_owned());
    parts.extend(Part::title("Saturation").above(what.above([Part::Table(table)])));
    parts.extend(Part::title("Writes until steady").above([Part::Table(steady(record))]));
    let refused = record.cells.iter().filter_map(|cell| {
        let reason = cell.refusal.as_ref()?;
        Some(format!("{} {}, jobs {}: {reason}", cell.access, cell.test, cell.jobs))
    });
    parts.extend(Part::title("Not measured").above([Part::Items(refused.collect())]));
    parts
}

/// Returns where the response time goes, by the tracepoints, or why that is unknown.
fn times(record: &DeviceRecord) -> Vec<Part> {
    let mut table =
        Table::new(["<access", "<test", "jobs", "mean", "queue", "device", "rest", "requests"]);
    for cell in &record.cells {
        let Some(TracedRun { mean_ns, times }) = cell.traced else { continue };
        let time = |ns: f64| figure(Unit::Nanos, ns);
        let share = |ns: f64| format!("{} ({})", time(ns), percent(ns / mean_ns));
        table.push([
            cell.access.to_string(),
            cell.test.to_string(),
            cell.jobs.to_string(),
            time(mean_ns),
            share(times.queue_ns),
            share(times.device_ns),
            share((mean_ns - times.queue_ns - times.device_ns).max(0.0)),
            figure(Unit::Count, float(times.requests)),
        ]);
    }
    let is_traced = record.cells.iter().any(|cell| cell.traced.is_some());
    let mut parts = vec![Part::title("Where the response time goes")];
    match &record.untraced {
        None if !is_traced => return Vec::new(),
        Some(reason) if !is_traced => parts.push(Part::Text(format!("Unknown: {reason}."))),
        _ => parts.extend([
            Part::Table(table),
            Part::Note(
                "measured in one more run, with tracepoints of the block layer: queue is the time \
                 from the block layer to the driver, device the time from there to completion, and \
                 the rest is system call, file system and scheduling"
                    .to_owned(),
            ),
        ]),
    }
    parts
}

fn table(figures: &[&DeviceFigure]) -> Table {
    let has_earlier = figures.iter().any(|of| of.versus_earlier.is_some());
    let mut headings =
        vec!["test", "jobs", "per s", "interval", "mean", "p50", "p99", "await", "issued", "size"];
    if has_earlier {
        headings.extend(["ratio", "interval", ""]);
    }
    let mut table = Table::new(headings);
    let time = |ns: f64| figure(Unit::Nanos, ns);
    for of in figures {
        let label = if of.is_bogus { " BOGUS" } else { "" };
        let limit = |value: f64| figure(Unit::Count, value);
        let within = of.per_s_interval.map(|it| limits(limit(it.low), limit(it.high)));
        let mut row = vec![
            format!("{}{label}", of.test),
            of.jobs.to_string(),
            figure(Unit::OpsPerSecond, of.per_s),
            within.unwrap_or_default(),
            time(of.mean_ns),
            time(of.p50_ns),
            time(of.p99_ns),
            known(of.await_ns.map(time)),
            known(of.issued_per_request.map(digits)),
            known(of.issued_bytes.map(|bytes| figure(Unit::Bytes, bytes))),
        ];
        if has_earlier {
            let effect = of.versus_earlier.as_ref();
            row.push(known(effect.map(|effect| digits(effect.ratio))));
            let within = effect.and_then(|effect| effect.interval.as_ref());
            row.push(within.map(interval).unwrap_or_default());
            row.push(effect.map_or("", sign).to_owned());
        }
        table.push(row);
    }
    table
}

fn steady(record: &DeviceRecord) -> Table {
    let mut table =
        Table::new(["full", "range", "rounds", "first/s", "last/s", "written", "<ended"]);
    for level in &record.steady {
        let rate = |per_s: Option<&f64>| known(per_s.map(|it| figure(Unit::OpsPerSecond, *it)));
        let rounds = u64::try_from(level.writes_per_s.len()).unwrap_or(u64::MAX);
        table.push([
            percent(level.full),
            level.size_bytes.to_string(),
            format!("{rounds} of {} s", level.round_s),
            rate(level.writes_per_s.first()),
            rate(level.writes_per_s.last()),
            figure(Unit::Bytes, float(level.written_bytes.0)),
            level.ended.clone(),
        ]);
    }
    table
}

/// Returns the fields of a cell.
fn fields(of: &DeviceFigure) -> Value {
    let effect = of.versus_earlier.as_ref();
    let more = json!({
        "per_s_low": of.per_s_interval.map(|it| it.low),
        "per_s_high": of.per_s_interval.map(|it| it.high),
        "verdict": effect.map(sign),
    });
    merged([json!(of), ratio_fields(effect), more])
}

#[cfg(test)]
mod tests {
    use model::{
        Bytes, CpuCount, DEVICE_SCHEMA, DeviceCell, Host, IoSample, IoTest, IoTotals,
        IssuedRequests, SteadyLevel, TracedTimes,
    };

    use super::*;
    use crate::device::render_device_page;

    fn level() -> SteadyLevel {
        SteadyLevel {
            full: 0.5,
            size_bytes: Bytes::GIB,
            writes_per_s: vec![9e4, 4e4, 3e4],
            round_s: 60,
            written_bytes: Bytes(5 << 30),
            is_steady: false,
            ended: "the write limit is reached".to_owned(),
        }
    }

    fn record(id: &str, per_s: f64, never_written: f64) -> DeviceRecord {
        let cell = |test: IoTest, jobs: u32| {
            let run = |of: f64| {
                let totals = IoTotals {
                    requests: 1000,
                    bytes: 1000 * u64::from(test.block_bytes),
                    per_s: of * per_s * f64::from(jobs).sqrt(),
                    mean_ns: 1.2e5,
                    p50_ns: 100_000,
                    p99_ns: 900_000,
                    ..IoTotals::default()
                };
                let issued = IssuedRequests {
                    reads: 1001,
                    read_bytes: 1001 * 4096,
                    read_ms: 90,
                    ..IssuedRequests::default()
                };
                let sync = (test == IoTest::FDATASYNC_4K).then_some(totals);
                IoSample { read: Some(totals), sync, issued: Some(issued), ..IoSample::default() }
            };
            DeviceCell {
                access: Access::Direct,
                test,
                jobs,
                job_file: "[global]\n".to_owned(),
                samples: [0.97, 0.99, 1.0, 1.01, 1.02, 1.05].map(run).to_vec(),
                traced: (jobs == 4).then_some(TracedRun {
                    mean_ns: 1.3e5,
                    times: TracedTimes { requests: 900, queue_ns: 3e3, device_ns: 1.1e5 },
                }),
                refusal: None,
            }
        };
        let refused = DeviceCell {
            samples: Vec::new(),
            traced: None,
            refusal: Some("Invalid argument".to_owned()),
            ..cell("randread-512".parse().unwrap(), 1)
        };
        let target = DeviceTarget {
            path: "/data".to_owned(),
            is_raw: false,
            device: Some("vda".to_owned()),
            filesystem: Some("ext4".to_owned()),
            size_bytes: Bytes::GIB,
            never_written: Some(never_written),
            never_written_by: "extents".to_owned(),
            queue: vec![("logical_block_size".to_owned(), "512".to_owned())],
        };
        DeviceRecord {
            schema: DEVICE_SCHEMA,
            id: id.to_owned(),
            created_at: "2026-11-23T00:00:00.000Z".to_owned(),
            assay_version: "0.1.0".to_owned(),
            fio_version: "fio-3.33".to_owned(),
            host: Host { cpus: CpuCount::of(2), kernel: "Linux 6.1".to_owned(), ..Host::default() },
            targets: vec![target],
            run_s: 2,
            repetitions: 6,
            cells: vec![
                cell(IoTest::RANDREAD_4K, 1),
                cell(IoTest::RANDREAD_4K, 4),
                cell(IoTest::FDATASYNC_4K, 1),
                refused,
            ],
            untraced: None,
            steady: vec![level()],
            is_complete: false,
        }
    }

    #[test]
    fn text_has_figures_saturation_changes_and_what_was_refused() {
        let (now, before) = (record("2", 1e4, 0.0), record("1", 2e4, 0.0));
        let profile = DeviceProfile { record: &now, earlier: Some(&before) };
        insta::assert_snapshot!(profile.render(Format::Text, Style::default()));
    }

    #[test]
    fn never_written_ranges_are_bogus_in_every_format() {
        let record = record("1", 1e4, 1.0);
        let profile = DeviceProfile { record: &record, earlier: None };
        let text = |format| profile.render(format, Style::default());
        for format in [Format::Text, Format::Markdown] {
            let text = text(format);
            assert!(text.contains("BOGUS: 100 % of /data was never written"), "{text}");
            assert!(text.contains("randread-4k BOGUS") && text.contains("--no-fill"), "{text}");
        }
        assert_eq!(text(Format::Csv).matches(",true,").count(), 3);
        let json: serde_json::Value = serde_json::from_str(&text(Format::Json)).unwrap();
        assert_eq!(json["figures"][0]["is_bogus"], true);
        assert!(render_device_page(&record, None).contains("randread-4k BOGUS"));
    }

    #[test]
    fn the_page_has_both_pictures_and_needs_no_network() {
        let page = render_device_page(&record("1", 1e4, 0.0), None);
        for text in ["device-throughput", "device-response", "<svg", "Saturation", "[global]"] {
            assert!(page.contains(text), "{text}");
        }
        assert!(!page.contains("src=\"http") && !page.contains("<script"));
    }
}
