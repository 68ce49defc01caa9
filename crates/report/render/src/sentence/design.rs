//! What a design could have seen: the smallest detectable difference, in words.

use analysis::Noise;
use stats::{Effect, Method, Verdict};

use crate::figure::percent;
use crate::input::Compared;
use crate::label::{measured_steps, step_heading};
use crate::method::origin;

/// One comparison and the runs behind it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Case<'a> {
    pub(crate) effect: &'a Effect,
    /// Runs of the base and of the variant.
    pub(crate) runs: [u32; 2],
}

/// Returns what these comparisons would have shown, in a sentence for each origin of the noise;
/// nothing for none.
///
/// Source: the project's reference, analysis, section 1.5.
pub(crate) fn design(cases: &[Case<'_>], noise: Option<&Noise>) -> Option<String> {
    let mut methods: Vec<Method> = Vec::new();
    for case in cases {
        if !methods.contains(&case.effect.method) {
            methods.push(case.effect.method);
        }
    }
    let told = methods.iter().map(|method| {
        let own: Vec<&Case<'_>> =
            cases.iter().filter(|case| case.effect.method == *method).collect();
        sentence(&own, *method, noise)
    });
    let told: Vec<String> = told.collect();
    (!told.is_empty()).then(|| told.join(" "))
}

fn sentence(cases: &[&Case<'_>], method: Method, noise: Option<&Noise>) -> String {
    let counts = || cases.iter().flat_map(|case| case.runs);
    let runs = match (counts().min().unwrap_or(0), counts().max().unwrap_or(0)) {
        (1, 1) => "one run each".to_owned(),
        (few, many) if few == many => format!("{many} runs each"),
        (few, many) => format!("{few} to {many} runs each"),
    };
    let covs = span(cases.iter().map(|case| case.effect.run_cov), percent);
    let dfs = span(cases.iter().filter_map(|case| case.effect.df), |df| format!("{df:.0}"));
    let known = if dfs.is_empty() { String::new() } else { format!("{dfs} df, ") };
    let evidence = span(cases.iter().map(|case| case.effect.detectable), percent);
    format!(
        "With {runs} and a run-to-run CoV of {covs} ({known}{}), this design would have seen a \
         difference of {evidence} or more four times in five; smaller ones it could miss.",
        origin(method, noise)
    )
}

/// Returns `1.1 %`, or `1.1 to 1.4 %` where values differ; empty for none.
fn span(values: impl Iterator<Item = f64>, shown: impl Fn(f64) -> String) -> String {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let (Some(low), Some(high)) = (sorted.first(), sorted.last()) else { return String::new() };
    let (low, high) = (shown(*low), shown(*high));
    if low == high {
        return high;
    }
    let low = low.strip_suffix(" %").unwrap_or(&low);
    format!("{low} to {high}")
}

/// Returns from which difference on the steps' inconclusive questions would have been answered, in
/// one line; `None` where none is inconclusive.
pub(crate) fn unseen(compared: &Compared<'_>) -> Option<String> {
    let comparison = compared.comparison;
    let mut found: Vec<(f64, String)> = Vec::new();
    let mut assumed = None;
    for step in measured_steps(comparison) {
        let Some(primary) = step.primary else { continue };
        let told = step.cells.iter().filter(|cell| !compared.is_control(&cell.variant));
        let effects = told.filter_map(|cell| cell.metric(primary)?.versus_base);
        let unseen = effects.filter(|effect| {
            compared.verdict(effect) == Some(Verdict::Inconclusive) && effect.detectable > 0.0
        });
        let heading = step_heading(comparison, step);
        found.extend(unseen.map(|effect| {
            if effect.method == Method::None {
                assumed = Some(effect.run_cov);
            }
            (effect.detectable, heading.clone())
        }));
    }
    found.sort_by(|one, other| one.0.total_cmp(&other.0));
    let ((low, of_low), (high, of_high)) = (found.first()?, found.last()?);
    let place = if of_low == of_high {
        format!("{} in {of_low}", span([*low, *high].into_iter(), percent))
    } else {
        format!("{} in {of_low} to {} in {of_high}", percent(*low), percent(*high))
    };
    let assumed = assumed
        .map(|cov| format!(", if noise from run to run is the {} that is assumed", percent(cov)));
    Some(format!(
        "? this design would have seen differences of {place} or more four times in five, smaller \
         ones it could miss{}",
        assumed.unwrap_or_default()
    ))
}
