//! Grammar of rates in experiment files and on the command line.

use model::units::{parse_rate, parse_span, per_second};
use model::{Nanos, Rate, RatePiece};
use reader::nearest;

/// A parsed rate, or the path of its file.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum WrittenRate {
    /// The rate.
    Known(Rate),
    /// The path of its file, as written.
    InFile(String),
}

const RAMP: &str = "ramp 10k/s..100k/s over 60s";
const STEPS: &str = "steps 10k/s 20k/s 40k/s every 10s";
const SINE: &str = "sine 50k/s +-20k/s every 60s";
const FILE: &str = "file rates.csv";

/// Parses `50k/s`, a ramp, steps, a sine, or the name of a file.
///
/// # Errors
/// Names what is missing or out of range, with an example.
pub(crate) fn parse(text: &str) -> Result<WrittenRate, String> {
    let (shape, path) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let rest = text.strip_prefix(shape).unwrap_or("").trim_start();
    let rate = match (shape, path.trim()) {
        ("file", "") => return Err(format!("no rate file is named: write {FILE}")),
        ("file", path) => return Ok(WrittenRate::InFile(path.to_owned())),
        ("ramp", _) => ramp(rest).map_err(|why| format!("ramp: {why}")),
        ("steps", _) => steps(rest).map_err(|why| format!("steps: {why}")),
        ("sine", _) => sine(rest).map_err(|why| format!("sine: {why}")),
        _ => constant(&text, shape),
    };
    rate.map(WrittenRate::Known)
}

fn constant(text: &str, shape: &str) -> Result<Rate, String> {
    if text.is_empty() {
        return Err("no rate is written: write operations per second, such as 50k/s".to_owned());
    }
    if shape.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(match nearest(shape, ["ramp", "steps", "sine", "file"]) {
            Some(word) => format!("`{text}` is not a rate: did you mean `{word}`?"),
            None => format!(
                "`{text}` is not a rate: write 50k/s, or a rate that changes, such as {RAMP}, \
                 {STEPS}, {SINE} or {FILE}"
            ),
        });
    }
    parse_rate(text).map(Rate::constant)
}

fn ramp(text: &str) -> Result<Rate, String> {
    let wrong = || format!("`{text}` is not understood: write {RAMP}");
    let (rates, span) = text.split_once(" over ").ok_or_else(wrong)?;
    let (from, to) = rates.split_once("..").ok_or_else(wrong)?;
    let (from_ops_per_s, to_ops_per_s) = (parse_rate(from)?, parse_rate(to)?);
    Ok(Rate::Pieces(vec![RatePiece { length: length(span)?, from_ops_per_s, to_ops_per_s }]))
}

fn steps(text: &str) -> Result<Rate, String> {
    let wrong = || format!("`{text}` is not understood: write {STEPS}");
    let (rates, span) = text.split_once(" every ").ok_or_else(wrong)?;
    let rates = rates.split(' ').map(parse_rate).collect::<Result<Vec<_>, _>>()?;
    if let [only] = rates[..] {
        return Err(format!("one step never changes: write {}", per_second(only).replace(',', "")));
    }
    let length = length(span)?;
    let piece =
        |ops_per_s| RatePiece { length, from_ops_per_s: ops_per_s, to_ops_per_s: ops_per_s };
    Ok(Rate::Pieces(rates.into_iter().map(piece).collect()))
}

fn sine(text: &str) -> Result<Rate, String> {
    let wrong = || format!("`{text}` is not understood: write {SINE}");
    let (rates, span) = text.split_once(" every ").ok_or_else(wrong)?;
    let (mean, amplitude) = rates.split_once("+-").ok_or_else(wrong)?;
    let (mean_ops_per_s, amplitude_ops_per_s) = (parse_rate(mean)?, parse_rate(amplitude)?);
    if amplitude_ops_per_s >= mean_ops_per_s {
        return Err(format!(
            "an amplitude of {} is not below the mean of {}: write a smaller amplitude",
            per_second(amplitude_ops_per_s),
            per_second(mean_ops_per_s)
        ));
    }
    Ok(Rate::Sine { mean_ops_per_s, amplitude_ops_per_s, period: length(span)? })
}

/// Parses the time a part of a rate takes.
fn length(text: &str) -> Result<Nanos, String> {
    match parse_span(text)? {
        Nanos(0) => Err(format!("`{text}` is not a time above zero: write a time such as 60s")),
        span => Ok(span),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(text: &str) -> Rate {
        match parse(text) {
            Ok(WrittenRate::Known(rate)) => rate,
            other => panic!("{text}: {other:?}"),
        }
    }

    fn flat(seconds: u64, ops_per_s: f64) -> RatePiece {
        let length = Nanos::from_secs(seconds);
        RatePiece { length, from_ops_per_s: ops_per_s, to_ops_per_s: ops_per_s }
    }

    #[test]
    fn constant_and_changing_rates_are_parsed() {
        assert_eq!(rate("50k/s"), Rate::constant(5e4));
        let ramp = RatePiece { to_ops_per_s: 1e5, ..flat(60, 1e4) };
        assert_eq!(rate("ramp 10k/s..100k/s over 60s"), Rate::Pieces(vec![ramp]));
        assert_eq!(rate(" ramp  10k/s .. 100k/s\tover 1 m "), Rate::Pieces(vec![ramp]));
        let steps = vec![flat(10, 1e4), flat(10, 2e4), flat(10, 4e4)];
        assert_eq!(rate("steps 10k/s 20k/s 40k/s every 10s"), Rate::Pieces(steps));
        let sine = Rate::Sine {
            mean_ops_per_s: 5e4,
            amplitude_ops_per_s: 2e4,
            period: Nanos::from_secs(60),
        };
        assert_eq!(rate("sine 50k/s +-20k/s every 60s"), sine);
        assert_eq!(rate("sine 50k/s +- 20k/s every 60s"), sine);
        let file = parse("file my rates.csv").unwrap();
        assert_eq!(file, WrittenRate::InFile("my rates.csv".to_owned()));
    }

    #[test]
    fn an_invalid_rate_is_reported_with_an_example() {
        let refused = |text: &str| parse(text).unwrap_err();
        assert_eq!(
            refused("ramp 10k/s..0/s over 60s"),
            "ramp: the rate `0/s` is zero: write a rate above zero"
        );
        assert!(refused("ramp 10k/s over 60s").ends_with("write ramp 10k/s..100k/s over 60s"));
        assert!(refused("ramp 10k/s..20k/s over 0s").contains("not a time above zero"));
        assert!(refused("steps 10k/s every 10s").ends_with("write 10000/s"));
        assert!(refused("steps every 10s").contains("40k/s every 10s"));
        assert_eq!(
            refused("sine 50k/s +-50k/s every 60s"),
            "sine: an amplitude of 50,000/s is not below the mean of 50,000/s: write a smaller \
             amplitude"
        );
        assert!(refused("rampp 1/s..2/s over 1s").ends_with("did you mean `ramp`?"));
        assert!(refused("fast").contains("sine 50k/s"));
        assert!(refused("files.csv").contains("not a rate"));
        assert!(refused("file").contains("no rate file is named"));
        assert!(refused("").contains("50k/s"));
        assert!(refused("50k/s over 60s").contains("not a rate"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in "\\PC*") {
            if let Ok(WrittenRate::Known(rate)) = parse(&text) {
                prop_assert!(rate.is_sound());
            }
        }

        #[test]
        fn a_text_of_the_grammar_is_a_sound_rate(
            text in "[1-9][0-9]{0,5}k?/s\
                |ramp [1-9][0-9]{0,3}k?/s ?\\.\\. ?[1-9][0-9]{0,3}(\\.5)?k/s \
                over [1-9][0-9]?(s|ms|h)\
                |steps( [1-9][0-9]{0,3}k?/s){2,5} every [1-9][0-9]{0,2}(s|ms|m)\
                |sine [5-9]k/s \\+- ?[1-4]k/s every [1-9][0-9]{0,2}(s|m)"
        ) {
            let Ok(WrittenRate::Known(rate)) = parse(&text) else { panic!("{text} is rejected") };
            prop_assert!(rate.is_sound(), "{}: {:?}", text, rate);
            prop_assert!(rate.arrivals_within(Nanos::SECOND) > 0.0);
        }

        #[test]
        fn any_rate_like_text_is_sound_or_rejected(
            text in "(ramp |steps |sine |file )?[-0-9.kM/s ]{0,12}(\\.\\.|\\+-| )[0-9.kM/s]{0,8}( \
            over | every )?[0-9.]{0,9}(s|ms|h)?"
        ) {
            if let Ok(WrittenRate::Known(rate)) = parse(&text) {
                prop_assert!(rate.is_sound(), "{}: {:?}", text, rate);
                prop_assert!(rate.arrivals_within(Nanos::SECOND) > 0.0);
            }
        }
    }
}
