//! The memory of a run and of a page: what the kernel counts, what the allocator holds of it.

use model::{Allocator, Bin, Bytes, MallocRecord, RunRecord};
use render::{Style, render_html, render_run};

use crate::fixture::{Fixture, quickstart};
use crate::page::{assert_well_nested, keep};

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

/// The seed's case: blob values of 400 bytes and what the cache keeps with them.
fn seed() -> Vec<Bin> {
    let mut bins = vec![bin(448, 30_000, 0.7), bin(8_192, 12_000, 1.0), bin(96, 4_000, 0.7)];
    bins.extend([bin(32, 2_000, 0.68), bin(64, 40, 0.1)]);
    bins.extend((0..9).map(|at| bin(1_024 + 64 * at, 3, 1.0)));
    bins
}

/// Lets a run tell of its memory as one with this allocator does.
fn tell(run: &mut RunRecord, allocator: Allocator, bins: &[Bin], gauges: &[(&str, f64)]) {
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

/// The quickstart, whose first two variants tell of their memory.
fn told() -> Fixture {
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
            tell(run, Allocator::Jemalloc, &seed(), &[&rss[..], &own[..]].concat());
        } else if run.cell.variant == names[1] {
            let mapped = [("malloc_mapped_bytes", 1_150.0)];
            tell(run, Allocator::System, &[], &[&rss[..], &mapped[..]].concat());
        }
    }
    fixture
}

/// Returns the part of a shown run that is about memory.
fn shown(run: &RunRecord, fixture: &Fixture) -> String {
    let text = render_run(&fixture.manifest, run, Style { width: 110, ..Style::default() });
    let start = text.find("Memory at").expect("the part on memory");
    let end = text[start..].find("\n\n  ips").expect("the glossary follows");
    text[start..start + end].to_owned()
}

#[test]
fn a_run_shows_what_its_allocator_holds_with_the_classes_that_map_the_most() {
    let fixture = told();
    let jemalloc = |run: &&RunRecord| {
        let told = run.steps.first().and_then(|step| step.malloc.as_ref());
        told.is_some_and(|told| told.allocator == Allocator::Jemalloc)
    };
    insta::assert_snapshot!(shown(fixture.runs.iter().find(jemalloc).unwrap(), &fixture));
}

#[test]
fn an_allocator_that_tells_little_has_no_classes() {
    let fixture = told();
    let system = |run: &&RunRecord| {
        let told = run.steps.first().and_then(|step| step.malloc.as_ref());
        told.is_some_and(|told| told.allocator.is_system())
    };
    insta::assert_snapshot!(shown(fixture.runs.iter().find(system).unwrap(), &fixture));
}

#[test]
fn the_page_has_the_memory_of_each_variant_that_tells_and_none_without() {
    let fixture = told();
    let page = render_html(&fixture.input());
    keep("memory.html", page.as_bytes());
    assert_well_nested(&page);
    let section = page.split("<section id=\"memory\">").nth(1).expect("the section");
    let section = section.split("</section>").next().unwrap();
    insta::assert_snapshot!(section.replace("><", ">\n<"));
    assert!(!render_html(&quickstart(5).input()).contains("id=\"memory\""));
}
