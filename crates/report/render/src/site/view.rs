//! What of an experiment is shown, as its address states it.

use model::Experiment;
use model::metric::{self, Metric};
use model::units::parse_share;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A selection of what is shown; what an address does not name is the experiment's own.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct View {
    /// The base.
    pub base: Option<String>,
    /// The metric of the differences.
    pub metric: Option<Metric>,
    /// The smallest difference that matters, as a share.
    pub margin: Option<f64>,
    /// The steps; all where none is named.
    pub steps: Vec<String>,
    /// The variants; all where none is named.
    pub variants: Vec<String>,
    /// Whether differences without a verdict are left out.
    pub only_differing: bool,
}

/// Characters that an address encodes. Source: RFC 3986, section 2.3, unreserved characters.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

impl View {
    /// Reads a view of an experiment; `values` returns the values of a name in the address.
    ///
    /// # Errors
    /// A text that states which value is none of the experiment's, and which are.
    pub fn of<'a>(
        experiment: &Experiment,
        values: &dyn Fn(&str) -> Vec<&'a str>,
    ) -> Result<Self, String> {
        let first = |name| values(name).into_iter().find(|value| !value.is_empty());
        let variants: Vec<&str> = experiment.variants.iter().map(|it| it.name.as_str()).collect();
        let steps: Vec<&str> = experiment.steps.iter().map(|it| it.name.as_str()).collect();
        let base = first("base").filter(|base| *base != experiment.base);
        let metric = first("metric").map(|name| {
            metric::find(name).copied().ok_or_else(|| format!("no metric is named `{name}`"))
        });
        let margin = first("margin").map(parse_share);
        Ok(Self {
            base: base.map(|base| known("variant", base, &variants)).transpose()?,
            metric: metric.transpose()?,
            margin: margin.transpose()?.filter(|share| (share - experiment.margin).abs() > 1e-9),
            steps: subset("step", values("step"), &steps)?,
            variants: subset("variant", values("variant"), &variants)?,
            only_differing: first("only") == Some("differing"),
        })
    }

    /// Returns the shortest query that selects this view, with its question mark; empty where all
    /// is the experiment's own.
    pub fn query(&self) -> String {
        let mut pairs: Vec<String> = Vec::new();
        let mut add = |name: &str, value: &str| {
            pairs.push(format!("{name}={}", encoded(value)));
        };
        self.base.iter().for_each(|base| add("base", base));
        self.metric.iter().for_each(|metric| add("metric", metric.name));
        self.margin.iter().for_each(|margin| add("margin", &percent(*margin)));
        self.steps.iter().for_each(|step| add("step", step));
        self.variants.iter().for_each(|variant| add("variant", variant));
        if self.only_differing {
            add("only", "differing");
        }
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    /// Returns whether a step is shown.
    pub(crate) fn has_step(&self, name: &str) -> bool {
        self.steps.is_empty() || self.steps.iter().any(|step| step == name)
    }

    /// Returns whether a variant is shown.
    pub fn has_variant(&self, name: &str) -> bool {
        self.variants.is_empty() || self.variants.iter().any(|variant| variant == name)
    }
}

/// Returns a text as a part of an address.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// Returns a share as it is typed, `2.5%`.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.4}", share * 100.0);
    format!("{}%", text.trim_end_matches('0').trim_end_matches('.'))
}

fn known(what: &str, name: &str, all: &[&str]) -> Result<String, String> {
    match all.contains(&name) {
        true => Ok(name.to_owned()),
        false => Err(format!("no {what} is named `{name}`; there are {}", all.join(", "))),
    }
}

/// Returns the named ones in the experiment's order; none where all are named.
fn subset(what: &str, names: Vec<&str>, all: &[&str]) -> Result<Vec<String>, String> {
    let names: Vec<&str> = names.into_iter().filter(|name| !name.is_empty()).collect();
    let names = names.into_iter().map(|name| known(what, name, all));
    let names = names.collect::<Result<Vec<String>, String>>()?;
    let mut chosen: Vec<&str> = Vec::new();
    for one in all {
        if names.iter().any(|name| name == one) && !chosen.contains(one) {
            chosen.push(one);
        }
    }
    let distinct = all.iter().collect::<std::collections::BTreeSet<_>>().len();
    let is_all = chosen.len() == distinct;
    Ok(if is_all { Vec::new() } else { chosen.into_iter().map(ToOwned::to_owned).collect() })
}
