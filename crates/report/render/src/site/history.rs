//! The page of histories: a metric over all experiments, with its changes.

use std::collections::{BTreeMap, BTreeSet};

use analysis::history::{ClassifiedChange, Origin, Studied, Study};
use maud::{Markup, html};
use model::{ShellCommand, Unit, float};

use super::Frame;
use super::chart::{Chart, Figure, Mark, Scale, Series, TIME, axis};
use super::view::encoded;
use crate::document::{Part, html as parts};
use crate::figure::unit_name;
use crate::history::{
    HistoryInput, answer, arrow, change, drift, end, host_change, percent, remarks,
};
use crate::plot::histories;

const CAPTION: &str = "Every value, and the level or ramp fitted to the values. A mark is a \
                       change or another build; its link leads to what is known of it.";

/// What the histories are of; an empty text restricts nothing.
const FIELDS: [(&str, &str); 6] = [
    ("metric", "Metric"),
    ("engine", "Engine"),
    ("variant", "Variant"),
    ("step", "Step"),
    ("experiment", "Experiment"),
    ("host", "Host"),
];

/// Returns the page; `found` is the study, or why there is none, and `choices` are what the archive
/// has, by the field that selects it.
pub fn history_page<'a>(
    frame: &Frame,
    found: Result<&HistoryInput<'_>, &str>,
    choices: &BTreeMap<&str, BTreeSet<&str>>,
    value: &dyn Fn(&str) -> &'a str,
) -> String {
    let named = FIELDS.iter().map(|(name, _)| (name, value(name)));
    let named = named.filter(|(_, value)| !value.is_empty());
    let query: Vec<String> = named.map(|(name, of)| format!("{name}={}", encoded(of))).collect();
    let query = if query.is_empty() { String::new() } else { format!("?{}", query.join("&")) };
    let body = html! {
        header { h1 { "History" } }
        main {
            @if frame.has_forms() { form.filter data-auto="" autocomplete="off" {
                @for (name, title) in FIELDS { label { (title) " " (field(name, choices.get(name), value(name))) } }
                button { "Show" } " " a href="./" { "Reset" }
            } }
            @match found {
                Ok(input) => {
                    p { (answer(input.study)) }
                    @for place in 0..input.study.histories.len() { (section(frame, input, place, &query)) }
                    (parts(&[Part::Items(end(input).concat())]))
                }
                Err(why) => @for line in why.lines() { p { (line) } },
            }
        }
    };
    frame.page("Assay: history", "history/", &body)
}

/// Returns a field of the form: a list of what is known, and of a value that is not; or a text.
fn field(name: &str, known: Option<&BTreeSet<&str>>, value: &str) -> Markup {
    let Some(known) = known else { return html! { input type="text" name=(name) value=(value); } };
    let other = (!value.is_empty() && !known.contains(value)).then_some(value);
    html! {
        select name=(name) {
            option value="" { "default" }
            @for one in known.iter().copied().chain(other) {
                option value=(one) selected[one == value] { (one) }
            }
        }
    }
}

/// Returns a history: its chart, what is marked in the chart, and its remarks.
fn section(frame: &Frame, input: &HistoryInput<'_>, place: usize, query: &str) -> Markup {
    let one = &input.study.histories[place];
    let found = one.found.drifts.iter().map(|it| drift(it, &one.history)).chain(remarks(one));
    let marks = chart(one, place).marks;
    html! {
        (Figure {
            id: format!("history-{place}"),
            address: format!("chart/{place}.json{query}"),
            title: one.history.title(),
            caption: CAPTION,
            sync: Some("history"),
            picture: Some(histories(std::slice::from_ref(one))),
            table: Vec::new(),
        }.markup())
        @if !marks.is_empty() {
            ul.sentences aria-label="Marks" { @for it in marks {
                li { a href=(it.href) { (one.history.labels[it.point]) " " (it.text) } }
            } }
        }
        @for (at, known) in one.changes.iter().enumerate() {
            section id=(change_id(place, at)) {
                p { (change(known, &one.history)) }
                (explained(frame, input, one, known))
            }
        }
        (parts(&[Part::Items(found.collect())]))
    }
}

/// Returns the name of a change within the page.
fn change_id(history: usize, change: usize) -> String {
    format!("change-{history}-{change}")
}

/// Returns what changed together with a value, and how to go on.
fn explained(
    frame: &Frame,
    input: &HistoryInput<'_>,
    one: &Studied,
    known: &ClassifiedChange,
) -> Markup {
    let (history, index) = (&one.history, known.change.index);
    // The place of a change is uncertain: what changed between these two points may be its cause.
    let [from, to] = [known.change.earliest.clamp(1, index) - 1, known.change.latest.max(index)];
    let [from, to] = [from, to].map(|point| &history.labels[point]);
    let is_timed = history.times_s().is_some();
    let of_host = input.gathered.iter().flat_map(|gathered| &gathered.host_changes);
    let of_host = of_host.filter(|it| is_timed && it.from < *to && *from < it.to).map(host_change);
    let pair = history.origins.get(index - 1).zip(history.origins.get(index));
    let build = pair.filter(|(old, new)| old.build != new.build);
    let build = build.map(|(old, new)| format!("Build: {} -> {}", old.build, new.build));
    html! {
        (parts(&[Part::Items(build.into_iter().chain(of_host).collect())]))
        @for (place, other) in input.study.histories.iter().enumerate() {
            @for (at, it) in other.changes.iter().enumerate() {
                @if it.event.is_some() && it.event == known.event && !std::ptr::eq(it, known) {
                    p { "At the same time: " a href=(format!("#{}", change_id(place, at))) {
                        (other.history.title())
                    } }
                }
            }
        }
        @if let Some((old, new)) = pair {
            pre { (commands(old, new)) }
            p {
                a href=(address(old)) { "The experiment before" } ", "
                a href=(address(new)) { "the experiment after" }
                @if old.is_comparable(new) && frame.has_forms() {
                    @let names = [old, new].map(|one| encoded(&one.experiment)).join("&of=");
                    ", " a href=(format!("../compare/?of={names}")) { "both compared" }
                }
            }
        }
    }
}

/// Returns the commands that go on from a change, a line each.
fn commands(old: &Origin, new: &Origin) -> String {
    let [a, b] = [&old.experiment, &new.experiment];
    let compare = ShellCommand::of("assay compare");
    if a == b {
        let explain = ShellCommand::of("assay explain").operands([&old.variant, &new.variant]);
        explain.option("--in", a).to_string()
    } else if old.is_comparable(new) {
        compare.operands([a, b]).to_string()
    } else {
        [a, b].map(|one| compare.clone().operands([one]).flag("--costs").to_string()).join("\n")
    }
}

/// Returns the address of an experiment's page.
fn address(origin: &Origin) -> String {
    let parts: Vec<String> = origin.experiment.split('/').map(encoded).collect();
    format!("../e/{}/", parts.join("/"))
}

/// Returns the chart of a history of the study; `None` if the study has fewer.
pub fn history_chart(study: &Study, place: usize) -> Option<Chart> {
    study.histories.get(place).map(|one| chart(one, place))
}

/// Returns a chart: the values, the fitted level, changes, and builds other than the one before.
fn chart(one: &Studied, place: usize) -> Chart {
    let history = &one.history;
    let times = history.times_s();
    let x = |point: usize| times.as_ref().map_or_else(|| float(point), |times| times[point]);
    let line = |name: &str, points: Vec<(usize, f64)>| {
        let (x, y) = points.into_iter().map(|(point, value)| (x(point), value)).unzip();
        Series { name: name.to_owned(), group: String::new(), x, y }
    };
    let values = history.values.iter().enumerate();
    let values = values.filter_map(|(point, value)| Some((point, (*value)?))).collect();
    let pieces = one.found.pieces.iter();
    let level = pieces.flat_map(|it| [(it.from, it.first), (it.to, it.last)]).collect();
    let change = |(at, known): (usize, &ClassifiedChange)| {
        let (point, effect) = (known.change.index, percent(known.change.effect));
        let text = format!("{} {effect}", arrow(known.change.after > known.change.before));
        Mark { point, x: x(point), text, href: format!("#{}", change_id(place, at)) }
    };
    let changes = one.changes.iter().enumerate().map(change);
    let builds = history.origins.windows(2).enumerate().filter_map(|(before, pair)| {
        let [old, new] = pair else { return None };
        let (point, text, href) = (before + 1, new.build.clone(), address(new));
        (old.build != new.build).then(|| Mark { point, x: x(point), text, href })
    });
    let mut marks: Vec<Mark> = changes.chain(builds).collect();
    marks.sort_by_key(|one| one.point);
    let unit = unit_name(history.unit.unwrap_or(Unit::Count));
    let horizontal = if times.is_some() { TIME } else { unit_name(Unit::Count) };
    Chart {
        title: history.title(),
        x: axis("", horizontal, Scale::Linear),
        y: axis(&history.name, unit, Scale::Linear),
        series: vec![line("value", values), line("level or ramp", level)],
        shades: Vec::new(),
        marks,
        heat: None,
    }
}

#[cfg(test)]
mod tests {
    use analysis::history::{Gathered, History, HostChange, StudyOptions, study};
    use model::Better;

    use super::*;
    use crate::site::PageHost;

    /// Forty days; from day 20 on there is another build, and each value is less.
    fn history(name: &str, unit: Unit, origin: fn(usize) -> Origin) -> History {
        let value = |day: u32| {
            let level = if day < 20 { 250.0 } else { 200.0 };
            Some(level + f64::from(day * 7_919 % 101) / 101.0)
        };
        History {
            name: name.to_owned(),
            subject: Some("readrandom of x".to_owned()),
            unit: Some(unit),
            better: Some(Better::Higher),
            labels: (0..40).map(time).collect(),
            is_order_checked: true,
            values: (0..40).map(value).collect(),
            origins: (0..40).map(origin).collect(),
        }
    }

    fn time(day: usize) -> String {
        format!("2026-{:02}-{:02}T00:00:00Z", 1 + day / 28, 1 + day % 28)
    }

    /// The same variant on every day, of another build from day 20 on.
    fn same_variant(day: usize) -> Origin {
        let build = if day < 20 { "x 1" } else { "x 2" }.to_owned();
        Origin { experiment: format!("night/{day}"), variant: "x".to_owned(), build }
    }

    fn studied(histories: Vec<History>) -> Study {
        let options = StudyOptions { min_effect: 0.02, strictness: 4.0, since: None };
        study(histories, &options).expect("it is sound")
    }

    fn page(study: &Study, field: &str, chosen: &'static str) -> String {
        let host_change = HostChange {
            setting: "kernel".to_owned(),
            from: time(19),
            to: time(20),
            before: "6.1".to_owned(),
            after: "6.2".to_owned(),
        };
        let gathered = Gathered {
            histories: Vec::new(),
            host: "here".to_owned(),
            other_hosts: 0,
            other_questions: 0,
            differences: BTreeSet::new(),
            lacks_newest: false,
            host_changes: vec![host_change],
        };
        let input = HistoryInput { study, gathered: Some(&gathered) };
        let frame = Frame { root: "../".to_owned(), has_script: true, host: PageHost::Archive };
        let choices = [("metric", "cpu_us_per_op"), ("host", "here")];
        let choices = choices.map(|(name, known)| (name, BTreeSet::from([known]))).into();
        let value = |name: &str| if name == field { chosen } else { "" };
        history_page(&frame, Ok(&input), &choices, &value)
    }

    /// Goal: a chart has the values and the fitted level in its unit, and each of its marks leads
    /// to a place of the page or to an experiment.
    #[test]
    fn charts_have_values_level_and_marks_that_lead_somewhere() {
        let two = [("throughput_ops_per_s", Unit::OpsPerSecond), ("latency", Unit::Micros)];
        let study = studied(two.map(|(name, unit)| history(name, unit, same_variant)).into());
        let page = page(&study, "metric", "");
        for (place, unit) in ["per_s", "us"].into_iter().enumerate() {
            let chart = history_chart(&study, place).expect("a chart");
            let [values, level] = &chart.series[..] else { panic!("{:?}", chart.series) };
            let known = study.histories[place].history.values.iter().flatten();
            assert_eq!(values.y, known.copied().collect::<Vec<_>>());
            assert_eq!((chart.x.unit, chart.y.unit), ("time", unit));
            assert_eq!(values.x[..2], [1_767_225_600.0, 1_767_312_000.0]);
            assert_eq!((level.x[0], level.x[3]), (values.x[0], values.x[39]));
            let marks: Vec<_> =
                chart.marks.iter().map(|it| (it.x, it.text.as_str(), it.href.as_str())).collect();
            let (change, begin) = (format!("#change-{place}-0"), values.x[20]);
            assert!(marks[0].1.starts_with("\u{25bc} -"), "{marks:?}");
            assert_eq!((marks[0].0, marks[0].2), (begin, change.as_str()));
            assert_eq!(marks[1..], [(begin, "x 2", "../e/night/20/")]);
            assert!(page.contains(&format!("id=\"change-{place}-0\"")), "{page}");
            assert!(page.contains(&format!("<a href=\"{change}\">2026-01-21T00:00:00Z")), "{page}");
        }
        assert!(history_chart(&study, 2).is_none());
        assert!(page.contains("At the same time: <a href=\"#change-0-0\">throughput_ops_per_s"));
        assert!(page.contains("At the same time: <a href=\"#change-1-0\">latency"));
    }

    /// Goal: a change names what of the host and of the build changed with it, and how to go on:
    /// runs of one variant are never pooled.
    #[test]
    fn a_change_names_its_circumstances_and_the_commands_that_go_on() {
        let page_of = |origin| {
            let one = history("throughput_ops_per_s", Unit::OpsPerSecond, origin);
            page(&studied(vec![one]), "metric", "")
        };
        let page = page_of(same_variant);
        let circumstances = [
            "Build: x 1 -&gt; x 2",
            "kernel changed between 2026-01-20T00:00:00Z and 2026-01-21T00:00:00Z: 6.1 -&gt; 6.2",
            "assay compare night/19 --costs\nassay compare night/20 --costs",
            "<a href=\"../e/night/19/\">The experiment before</a>",
        ];
        for text in circumstances {
            assert!(page.contains(text), "{text}: {page}");
        }
        assert!(!page.contains("compare/?of="), "{page}");
        let renamed =
            page_of(|day| Origin { variant: (day / 20).to_string(), ..same_variant(day) });
        let address = "../compare/?of=night%2F19&amp;of=night%2F20";
        assert!(renamed.contains(address), "{renamed}");
        assert!(renamed.contains("assay compare night/19 night/20<"), "{renamed}");
        let within = page_of(|day| Origin {
            experiment: "all/1".to_owned(),
            variant: format!("v{day}"),
            build: format!("x {day}"),
        });
        assert!(within.contains("assay explain v19 v20 --in all/1"), "{within}");
    }

    /// Goal: labels without a time are places in their order, and no change of the host is put
    /// next to them.
    #[test]
    fn histories_by_version_have_no_times() {
        let mut one = history("throughput_ops_per_s", Unit::OpsPerSecond, same_variant);
        one.labels = (0..40).map(|build| format!("x@{build}")).collect();
        let study = studied(vec![one]);
        let chart = history_chart(&study, 0).expect("a chart");
        assert_eq!((chart.series[0].x[39], chart.marks[0].x), (39.0, 20.0));
        assert_eq!(chart.x.unit, "count");
        let page = page(&study, "metric", "");
        assert_eq!(page.matches("kernel changed between").count(), 1, "{page}");
    }

    /// Goal: the form offers what the archive has, and shows a selection that it lacks.
    #[test]
    fn the_form_offers_metrics_and_hosts_of_the_archive() {
        let one = history("throughput_ops_per_s", Unit::OpsPerSecond, same_variant);
        let study = studied(vec![one]);
        let known = page(&study, "host", "here");
        assert!(known.contains("<option value=\"here\" selected>"), "{known}");
        assert!(known.contains("<option value=\"cpu_us_per_op\">"), "{known}");
        assert!(known.contains("chart/0.json?host=here"), "{known}");
        let other = page(&study, "host", "a&b");
        assert!(other.contains("<option value=\"a&amp;b\" selected>"), "{other}");
        assert!(other.contains("chart/0.json?host=a%26b\""), "{other}");
    }
}
