//! The share of the device, in JSON and on the page.

use analysis::StorageUse;
use model::{IoTest, StepClients};
use render::{Compared, Explained, Format, Meta, Report, ReportInput, Style, render_html};

use crate::fixture::two_releases;

#[test]
fn share_of_the_device_is_in_json_and_on_the_page() {
    let uses = [StorageUse {
        step_index: 0,
        step: "readrandom".to_owned(),
        clients: StepClients { level: 1, number: 1 },
        variant: "rocksdb-9.10".to_owned(),
        test: IoTest::RANDREAD_4K,
        per_s: 6_100.0,
        limit_per_s: 10_000.0,
        jobs: 1,
        share: 0.61,
        profile: "20261123T120000Z-1".to_owned(),
    }];
    let fixture = two_releases(5);
    let (meta, host) = (Meta::of(&fixture.manifest), &fixture.manifest.host);
    let compared = Compared::of(&fixture.comparison, &meta, &fixture.runs, host, &[]);
    let json = |uses: &[StorageUse]| -> serde_json::Value {
        let explained = Explained { compared: &compared, explanations: &[], storage: uses };
        let text = explained.render(Format::Json, Style::default());
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(json(&uses)["storage"][0]["share"], 0.61);
    assert_eq!(json(&uses)["storage"][0]["test"], "randread-4k");
    assert!(json(&[]).get("storage").is_none());
    let page = render_html(&ReportInput { storage: &uses, ..fixture.input() });
    for text in ["Use of the device", "of what this device does", "randread-4k, O_DIRECT"] {
        assert!(page.contains(text), "{text}");
    }
    assert!(!render_html(&fixture.input()).contains("Use of the device"));
}
