//! Rate files: CSV lines `t,rate`.

use std::ops::Range;

use model::limits::{RATE_MAX_OPS_PER_S, RATES_MAX};
use model::{Nanos, Rate, RatePiece};

/// The first line of every rate file.
const HEADER: &str = "t,rate";
/// Latest start of a rate: 100 days, below which nanoseconds are exact in a float.
const T_MAX_S: f64 = 8_640_000.0;

/// An error in a rate file, with its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrongLine {
    /// The line, 1-based.
    pub(crate) number: usize,
    /// Position of the line in the text.
    pub(crate) place: Range<usize>,
    /// What is wrong.
    pub(crate) why: String,
}

/// Parses a rate file's text.
///
/// # Errors
/// The first line that is wrong, and why.
pub(crate) fn parse(text: &str) -> Result<Rate, WrongLine> {
    let (mut pieces, mut start): (Vec<RatePiece>, _) = (Vec::new(), Nanos(0));
    let mut has_header = false;
    let mut last = (1, 0..0);
    let mut begin = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        let place = begin..begin + line.trim_end().len();
        begin += line.len();
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            continue;
        }
        let wrong = |why| WrongLine { number, place: place.clone(), why };
        if has_header {
            let (from, rate) = point(line, pieces.last().map(|_| start)).map_err(wrong)?;
            if let Some(before) = pieces.last_mut() {
                before.length = from.since(start);
            }
            start = from;
            // The last rate holds from its start on.
            let length = Nanos::SECOND;
            pieces.push(RatePiece { length, from_ops_per_s: rate, to_ops_per_s: rate });
        } else {
            has_header = check_header(line).map_err(wrong).map(|()| true)?;
        }
        if pieces.len() > RATES_MAX {
            return Err(wrong(format!("a rate file has at most {RATES_MAX} rates")));
        }
        last = (number, place);
    }
    if pieces.is_empty() {
        let why = match has_header {
            true => "no rate follows the header: write a line such as 0,50000",
            false => "the file is empty: write the header t,rate and lines such as 0,50000",
        };
        return Err(WrongLine { number: last.0, place: last.1, why: why.to_owned() });
    }
    Ok(Rate::Pieces(pieces))
}

fn check_header(line: &str) -> Result<(), String> {
    let is_header = line.split(',').map(str::trim).eq(HEADER.split(','));
    if is_header {
        return Ok(());
    }
    // Of a file with other content nothing is quoted: an experiment file may name any.
    let is_of_rates = line.chars().all(|sign| sign.is_ascii_digit() || ",. ".contains(sign));
    let quoted = if is_of_rates { format!(" is `{line}`, not") } else { " is not".to_owned() };
    Err(format!("the first line{quoted} the header {HEADER}"))
}

/// Reads a start and a rate; `before` is the start of the line before.
fn point(line: &str, before: Option<Nanos>) -> Result<(Nanos, f64), String> {
    let fields: Vec<_> = line.split(',').map(str::trim).collect();
    let [t, ops_per_s] = fields[..] else {
        let fields = fields.len();
        return Err(format!(
            "{fields} fields instead of two: write the seconds, a comma and the operations per second"
        ));
    };
    let from = start(t)?;
    match before {
        None if from > Nanos(0) => {
            return Err(format!("the first t is {t}: the rate at the start, at t = 0, is missing"));
        }
        Some(before) if from <= before => {
            return Err(format!("t = {t} is not after the line before it: lines must ascend"));
        }
        None | Some(_) => {}
    }
    let rate = ops_per_s.parse::<f64>().ok().filter(|rate| !rate.is_nan()).ok_or_else(|| {
        format!("the rate `{ops_per_s}` is not a number of operations per second: write 50000")
    })?;
    if rate < 0.0 {
        return Err(format!("the rate `{ops_per_s}` is negative: write a rate above zero"));
    }
    if rate == 0.0 {
        return Err("the rate is zero: write a rate above zero".to_owned());
    }
    if rate > RATE_MAX_OPS_PER_S {
        return Err(format!("the rate `{ops_per_s}` is more than one operation each nanosecond"));
    }
    Ok((from, rate))
}

#[expect(clippy::cast_possible_truncation, reason = "at most 100 days")]
#[expect(clippy::cast_sign_loss, reason = "checked to be positive")]
fn start(t: &str) -> Result<Nanos, String> {
    let seconds = t.parse::<f64>().ok().filter(|seconds| (0.0..=T_MAX_S).contains(seconds));
    let seconds = seconds.ok_or_else(|| {
        format!("t = `{t}` is not a number of seconds from the start of the measured span")
    })?;
    Ok(Nanos((seconds * 1e9).round() as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_rate_holds_until_the_next() {
        let rate = parse("t,rate\n0,1000\n 2.5 , 3000\r\n\n4,500.5\n").unwrap();
        let Rate::Pieces(pieces) = &rate else { panic!("pieces") };
        let parsed: Vec<_> =
            pieces.iter().map(|piece| (piece.length.0 / 1_000_000, piece.from_ops_per_s)).collect();
        assert_eq!(parsed, [(2500, 1000.0), (1500, 3000.0), (1000, 500.5)]);
        assert!(pieces.iter().all(RatePiece::is_flat) && rate.is_sound());
    }

    #[test]
    fn an_error_is_reported_with_its_line() {
        let refused = |text: &str| {
            let wrong = parse(text).unwrap_err();
            let text = text.get(wrong.place.clone()).unwrap_or("").to_owned();
            (wrong.number, text, wrong.why)
        };
        let (line, text, why) = refused("time,ops\n0,5\n");
        assert_eq!((line, text.as_str()), (1, "time,ops"));
        assert!(why.ends_with("not the header t,rate"), "{why}");
        let (line, text, why) = refused("t,rate\n0,5\n0,6\n");
        assert_eq!((line, text.as_str()), (3, "0,6"));
        assert_eq!(why, "t = 0 is not after the line before it: lines must ascend");
        let long: String = (0..=RATES_MAX).map(|t| format!("{t},5\n")).collect();
        assert_eq!(refused(&format!("t,rate\n{long}")).0, RATES_MAX + 2);
    }

    #[test]
    fn each_error_has_its_message() {
        for (text, reason) in [
            ("t,rate\n1,5", "the first t is 1: the rate at the start, at t = 0, is missing"),
            ("t,rate\n0,0", "the rate is zero: write a rate above zero"),
            ("t,rate\n0,-5", "the rate `-5` is negative: write a rate above zero"),
            (
                "t,rate\n0,50k/s",
                "the rate `50k/s` is not a number of operations per second: write 50000",
            ),
            (
                "t,rate\n0,5\n-1,5",
                "t = `-1` is not a number of seconds from the start of the measured span",
            ),
            (
                "t,rate\n0,5,7",
                "3 fields instead of two: write the seconds, a comma and the operations per second",
            ),
            ("t,rate\n0,1e10", "the rate `1e10` is more than one operation each nanosecond"),
            (
                "t,rate\n0,nan",
                "the rate `nan` is not a number of operations per second: write 50000",
            ),
            ("t,rate\n", "no rate follows the header: write a line such as 0,50000"),
            ("", "the file is empty: write the header t,rate and lines such as 0,50000"),
        ] {
            assert_eq!(parse(text).unwrap_err().why, reason, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_rejected(text in "(t,rate\n)?(\\PC|\n){0,40}") {
            prop_assert!(parse(&text).map_or(true, |rate| rate.is_sound()));
        }

        #[test]
        fn ascending_lines_are_a_sound_rate(
            lines in prop::collection::vec((1_u64..1_000_000, 1e-3..1e9_f64), 1..20)
        ) {
            let ascending = lines.iter().scan(0, |next_ms, (gap_ms, rate)| {
                let t = *next_ms as f64 / 1e3;
                *next_ms += gap_ms;
                Some(format!("{t},{rate}\n"))
            });
            let text = format!("t,rate\n{}", ascending.collect::<String>());
            let Ok(Rate::Pieces(pieces)) = parse(&text) else { panic!("rejected:\n{text}") };
            prop_assert_eq!(pieces.len(), lines.len());
            prop_assert!(Rate::Pieces(pieces).is_sound());
        }

        #[test]
        fn lines_of_numbers_are_sound_or_refused(
            lines in prop::collection::vec((-1.0..1e7, -1.0..1e10), 0..6)
        ) {
            let lines: String = lines.iter().map(|(t, rate)| format!("{t},{rate}\n")).collect();
            let text = format!("t,rate\n{lines}");
            prop_assert!(parse(&text).map_or(true, |rate| rate.is_sound()));
        }
    }
}
