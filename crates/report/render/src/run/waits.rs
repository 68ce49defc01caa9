//! What the sessions of a server waited for, by step.

use model::client_host::ClientHost;
use model::waits::BLOCK_S;
use model::{SamplingEffect, SessionWaits, StepRecord, WaitProfile};

use crate::document::{Part, Table};
use crate::figure::count;

/// Share of the sessions found below which an event is only in the record.
const SHOWN_FROM: f64 = 0.005;

/// Returns a row per step and event, the most frequent first; nothing without samples.
pub(super) fn waits(steps: &[&StepRecord], clients: &[ClientHost]) -> Vec<Part> {
    let sampled: Vec<(&str, &WaitProfile)> = steps
        .iter()
        .filter_map(|step| Some((step.step.name.as_str(), step.waits.as_deref()?)))
        .filter(|(_, profile)| profile.samples > 0)
        .collect();
    let mut table =
        Table::new(["step", "<sessions of", "<event", "share", "sessions\nin it", "found"]);
    for (step, profile) in &sampled {
        let groups = [("clients", &profile.clients), ("writers", &profile.writers)];
        for (by, waits) in groups {
            rows(&mut table, [step, by], waits, profile.samples);
        }
    }
    let cost_us = |profile: &WaitProfile| profile.took_ns.as_micros_f64() / profile.samples as f64;
    let most = sampled.iter().map(|(_, profile)| cost_us(profile)).fold(0.0, f64::max);
    let of = match clients {
        [first, _, ..] => format!(" of {}, the first client host", first.name),
        _ => String::new(),
    };
    let title = format!(
        "Events of the sessions{of}, sampled over a separate connection; a sample took up to \
         {most:.0} \u{b5}s on average over a step"
    );
    let effects = sampled.iter().filter_map(|(step, profile)| Some((*step, profile.effect?)));
    let lines = effects.map(|(step, effect)| Part::Text(effect_line(step, &effect)));
    Part::Text(title).above([Part::Table(table)].into_iter().chain(lines))
}

/// Returns what sampling did to a step.
fn effect_line(step: &str, effect: &SamplingEffect) -> String {
    let SamplingEffect { ratio, low, high, blocks } = effect;
    format!(
        "{step}: seconds with samples had {ratio:.3}x [{low:.3}, {high:.3}] the throughput of \
         seconds without samples (99 %, {blocks} blocks of {BLOCK_S} s)"
    )
}

fn rows(table: &mut Table, names: [&str; 2], waits: &SessionWaits, samples: u64) {
    let mut events: Vec<(&String, &u64)> = waits.events.iter().collect();
    events.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    for (event, found) in events {
        let share = *found as f64 / waits.sessions as f64;
        if share >= SHOWN_FROM {
            let per_sample = format!("{:.2}", *found as f64 / samples as f64);
            let figures = [format!("{:.1} %", 100.0 * share), per_sample, count(*found)];
            table.push(names.into_iter().chain([event.as_str()]).map(str::to_owned).chain(figures));
        }
    }
}

#[cfg(test)]
mod tests {
    use model::{Nanos, Step, StopRule};

    use super::*;
    use crate::document::Document;
    use crate::style::Style;

    #[test]
    fn events_are_shown_with_their_share_and_cost() {
        let mut step = StepRecord::new(0, Step::new("update", StopRule::Operations(9)));
        let text = |step: &StepRecord| Document::from([waits(&[step], &[])]).text(Style::default());
        assert_eq!(text(&step).trim(), "");
        let mut profile =
            WaitProfile { samples: 200, took_ns: Nanos(30_000_000), ..WaitProfile::default() };
        (0..300).for_each(|_| profile.clients.add("Lock:transactionid"));
        (0..100).for_each(|_| profile.clients.add("running"));
        profile.clients.add("IO:WALSync");
        profile.effect = Some(SamplingEffect { ratio: 0.9876, low: 0.97, high: 1.0, blocks: 15 });
        step.waits = Some(Box::new(profile));
        let shown = text(&step);
        assert!(shown.contains("up to 150 \u{b5}s"), "{shown}");
        assert!(shown.contains("had 0.988x [0.970, 1.000] the throughput"), "{shown}");
        let row = shown.lines().find(|line| line.contains("transactionid")).unwrap();
        let cells: Vec<&str> = row.split_whitespace().collect();
        let client = |name: &str| ClientHost { name: name.to_owned(), ..ClientHost::default() };
        let of_two = Document::from([waits(&[&step], &[client("c1"), client("c2")])]);
        let of_two = of_two.text(Style::default());
        assert!(of_two.contains("sessions of c1, the first client host, sampled"), "{of_two}");
        let expected = ["update", "clients", "Lock:transactionid", "74.8", "%", "1.50", "300"];
        assert_eq!(cells, expected, "{shown}");
        assert!(!shown.contains("WALSync"), "too rare: {shown}");
    }
}
