//! What each page shows.

use std::collections::BTreeMap;

use analysis::history::{HistoryQuery, StepMeans, StudyOptions, study};
use archive::HeldLocks;
use miette::{Result, miette};
use model::{BuildRef, Experiment, Nanos};
use render::site::{
    ArchiveFilter, Chart, ExperimentPage, Frame, Heat, PageHost, PagePart, Progress, View,
    archive_page, by_second_chart, experiment_page, headed_steps, history_chart, history_page,
    live_page, message_page, percentile_chart,
};
use render::{Format, HistoryInput, Report as _, ReportInput, Style, render_html};
use serve::{ASSETS, Answer, Request};
use stats::change::STRICTNESS;

use super::charts::{Source, curve, heat};
use super::entries::{CLASSIFY_NS, entries};
use super::feed::RunFeed;
use super::json::json;
use super::shelf::{Selected, StoredComparison};
use super::site::{Dashboard, file, message, not_found, values};
use crate::cmd::fresh_set::FreshSet;
use crate::cmd::history::{gathered, past, to_report};
use crate::diagnostic::IntoReport as _;

/// Smallest change of a history that matters, as `assay history` has it.
const MIN_EFFECT: f64 = 0.02;

impl Dashboard {
    /// Returns the list of experiments.
    pub(super) fn archive(&self, frame: &Frame, request: &Request) -> Answer {
        let text = |name| request.value(name).unwrap_or_default().trim().to_owned();
        let filter = ArchiveFilter {
            text: text("text"),
            build: text("build"),
            step: text("step"),
            host: text("host"),
            label: text("label"),
            from: text("from"),
            to: text("to"),
            skip: text("skip").parse().unwrap_or(0),
        };
        let is_file = frame.host == PageHost::Files;
        let time = if is_file { Nanos(u64::MAX) } else { CLASSIFY_NS };
        Answer::Page(archive_page(frame, &entries(&self.results, time, &self.ui), &filter))
    }

    /// Returns histories of the archive, or why there are none; or the data of a chart.
    pub(super) fn history(
        &self,
        frame: &Frame,
        request: &Request,
        rest: &[&str],
    ) -> Result<Answer> {
        let text = |name| request.value(name).map(str::trim).filter(|value| !value.is_empty());
        let owned = |name| text(name).map(ToOwned::to_owned);
        let engine = text("engine").map(str::parse::<BuildRef>).transpose();
        let query = HistoryQuery {
            metrics: owned("metric").into_iter().collect(),
            engine: engine.clone().unwrap_or_default(),
            variant: owned("variant"),
            step: owned("step"),
            experiment: owned("experiment"),
            host: owned("host"),
        };
        let past = past(&self.environment, &query, &self.ui);
        let studied = || -> Result<_> {
            engine.map_err(|error| miette!("{error}"))?;
            let gathered = gathered(&past, query, &self.environment)?;
            let options =
                StudyOptions { min_effect: MIN_EFFECT, strictness: STRICTNESS, since: None };
            let study = study(gathered.histories.clone(), &options).map_err(to_report)?;
            Ok((study, gathered))
        };
        let studied = studied();
        match rest {
            [] => {}
            ["chart", name] => {
                let place = name.strip_suffix(".json").and_then(|place| place.parse().ok());
                let chart = place.and_then(|place| history_chart(&studied.ok()?.0, place));
                let Some(chart) = chart else {
                    return Ok(not_found(frame, "No chart has this name."));
                };
                return Ok(file("application/json", json(&chart), None));
            }
            _ => return Ok(not_found(frame, "This address has no page.")),
        }
        let dirs = self.results.newest();
        let stored = FreshSet::of(&self.results, &dirs, &self.ui).metrics();
        let metrics = past.iter().flat_map(|one| &one.means).flat_map(StepMeans::metrics);
        let metrics = metrics.chain(stored).collect();
        let hosts = past.iter().map(|one| one.manifest.host.fingerprint.as_str()).collect();
        let choices = BTreeMap::from([("metric", metrics), ("host", hosts)]);
        let value = |name: &str| request.value(name).unwrap_or_default();
        Ok(Answer::Page(match studied {
            Ok((study, gathered)) => {
                let input = HistoryInput { study: &study, gathered: Some(&gathered) };
                history_page(frame, Ok(&input), &choices, &value)
            }
            Err(report) => history_page(frame, Err(&message(&report)), &choices, &value),
        }))
    }

    /// Returns a page of one experiment, or a file of it.
    pub(super) fn experiment(
        &self,
        frame: &Frame,
        request: &Request,
        selected: Selected,
        rest: &[&str],
    ) -> Result<Answer> {
        if let ["live", rest @ ..] = rest {
            return self.live(frame, request, selected, rest);
        }
        let selected = [selected];
        let home = "../".repeat(rest.len());
        self.shown(Shown { frame, request, selected: &selected, names: &[], home: &home }, rest)
    }

    /// Returns a page that compares what the address names.
    pub(super) fn compared(
        &self,
        frame: &Frame,
        request: &Request,
        rest: &[&str],
    ) -> Result<Answer> {
        let names: Vec<String> = request.values("of").map(ToOwned::to_owned).collect();
        if names.is_empty() {
            let how = "Mark experiments in the archive, or name experiments and runs in the \
                       address: compare/?of=NAME&of=NAME/ID/RUN";
            return Ok(Answer::Page(message_page(frame, "Compare", how)));
        }
        let selected = names.iter().map(|name| Selected::find(&self.results, name));
        let selected = selected.collect::<Result<Vec<_>>>()?;
        let home = "../".repeat(rest.len());
        self.shown(Shown { frame, request, selected: &selected, names: &names, home: &home }, rest)
    }

    /// Returns a part of a comparison's page, a chart's data, or a table.
    fn shown(&self, shown: Shown<'_>, rest: &[&str]) -> Result<Answer> {
        let Shown { frame, request, selected, names, home } = shown;
        let experiment = named_in_addresses(selected)?;
        let view = match View::of(&experiment, &values(request)) {
            Ok(view) => view,
            Err(why) => {
                return Ok(Answer::Invalid(message_page(
                    frame,
                    "This selection is not valid",
                    &why,
                )));
            }
        };
        let stored = self.shelf.of(&self.results, selected, &view)?;
        let part = match rest {
            [] => PagePart::Answer,
            ["chart", name] => return chart(frame, &stored, &view, name),
            ["report.html"] => {
                let intervals = stored.input_with_intervals()?.intervals;
                let input = ReportInput { intervals, ..stored.input_with_profiles()? };
                let page = render_html(&input);
                let name = &stored.manifest.plan.experiment.name;
                return Ok(file("text/html; charset=utf-8", page, Some(format!("{name}.html"))));
            }
            [name] if name.starts_with("table.") => return Ok(table(frame, &stored, name)),
            [name] => match PagePart::of(name) {
                Some(part) => part,
                None => return Ok(not_found(frame, "No part of an experiment has this name.")),
            },
            _ => return Ok(not_found(frame, "This address has no page.")),
        };
        let input = match part {
            PagePart::Seconds | PagePart::Timelines => stored.input_with_intervals()?,
            PagePart::Explained => stored.input_with_profiles()?,
            PagePart::Answer
            | PagePart::Latency
            | PagePart::Costs
            | PagePart::Warnings
            | PagePart::How => stored.input(),
        };
        let locks = HeldLocks::read();
        let page = ExperimentPage {
            input,
            compared: &stored.study.compared(),
            view: &view,
            part,
            home,
            names,
            is_running: selected.iter().any(|one| locks.writer(&one.dir).is_some()),
        };
        Ok(Answer::Page(experiment_page(&page, frame)))
    }

    /// Returns the page of an experiment in progress or of its replay, or a file of the replay.
    fn live(
        &self,
        frame: &Frame,
        request: &Request,
        selected: Selected,
        rest: &[&str],
    ) -> Result<Answer> {
        let summary = selected.dir.summary().into_report()?;
        let progress = Progress {
            name: &summary.name,
            question: &summary.question,
            complete: summary.complete,
            cells: summary.cells,
            is_running: HeldLocks::read().writer(&selected.dir).is_some(),
            is_stopping: request.value("stop").is_some(),
            inlined: None,
        };
        let feed = || RunFeed::before_runs(selected, &self.results).into_report();
        Ok(match rest {
            [] => Answer::Page(live_page(frame, &progress)),
            ["replay.json"] => file("application/json", feed()?.replay(), None),
            ["replay.html"] => {
                let [script, style, _] = ASSETS.map(|asset| String::from_utf8_lossy(asset.bytes));
                let inlined = Some([&*style, &*script, &*feed()?.replay()]);
                let frame = Frame { host: PageHost::Files, ..frame.clone() };
                let page = live_page(&frame, &Progress { is_running: false, inlined, ..progress });
                let name = format!("{}-replay.html", summary.name);
                file("text/html; charset=utf-8", page, Some(name))
            }
            _ => not_found(frame, "This address has no page."),
        })
    }
}

/// Returns the first experiment with the steps and variants of all: what an address may name.
fn named_in_addresses(selected: &[Selected]) -> Result<Experiment> {
    let mut all: Option<Experiment> = None;
    for one in selected {
        let own = one.dir.manifest().into_report()?.plan.experiment;
        match &mut all {
            Some(all) => {
                all.steps.extend(own.steps);
                all.variants.extend(own.variants);
            }
            None => all = Some(own),
        }
    }
    all.ok_or_else(|| miette!("no experiment is named"))
}

/// What a page of a comparison is made for.
struct Shown<'a> {
    frame: &'a Frame,
    request: &'a Request,
    selected: &'a [Selected],
    /// The names in the address, where it has them.
    names: &'a [String],
    /// Relative address of the first part.
    home: &'a str,
}

/// Returns the comparison as a table of a format.
fn table(frame: &Frame, stored: &StoredComparison, name: &str) -> Answer {
    let formats = [
        ("table.csv", Format::Csv, "text/csv; charset=utf-8"),
        ("table.md", Format::Markdown, "text/markdown; charset=utf-8"),
        ("table.json", Format::Json, "application/json"),
    ];
    let Some((_, format, media_type)) = formats.into_iter().find(|(known, ..)| *known == name)
    else {
        return not_found(frame, "Tables are table.csv, table.md and table.json.");
    };
    let style = Style { has_costs: true, ..Style::default() };
    let text = stored.study.compared().render(format, style);
    let experiment = &stored.manifest.plan.experiment.name;
    file(media_type, text, Some(format!("{experiment}-{name}")))
}

/// Returns the data of a chart: `seconds-0.json`, `percentiles-0.json`, `heat-0-1.json`.
fn chart(frame: &Frame, stored: &StoredComparison, view: &View, name: &str) -> Result<Answer> {
    let (kind, places) =
        name.strip_suffix(".json").and_then(|it| it.split_once('-')).unwrap_or_default();
    let places: Vec<usize> =
        places.split('-').map(str::parse).collect::<Result<_, _>>().unwrap_or_default();
    let make = || match (kind, &places[..]) {
        ("seconds", [place]) => {
            let compared = stored.study.compared();
            Ok(by_second_chart(&stored.input_with_intervals()?, &compared, view, *place))
        }
        ("percentiles", [place]) => percentiles(stored, view, *place),
        ("heat", [place, row]) => heat_map(stored, *place, *row),
        _ => Ok(None),
    };
    let text = stored.chart(&format!("{name}{}", view.query()), make)?;
    Ok(match text {
        Some(text) => file("application/json", text, None),
        None => not_found(frame, "No chart has this name."),
    })
}

/// Returns the runs of a variant at the level of a step, those that count.
fn sources<'a>(stored: &'a StoredComparison, variant: &str, level: u32) -> Vec<Source<'a>> {
    let runs = stored.study.joined.runs.iter();
    let own = runs
        .filter(|run| run.is_counted() && run.cell.variant == variant && run.cell.clients == level);
    own.filter_map(|run| Some(Source { dir: stored.dir(&run.id)?, run })).collect()
}

fn percentiles(stored: &StoredComparison, view: &View, place: usize) -> Result<Option<Chart>> {
    let compared = stored.study.compared();
    let steps = headed_steps(&compared);
    let Some(step) = steps.get(place) else { return Ok(None) };
    let mut series = Vec::new();
    let base = &stored.study.analyzed.comparison.base;
    let is_shown = |variant: &str| variant == base || view.has_variant(variant);
    for cell in step.step.cells.iter().filter(|cell| is_shown(&cell.variant)) {
        let runs = sources(stored, &cell.variant, step.step.clients.level);
        let curve = curve(&cell.variant, step.step.index, &runs);
        series.extend(curve.into_report()?);
    }
    Ok(Some(percentile_chart(step.heading.clone(), series)))
}

fn heat_map(stored: &StoredComparison, place: usize, row: usize) -> Result<Option<Chart>> {
    let compared = stored.study.compared();
    let steps = headed_steps(&compared);
    let Some(step) = steps.get(place) else { return Ok(None) };
    let Some(cell) = step.step.cells.get(row) else { return Ok(None) };
    let runs = sources(stored, &cell.variant, step.step.clients.level);
    let heat = heat(step.step.index, &runs).into_report()?;
    let title = format!("{}: {}", step.heading, cell.variant);
    // A variant without a counted interval has a chart without a map.
    Ok(Some(match heat {
        Some(heat) => heat.chart(title),
        None => Chart { heat: None, ..Heat::default().chart(title) },
    }))
}
