//! Steps of runs with their labels and values.

use std::collections::BTreeMap;

use analysis::history::step_values;
use model::metric::{METRICS, Metric};
use model::{Manifest, RunRecord, StepRecord};

/// One finished step of a run.
pub(super) struct Point<'a> {
    /// Labels that no other step of the archive has together.
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) step: &'a StepRecord,
    values: BTreeMap<String, f64>,
}

/// Returns the labels of a run.
pub(super) fn labels_of(manifest: &Manifest, run: &RunRecord) -> Vec<(&'static str, String)> {
    let version = run.identity.as_ref().map(|identity| identity.version.clone());
    let version = version.or_else(|| run.variant.build.version.clone()).unwrap_or_default();
    let host = run.machine.as_ref().map_or(&manifest.host, |machine| &machine.host);
    vec![
        ("experiment", manifest.plan.experiment.name.clone()),
        ("experiment_id", manifest.id.clone()),
        ("run", run.cell.id.clone()),
        ("variant", run.cell.variant.clone()),
        ("engine", run.variant.build.engine.clone()),
        ("version", version),
        ("clients", run.cell.clients.to_string()),
        ("repetition", run.cell.repetition.to_string()),
        ("host", host.fingerprint.clone()),
    ]
}

/// Returns the finished steps of the runs whose figures count.
pub(super) fn points<'a>(manifest: &Manifest, runs: &'a [RunRecord]) -> Vec<Point<'a>> {
    let experiment = &manifest.plan.experiment;
    let mut points = Vec::new();
    for run in runs.iter().filter(|run| run.is_counted()) {
        let Some(variant) = experiment.variant(&run.cell.variant) else { continue };
        for step in &run.steps {
            let mut labels = labels_of(manifest, run);
            let name = step.step.name.clone();
            labels.extend([("step_index", step.index.to_string()), ("step", name)]);
            points.push(Point { labels, step, values: step_values(experiment, variant, step) });
        }
    }
    points
}

/// Returns each metric of which a point has a finite value, with these points and values.
pub(super) fn by_metric<'p, 'a>(
    points: &'p [Point<'a>],
) -> impl Iterator<Item = (&'static Metric, Vec<(&'p Point<'a>, f64)>)> {
    METRICS.iter().filter_map(|metric| {
        let value = |point: &'p Point<'a>| Some((point, *point.values.get(metric.name)?));
        let values: Vec<_> = points.iter().filter_map(value).collect();
        let values: Vec<_> = values.into_iter().filter(|(_, value)| value.is_finite()).collect();
        (!values.is_empty()).then_some((metric, values))
    })
}
