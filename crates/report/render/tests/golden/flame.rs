//! Flame graphs: files of every format, and the section of the page.

use analysis::profile::{Place, Side, StepProfile, flame_graph};
use model::{Frame, Profile, ProfileBuilder, ProfileRecord, ProfileTarget, metric};
use render::flame::{firefox, folded};
use render::{FlameReport, Format, Meta, Report, ReportInput, Style, render_html};

use crate::fixture::{Fixture, quickstart, two_releases};
use crate::page::{assert_well_nested, store};

/// A name as long as those of C++.
const LONG: &str = "std::_Rb_tree<rocksdb::Slice, std::pair<rocksdb::Slice const, int>, \
                    std::less<rocksdb::Slice> >::_M_emplace_unique<char const* const&, int>";
/// A name with markup.
const MARKED: &str = "operator<< <b>&\"x\"";

/// Returns a profile of some thousand samples below an engine with a function of its release.
fn profile(library: &str, own: &str, seed: u64) -> Profile {
    let frame = |module: &str, function: &str| Frame {
        module: module.to_owned(),
        function: function.to_owned(),
    };
    let mut state = seed;
    let mut next = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (state >> 33) % below
    };
    let mut builder = ProfileBuilder::default();
    let names =
        ["DB::Get", "DBImpl::GetImpl", "Version::Get", "TableCache::Get", LONG, MARKED, own];
    for _ in 0..600 {
        let mut frames =
            vec![frame("assay", "std::sys::thread_start"), frame("assay", "load::run")];
        for depth in 0..2 + next(24) {
            let function = match next(3) {
                0 if next(4) == 0 => {
                    (*names.iter().cycle().nth(usize::try_from(next(7)).unwrap()).unwrap())
                        .to_owned()
                }
                _ => format!("rocksdb::Block::Step{depth}"),
            };
            frames.push(frame(library, &function));
        }
        frames.push(match next(5) {
            0 => frame("libc.so.6", "malloc"),
            1 => frame("libc.so.6", "memcpy"),
            2 => frame("[kernel]", "do_syscall_64"),
            _ => frame(library, "crc32"),
        });
        let thread = if next(6) == 0 { "rocksdb:low0" } else { "client-1" };
        builder.add(ProfileTarget::Worker, thread, &frames, 1 + next(9));
    }
    builder.build()
}

/// Gives the last step of every run a profile, CPU and waits; returns the profiles.
fn profiled(fixture: &mut Fixture) -> Vec<StepProfile> {
    let mut profiles = Vec::new();
    for (seed, run) in (1..).zip(&mut fixture.runs) {
        let (library, own) = match run.cell.variant.as_str() {
            "rocksdb-9.10" => ("librocksdb.so.9", "rocksdb::OldSeek"),
            _ => ("librocksdb.so.11", "rocksdb::NewSeek"),
        };
        let Some(step) = run.steps.last_mut() else { continue };
        let profile = profile(library, own, seed);
        let ops = model::float(analysis::primary_operations(step));
        step.counters.set(metric::PROCESS_CPU_USER_US, Some(9.5 * ops));
        step.counters.set(metric::PROCESS_CPU_KERNEL_US, Some(1.5 * ops));
        step.counters.set(metric::CLIENT_RUN_QUEUE_US, Some(0.7 * ops));
        step.profiles.push(ProfileRecord {
            event: "cpu-clock".to_owned(),
            hz: 199,
            samples: profile.samples(ProfileTarget::Worker),
            ..ProfileRecord::default()
        });
        profiles.push(StepProfile { run: run.id.clone(), step: step.index, profile });
    }
    profiles
}

/// Returns what `write` makes of the newer release compared with the older, or of the older.
fn written<T>(has_base: bool, write: impl Fn(&FlameReport<'_>) -> T) -> T {
    let mut fixture = two_releases(5);
    let profiles = profiled(&mut fixture);
    let (meta, step) = (Meta::of(&fixture.manifest), profiles[0].step);
    let side = |variant: &str| -> Side<'_> {
        let place = Place { variant, clients: fixture.runs[0].cell.clients, step };
        StepProfile::side(&profiles, &fixture.runs, place)
    };
    let (old, new) = (side("rocksdb-9.10"), side("rocksdb-11.8"));
    let (shown, base) = if has_base { (&new, Some(&old)) } else { (&old, None) };
    let graph = flame_graph(shown, base).unwrap();
    let step = "readrandom";
    write(&FlameReport { meta, step, clients: 1, shown, base, graph })
}

#[test]
fn pictures_have_their_script_and_show_names_as_text() {
    for (name, has_base) in [("flame.svg", false), ("flame-versus.svg", true)] {
        let svg = written(has_base, |flame| flame.svg());
        println!("{name}: {} bytes", svg.len());
        store(name, svg.as_bytes());
        let (picture, script) = svg.split_once("<script><![CDATA[").unwrap();
        assert!(script.contains("</script>") && !script.contains("<g"), "{script}");
        assert_well_nested(&format!("{picture}</svg>"));
        let marked = "<title>operator&lt;&lt; &lt;b&gt;&amp;&quot;x&quot;\n";
        assert!(picture.contains(marked) && !picture.contains("<b>"), "{picture}");
        let long = LONG.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        assert!(picture.contains(&long), "{picture}");
        assert!(picture.contains("waiting for a CPU"), "{picture}");
        assert_eq!(picture.contains("Gone: what only rocksdb-9.10 calls"), has_base);
        assert_eq!(picture.contains("difference +"), has_base);
        assert!(svg.len() < 2_000_000, "{} bytes", svg.len());
    }
}

#[test]
fn folded_stacks_have_a_column_per_variant() {
    let one = written(false, |flame| folded(flame.shown, flame.base));
    let line = one.lines().next().unwrap();
    assert!(line.starts_with("worker;client;std::sys::thread_start;load::run;"), "{line}");
    let sum = |text: &str, column: usize| -> u64 {
        let samples =
            text.lines().filter_map(|line| line.rsplit(' ').nth(column)?.parse::<u64>().ok());
        samples.sum()
    };
    let two = written(true, |flame| folded(flame.shown, flame.base));
    assert_eq!(sum(&one, 0), sum(&two, 1));
    assert!(two.contains("OldSeek") && two.contains("NewSeek"));
}

#[test]
fn firefox_profiler_gets_weighted_samples_with_categories() {
    let text = written(true, |flame| firefox(flame.shown, flame.base));
    println!("Firefox Profiler: {} bytes", text.len());
    store("flame.json", text.as_bytes());
    let profile: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(profile["meta"]["symbolicated"], true);
    let names = |of: &serde_json::Value, key: &str| -> Vec<String> {
        let all = of.as_array().unwrap().iter();
        all.map(|one| one[key].as_str().unwrap().to_owned()).collect()
    };
    let categories = names(&profile["meta"]["categories"], "name");
    assert_eq!(categories, ["Other", "client", "engine", "allocator", "kernel", "C library"]);
    let threads = names(&profile["threads"], "name");
    assert_eq!(threads, ["client", "rocksdb:low", "client", "rocksdb:low"]);
    let processes = names(&profile["threads"], "processName");
    assert_eq!(
        (processes[0].as_str(), processes[2].as_str()),
        ("rocksdb-11.8 worker", "rocksdb-9.10 worker")
    );
    let samples = &profile["threads"][0]["samples"];
    assert_eq!(samples["weightType"], "samples");
    assert!(samples["weight"].as_array().unwrap().iter().any(|weight| weight.as_i64() > Some(1)));
}

#[test]
fn the_table_has_the_largest_functions_and_their_differences() {
    let text = written(true, |flame| flame.render(Format::Text, Style::default()));
    println!("{text}");
    assert!(
        text.contains("11.0 us of CPU per operation") && text.contains("samples of 1 run"),
        "{text}"
    );
    assert!(text.contains("20 of "), "{text}");
    let json = written(true, |flame| flame.render(Format::Json, Style::default()));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let functions = json["functions"].as_array().unwrap();
    let own: f64 =
        functions.iter().map(|one| one["own"]["shown_us_per_op"].as_f64().unwrap()).sum();
    assert!((own - 11.0).abs() < 1e-9, "{own}");
    assert_eq!(
        (&json["variant"], &json["versus"]),
        (&"rocksdb-11.8".into(), &"rocksdb-9.10".into())
    );
}

#[test]
fn the_page_shows_the_base_and_each_difference() {
    let mut fixture = quickstart(5);
    let profiles = profiled(&mut fixture);
    let page = render_html(&ReportInput { profiles: &profiles, ..fixture.input() });
    let without = render_html(&fixture.input());
    println!("page: {} bytes, without profiles {}", page.len(), without.len());
    store("flame.html", page.as_bytes());
    assert_well_nested(&page);
    assert!(!page.contains("<script") && page.contains("Where the CPU goes"));
    assert!(page.contains("With zoom and search: <code>assay flame"), "the command");
    let pictures = page.matches("id=\"flame-").count();
    assert_eq!(pictures, fixture.comparison.variants.len());
    // As the goal for four profiles.
    let per_picture = (page.len() - without.len()) / pictures;
    assert!(without.len() + 4 * per_picture < 1_500_000, "{per_picture} bytes a picture");
    assert!(!two_releases_page().contains("Where the CPU goes"));
}

fn two_releases_page() -> String {
    render_html(&two_releases(5).input())
}
