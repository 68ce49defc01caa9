//! Operation n is a function of (seed, client, n).

use model::{Bytes, DataShape, Nanos, Op, Step, StopRule};
use proptest::prelude::*;
use workload::{Generator, Group, Presence, Request, catalog, generators};

fn step(name: &str, distribution: &str, clients: u32) -> Step {
    Step {
        clients,
        distribution: distribution.to_owned(),
        range_rows: 7,
        batch_keys: 3,
        field_bytes: 9,
        writer_bytes_per_s: Some(Bytes::MIB),
        ..Step::new(name, StopRule::Duration(Nanos::SECOND))
    }
}

fn data(rows: u64) -> DataShape {
    DataShape { rows, key_bytes: 20, value_bytes: 100, compressible_to: 0.5 }
}

fn of(step: &Step, data: &DataShape, seed: u64, group: Group) -> Vec<Box<dyn Generator>> {
    let request = Request { step, data, seed, presence: Presence::Some, group };
    generators(&request).expect("the step is right")
}

/// Returns the next `count` operations as text.
fn take(generator: &mut Box<dyn Generator>, count: usize) -> Vec<String> {
    let mut texts = Vec::new();
    while texts.len() < count {
        match generator.next() {
            Some(op) => texts.push(format!("{op:?}")),
            None => break,
        }
    }
    texts
}

/// Returns the names of the steps that have clients.
fn steps() -> impl Iterator<Item = String> {
    catalog().into_iter().filter(|info| !info.needs.is_empty()).map(|info| info.name.into_owned())
}

#[test]
fn the_same_arguments_give_the_same_stream() {
    assert!(steps().count() > 10);
    for name in steps() {
        let (step, data) = (step(&name, "zipf:0.99", 2), data(1000));
        let (mut once, mut again) =
            (of(&step, &data, 9, Group::Clients), of(&step, &data, 9, Group::Clients));
        assert!(!once.is_empty() && once.len() == again.len(), "{name}");
        for (one, other) in once.iter_mut().zip(&mut again) {
            let stream = take(one, 200);
            assert_eq!(stream, take(other, 200), "{name}");
            assert!(stream.len() == 200, "{name} ended");
        }
    }
}

#[test]
fn streams_are_the_same_in_every_build() {
    // Goal: operations do not change by accident. A change here goes under
    // "Methodology" in the changelog: results from before and after are not comparable.
    // Method: row ids of the first operations and the first value, as they are today.
    let data = data(1000);
    let ids = |name: &str| {
        let mut client = of(&step(name, "uniform", 1), &data, 1, Group::Clients).remove(0);
        let mut ids = Vec::new();
        while ids.len() < 4 {
            let Some(Op::Get { key } | Op::Put { key, .. }) = client.next() else { break };
            ids.push(u64::from_be_bytes(*key.first_chunk().unwrap()));
        }
        ids
    };
    assert_eq!(ids("readrandom"), [734, 672, 213, 536]);
    assert_eq!(ids("filluniquerandom"), [543, 150, 848, 572]);
    assert_eq!(ids("fillseq"), [0, 1, 2, 3]);
    let mut fill = of(&step("fillseq", "uniform", 1), &data, 1, Group::Clients).remove(0);
    let Some(Op::Put { value, .. }) = fill.next() else { panic!("a fill puts") };
    let hex: String = value[..24].iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, "0f660234b945a2b8a196319ccb3466c42c66d45db2dab38d");
}

#[test]
fn clients_seeds_steps_and_groups_differ() {
    let data = data(1_000_000);
    let of = |name: &str, seed, group| of(&step(name, "uniform", 2), &data, seed, group);
    let mut streams = Vec::new();
    for mut generator in of("readrandom", 1, Group::Clients)
        .into_iter()
        .chain(of("readrandom", 2, Group::Clients))
        .chain(of("readwhilewriting", 1, Group::Clients))
        .chain(of("readwhilewriting", 1, Group::Writers))
    {
        streams.push(take(&mut generator, 50));
    }
    assert_eq!(streams.len(), 7, "two clients each and one writer");
    for (index, stream) in streams.iter().enumerate() {
        assert!(streams.iter().skip(index + 1).all(|other| other != stream));
    }
}

#[test]
fn only_steps_with_a_writer_have_one() {
    for info in catalog() {
        let (step, data) = (step(&info.name, "uniform", 1), data(10));
        let writers = of(&step, &data, 1, Group::Writers).len();
        assert_eq!(writers, usize::from(info.has_writer), "{}", info.name);
        let clients = of(&step, &data, 1, Group::Clients).len();
        assert_eq!(clients, usize::from(!info.needs.is_empty()), "{}", info.name);
    }
}

#[test]
fn the_writer_writes_uniformly_with_skewed_readers() {
    let (step, data) = (step("readwhilewriting", "hotspot:8.64", 1), data(1_000_000));
    let mut writer = of(&step, &data, 1, Group::Writers).remove(0);
    let mut reader = of(&step, &data, 1, Group::Clients).remove(0);
    let id = |key: &[u8]| u64::from_be_bytes(*key.first_chunk().unwrap());
    let mut hot_writes = 0;
    for _ in 0..1000 {
        let Some(Op::Put { key, .. }) = writer.next() else { panic!("a writer puts") };
        hot_writes += u32::from(id(key) < 8);
        let Some(Op::Get { key }) = reader.next() else { panic!("a reader gets") };
        assert!(id(key) < 8);
    }
    assert!(hot_writes < 3, "{hot_writes}");
}

#[test]
fn operations_have_the_requested_shape() {
    let data = DataShape { key_bytes: 24, value_bytes: 33, ..data(50) };
    for name in steps() {
        let mut client = of(&step(&name, "uniform", 1), &data, 3, Group::Clients).remove(0);
        for _ in 0..20 {
            match client.next().unwrap() {
                Op::Get { key } | Op::Delete { key } => assert_eq!(key.len(), 24),
                Op::Put { key, value } => assert_eq!((key.len(), value.len()), (24, 33)),
                Op::Scan { start, limit, .. } => {
                    let limits = if name.starts_with("ycsb-") { 1..=100 } else { 7..=7 };
                    assert!(start.len() == 24 && limits.contains(&limit), "{limit}");
                }
                Op::PartialUpdate { key, offset, bytes } => {
                    assert_eq!((key.len(), bytes.len()), (24, 9));
                    assert!((16..=33 - 9).contains(&offset), "{offset}");
                }
                Op::FieldRead { key, offset, length } => {
                    assert_eq!((key.len(), length), (24, 9));
                    assert!((16..=33 - 9).contains(&offset), "{offset}");
                }
                Op::Append { key, bytes } => assert_eq!((key.len(), bytes.len()), (24, 9)),
                Op::ScanSequence { from, limit } => {
                    assert!((1..=50).contains(&from) && limit == 7, "{from}");
                }
                Op::Call(_) => panic!("a procedure without an application"),
                Op::MultiGet { keys } => {
                    assert!(keys.len() == 3 && keys.iter().all(|key| key.len() == 24));
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn every_key_lies_in_the_key_space(
        rows in 1u64..100_000,
        seed: u64,
        clients in 1u32..5,
        distribution in prop::sample::select(
            vec!["uniform", "sequential", "zipf:0.5", "zipf:1", "latest:1.2", "hotspot:1.1"]
        ),
    ) {
        let (step, data) = (step("overwrite", distribution, clients), data(rows));
        for mut client in of(&step, &data, seed, Group::Clients) {
            for _ in 0..100 {
                let Some(Op::Put { key, .. }) = client.next() else { panic!("no end") };
                prop_assert!(u64::from_be_bytes(*key.first_chunk().unwrap()) < rows);
            }
        }
    }
}
