//! The memory part of a run and of a page.

use model::{Allocator, Bin, Bytes, MallocRecord, RunRecord};
use render::{Format, Report, RunReport, Style, render_html};

use crate::fixture::{Fixture, quickstart};
use crate::page::{assert_well_nested, store, without_tags};

const MIB: f64 = 1_048_576.0;

/// A class whose slabs of 28 KiB hold 64 regions each.
fn bin(size: u64, slabs: u64, used: f64) -> Bin {
    let slab_regions = 28_672 / size;
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "small counts of an invented fixture"
    )]
    let regions = ((slab_regions * slabs) as f64 * used) as u64;
    Bin { size, slab_bytes: 28_672, slab_regions, regions, slabs }
}

/// The case of [Callaghan 2022-09-19]: values of 400 bytes with their cache entries.
fn fragmented_bins() -> Vec<Bin> {
    let mut bins = vec![bin(448, 30_000, 0.7), bin(8_192, 12_000, 1.0), bin(96, 4_000, 0.7)];
    bins.extend([bin(32, 2_000, 0.68), bin(64, 40, 0.1)]);
    bins.extend((0..9).map(|at| bin(1_024 + 64 * at, 3, 1.0)));
    bins
}

/// Adds the memory records of this allocator to a run.
fn add_malloc(run: &mut RunRecord, allocator: Allocator, bins: &[Bin], gauges: &[(&str, f64)]) {
    run.variant.settings.cache_bytes = Some(Bytes(1 << 30));
    let settings = [
        ("narenas", "8"),
        ("dirty_decay_ms", "10000"),
        ("retain", "true"),
        ("MALLOC_CONF", "narenas:8"),
    ];
    let settings = settings.map(|(name, value)| (name.to_owned(), value.to_owned()));
    for step in &mut run.steps {
        step.malloc = Some(MallocRecord {
            allocator,
            version: "5.3.0-0-g54eaed1d8b56".to_owned(),
            settings: if allocator.is_system() { Vec::new() } else { settings.to_vec() },
            bins: bins.to_vec(),
        });
        let gauges = gauges.iter().map(|(name, mib)| ((*name).to_owned(), mib * MIB));
        step.gauges_end.extend(gauges);
        step.gauges_max.insert("rss_bytes".to_owned(), 1_190.0 * MIB);
    }
}

/// The quickstart with memory records of its first two variants.
fn with_memory() -> Fixture {
    let mut fixture = quickstart(5);
    let names: Vec<String> =
        fixture.comparison.variants.iter().take(2).map(|one| one.name.clone()).collect();
    for run in &mut fixture.runs {
        let rss = [
            ("rss_bytes", 1_180.0),
            ("rss_anon_bytes", 1_150.0),
            ("rss_file_bytes", 30.0),
            ("rss_shmem_bytes", 0.0),
            ("malloc_allocated_bytes", 1_000.0),
        ];
        let own = [
            ("malloc_active_bytes", 1_120.0),
            ("malloc_resident_bytes", 1_160.0),
            ("malloc_mapped_bytes", 1_200.0),
            ("malloc_retained_bytes", 80.0),
        ];
        if run.cell.variant == names[0] {
            add_malloc(
                run,
                Allocator::Jemalloc,
                &fragmented_bins(),
                &[&rss[..], &own[..]].concat(),
            );
        } else if run.cell.variant == names[1] {
            let mapped = [("malloc_mapped_bytes", 1_150.0)];
            add_malloc(run, Allocator::System, &[], &[&rss[..], &mapped[..]].concat());
        }
    }
    fixture
}

/// Returns the memory part of a shown run.
fn shown(run: &RunRecord, fixture: &Fixture) -> String {
    let text = RunReport { manifest: &fixture.manifest, run }
        .render(Format::Text, Style { width: 110, ..Style::default() });
    let start = text.find("Memory at").expect("the part on memory");
    let end = text[start..].find("\n\n  ips").expect("the glossary follows");
    text[start..start + end].to_owned()
}

#[test]
fn run_shows_allocator_totals_and_largest_classes() {
    let fixture = with_memory();
    let jemalloc = |run: &&RunRecord| {
        let malloc = run.steps.first().and_then(|step| step.malloc.as_ref());
        malloc.is_some_and(|malloc| malloc.allocator == Allocator::Jemalloc)
    };
    insta::assert_snapshot!(shown(fixture.runs.iter().find(jemalloc).unwrap(), &fixture));
}

#[test]
fn allocator_without_bins_has_no_classes() {
    let fixture = with_memory();
    let system = |run: &&RunRecord| {
        let malloc = run.steps.first().and_then(|step| step.malloc.as_ref());
        malloc.is_some_and(|malloc| malloc.allocator.is_system())
    };
    insta::assert_snapshot!(shown(fixture.runs.iter().find(system).unwrap(), &fixture));
}

#[test]
fn page_has_the_memory_of_each_recorded_variant() {
    let fixture = with_memory();
    let page = render_html(&fixture.input());
    store("memory.html", page.as_bytes());
    assert_well_nested(&page);
    let section = page.split("<section id=\"memory\">").nth(1).expect("the section");
    let section = section.split("</section>").next().unwrap();
    let rows = section.split("</tr>").map(|row| without_tags(row, " "));
    insta::assert_snapshot!(rows.collect::<Vec<_>>().join("\n"));
    assert!(!render_html(&quickstart(5).input()).contains("id=\"memory\""));
}

/// Goal: the memory of a server experiment is the server's; Assay's own process stands apart, and
/// its allocator nowhere.
#[test]
fn memory_of_a_server_is_the_server_s() {
    let mut fixture = with_memory();
    let name = fixture.comparison.variants[0].name.clone();
    for run in fixture.runs.iter_mut().filter(|run| run.cell.variant == name) {
        for step in &mut run.steps {
            step.counters.insert("server_cpu_user_us".to_owned(), 7.0);
            step.gauges_max.insert("server_rss_bytes".to_owned(), 333.0 * MIB);
            step.gauges_end.insert("server_memory_bytes".to_owned(), 555.0 * MIB);
            step.gauges_max.insert("rss_bytes".to_owned(), 22.0 * MIB);
        }
    }
    let run = fixture.runs.iter().find(|run| run.cell.variant == name).unwrap();
    let text = shown(run, &fixture);
    let rows: Vec<Vec<&str>> =
        text.lines().map(|line| line.split("  ").filter(|it| !it.is_empty()).collect()).collect();
    assert!(
        text.starts_with("Memory at the end of each step: of the server's processes; "),
        "{text}"
    );
    let heading = rows.iter().position(|row| row.first() == Some(&"step")).expect("a table");
    let columns: Vec<&str> = rows[heading].iter().map(|it| it.trim()).collect();
    assert_eq!(columns, ["step", "rss peak", "/cache", "with page cache", "client"], "{text}");
    let first: Vec<&str> = rows[heading + 1][1..].iter().map(|it| it.trim()).collect();
    assert_eq!(first, ["333 MiB", "0.33", "555 MiB", "22.0 MiB"], "{text}");
    // Nothing is known of a foreign server's memory.
    for run in fixture.runs.iter_mut().filter(|run| run.cell.variant == name) {
        for step in &mut run.steps {
            step.gauges_max.remove("server_rss_bytes");
        }
    }
    let run = fixture.runs.iter().find(|run| run.cell.variant == name).unwrap();
    let text = RunReport { manifest: &fixture.manifest, run }
        .render(Format::Text, Style { width: 110, ..Style::default() });
    assert!(!text.contains("Memory at"), "{text}");
}
