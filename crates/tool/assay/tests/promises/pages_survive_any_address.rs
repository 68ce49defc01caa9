//! Every address and every form has an answer: its text is escaped, or the request is refused.
//!
//! A sample of drawn addresses; `ASSAY_CAMPAIGN=long` draws 20,000.

use std::collections::BTreeMap;

use serde_json::json;

use crate::hostile::HostileBundle;
use crate::pages::{Server, home};
use crate::scale::cases;
use crate::workspace::Workspace;

const MARKUP: &str = "</h1><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";

/// Values as an address has them: encoded, or broken on purpose.
const VALUES: &[&str] = &[
    "",
    "one",
    "two",
    "fillseq",
    "readrandom",
    "%3Cscript%3Ealert(1)%3C%2Fscript%3E%E2%80%AE",
    "%22%3E%3Cimg+src%3Dx+onerror%3Dalert(2)%3E",
    "..%2f..%2f..%2fetc%2fpasswd",
    "/etc/passwd",
    "%00",
    "%ff%fe",
    "%",
    "%2",
    "%0d%0aSet-Cookie:+a=b",
    "99999999999999999999999999",
    "-1",
    "1e308",
    "NaN%",
    "0%",
    "5%25",
    "100000%25",
    "differing",
    "throughput_ops_per_s",
    "service_ns_p99",
    "2026-11-20",
    "%F0%9F%8E%B2",
    "pair",
    "pair/one.c1.r1",
    "=",
    "a=b=c",
];

const NAMES: &[&str] = &[
    "base",
    "metric",
    "margin",
    "step",
    "variant",
    "only",
    "of",
    "text",
    "build",
    "label",
    "host",
    "from",
    "to",
    "skip",
    "engine",
    "experiment",
    "token",
    "x",
    "%00",
    "",
];

/// Places below an experiment.
const BELOW: &[&str] = &[
    "",
    "seconds/",
    "latency/",
    "costs/",
    "explained/",
    "timelines/",
    "warnings/",
    "how/",
    "live/",
    "live/events/",
    "table.csv",
    "table.md",
    "table.json",
    "table.x",
    "report.html",
    "chart/seconds-0.json",
    "chart/percentiles-1.json",
    "chart/heat-1-0.json",
    "chart/heat-99999999999999999999-0.json",
    "chart/seconds--1.json",
    "chart/.json",
    "chart/",
    "..%2f",
    "%00",
    "x/y/z",
];

/// Draws numbers below a bound. Source: Marsaglia, 2003, "Xorshift RNGs", section 4.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 % bound as u64).expect("it is small")
    }

    fn of<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    /// Returns pairs as a query or a form has them.
    fn pairs(&mut self) -> String {
        let pairs = (0..self.below(4)).map(|_| format!("{}={}", self.of(NAMES), self.of(VALUES)));
        pairs.collect::<Vec<_>>().join("&")
    }
}

/// Goal: no address and no form makes a page fail, and no text becomes markup.
#[test]
fn any_address_is_answered() {
    let workspace = Workspace::new();
    let mut bundle = HostileBundle::of_pair();
    bundle.experiment()["question"] = json!(MARKUP);
    workspace.write("x.assay", bundle.pack());
    assert_eq!(workspace.assay(&["import", "x.assay"]).code, 0);
    let server = Server::with(&workspace, &["--allow-run"]);
    let home = home(&server, "pair");
    let roots =
        ["/", "/history/", "/history/chart/0.json", "/compare/", "/run/", "/run/progress/", "/e/"];
    let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
    let mut statuses: BTreeMap<u16, u64> = BTreeMap::new();
    for _ in 0..cases(200, 20_000) {
        let place = match draw.below(3) {
            0 => draw.of(&roots).to_owned(),
            1 => format!("/compare/{}", draw.of(BELOW)),
            _ => format!("{home}{}", draw.of(BELOW)),
        };
        let address = format!("{place}?{}", draw.pairs());
        let answer = match draw.below(8) {
            0 => server.post("/run/check", "", &draw.pairs()),
            1 => server.post(&place, "", &draw.pairs()),
            _ => server.get(&address),
        };
        *statuses.entry(answer.status).or_default() += 1;
        assert!(answer.status < 500, "{address}: {}", answer.body);
        // Tables and charts are data, which no browser takes for a page.
        let is_page = answer.head.contains("content-type: text/html");
        assert!(answer.head.contains("x-content-type-options: nosniff"), "{address}");
        for markup in ["<script>alert", "<img src=x", "\u{202e}"] {
            assert!(!is_page || !answer.body.contains(markup), "{address}: {}", answer.body);
        }
        assert!(!answer.head.to_lowercase().contains("\nset-cookie: a=b"), "{address}");
    }
    // The draw reaches pages, selections that are refused, and addresses without a page.
    for status in [200, 400, 404] {
        assert!(statuses.get(&status).is_some_and(|count| *count > 9), "{statuses:?}");
    }
}
