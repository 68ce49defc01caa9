//! A032: values that compress better than real ones.

use model::percent;

use super::{Checks, Observation, Rule};
use crate::context::PlanContext;

pub(crate) static RULE: Rule = Rule {
    code: "A032",
    name: "constant values",
    trigger: "values compress to less than 10 % of their size, and a variant does not disable \
              compression",
    why: "Constant values almost vanish in blocks, in caches and on storage. Sizes and IO of \
          constant values are not the sizes and IO of real rows.",
    remedy: "set `compressible_to` to 0.5 (as db_bench) or to the compression ratio of your rows",
    source: "db_bench, --compression_ratio",
    ..Rule::of(Checks { plan: Some(plan), ..Checks::NONE })
};

/// Share of their size below which values are next to constant.
const CONSTANT: f64 = 0.1;

fn plan(context: &PlanContext<'_>) -> Vec<Observation> {
    let (data, variants) = (&context.experiment.data, &context.experiment.variants);
    let none = Some("none");
    let is_compressed =
        variants.iter().any(|variant| variant.settings.compression.as_deref() != none);
    if data.compressible_to >= CONSTANT || !is_compressed {
        return Vec::new();
    }
    vec![Observation::new(format!(
        "values compress to {} of their size",
        percent(data.compressible_to)
    ))]
}

#[cfg(test)]
mod tests {
    use model::record::Severity;

    use super::*;
    use crate::testing::{experiment, in_plan};

    #[test]
    fn constant_values_are_reported_where_they_may_be_compressed() {
        let mut spec = experiment(&["a"]);
        assert_eq!(in_plan(&RULE, &spec), []);
        spec.data.compressible_to = 0.02;
        let evidence = "values compress to 2.0 % of their size";
        assert_eq!(in_plan(&RULE, &spec), [(Severity::Warning, evidence.to_owned())]);
        spec.variants[0].settings.compression = Some("none".to_owned());
        assert_eq!(in_plan(&RULE, &spec), []);
    }
}
