//! Mixed operations of one client: the core workloads of YCSB.
//!
//! Each operation is a function of (seed, client, n): what kind it is, its row, and how many rows
//! the client has inserted before, which its own choices decide.

use engine::Rows;
use model::{DataShape, Direction, Op};

use super::client::Client;
use super::position::Position;
use crate::answer::AnswerChecker;
use crate::distribution::{Access, Ranks, Scrambled, Space, THETA_DEFAULT};
use crate::generator::{Generator, WrongAnswer};
use crate::key::KeyBuffer;
use crate::random::{Stream, below};
use crate::request::{Part, Presence};
use crate::step::{Mix, MixRows};
use crate::value::ValueWriter;

/// Branches of a client's stream.
const CHOICES: u64 = 2;
const LENGTHS: u64 = 3;
/// Longest range read: as many rows as any other with the same probability.
///
/// Source: [YCSB source], `workloads/workloade` (`maxscanlength`, `scanlengthdistribution`).
const SCAN_ROWS_MAX: u64 = 100;

/// The last operation, for the check of its answer.
#[derive(Debug, Clone, Copy)]
enum Last {
    Get,
    Put,
    Scan(u32),
}

/// How rows are picked.
#[derive(Debug, Clone, Copy)]
enum Picked {
    Scrambled(Scrambled),
    Latest(Ranks),
}

/// Rows that the inserts of a step may take: no step inserts as many.
const INSERTS_POWER: u32 = 32;
/// Bits of the number of a step among all that could insert: with [`INSERTS_POWER`], ids stay below
/// half of what a key holds.
const STEPS_POWER: u32 = 30;

/// Returns the first row behind the loaded ones that a step of these random numbers inserts.
///
/// A step that occurs twice, or each probe of a search, has numbers of its own, so its rows are new
/// too: two steps share theirs once in a billion pairs. In YCSB a second run of a workload begins
/// where the first did, and overwrites.
pub(crate) const fn first_insert(rows: u64, step: Stream) -> u64 {
    rows + ((step.word(0) >> (u64::BITS - STEPS_POWER)) << INSERTS_POWER)
}

/// One client's mixed operations.
#[derive(Debug)]
pub(crate) struct Mixed {
    mix: Mix,
    picked: Picked,
    position: Position,
    choices: Stream,
    lengths: Stream,
    /// Rows loaded.
    rows: u64,
    /// The step's first insert.
    first_insert: u64,
    part: Part,
    /// Rows that the client has inserted.
    inserted: u64,
    /// The row that the second operation of a read-modify-write writes.
    pending: Option<u64>,
    key: KeyBuffer,
    values: ValueWriter,
    checker: AnswerChecker,
    last: Last,
}

impl Mixed {
    /// Returns the operations of a client that is this part of its group; the group's inserts begin
    /// with the row `first_insert`.
    pub(crate) fn new(mix: Mix, client: &Client<'_>, part: Part, first_insert: u64) -> Self {
        let rows = client.data.rows;
        let space = Space { rows, access: Access::Point, first: 0 };
        // New rows lie behind those loaded, and which of them are there is not known.
        let (rows_max, presence) = match mix.inserts {
            0 => (rows, client.presence),
            _ => (u64::MAX >> 1, Presence::Some),
        };
        let data = DataShape { rows: rows_max, ..*client.data };
        Self {
            mix,
            picked: match mix.rows {
                MixRows::Scrambled => Picked::Scrambled(Scrambled::new(space, THETA_DEFAULT)),
                MixRows::Latest => Picked::Latest(Ranks::new(rows, THETA_DEFAULT)),
            },
            position: client.position(),
            choices: client.stream.branch(CHOICES),
            lengths: client.stream.branch(LENGTHS),
            rows,
            first_insert,
            part,
            inserted: 0,
            pending: None,
            key: KeyBuffer::new(client.data.key_bytes),
            values: ValueWriter::new(&client.bodies, client.stream),
            checker: AnswerChecker::new(&data, presence, std::sync::Arc::clone(&client.bodies)),
            last: Last::Put,
        }
    }

    /// Returns the row that operation `n` reads or updates.
    fn pick(&self, n: u64) -> u64 {
        match &self.picked {
            Picked::Scrambled(scrambled) => scrambled.pick(self.position.stream, n),
            Picked::Latest(ranks) => {
                // The client's own newest first, whose inserts are known to have ended.
                let older = ranks.rank(self.position.stream, n) - 1;
                match self.inserted.checked_sub(older + 1) {
                    Some(own) => self.new_row(own),
                    None => self.rows - 1 - (older - self.inserted),
                }
            }
        }
    }

    /// Returns the row of the client's insert `number`: no two clients insert the same.
    fn new_row(&self, number: u64) -> u64 {
        let (client, clients) = (u64::from(self.part.client), u64::from(self.part.clients));
        self.first_insert + client + clients * number
    }

    fn put(&mut self, id: u64, n: u64) -> Op<'_> {
        self.last = Last::Put;
        Op::Put { key: self.key.set(id), value: self.values.value(id, n) }
    }
}

impl Generator for Mixed {
    fn next(&mut self) -> Option<Op<'_>> {
        let n = self.position.advance()?;
        if let Some(id) = self.pending.take() {
            return Some(self.put(id, n));
        }
        let Mix { reads, updates, inserts, scans, .. } = self.mix;
        let drawn = below(self.choices.word(n), 100);
        let ends = [reads, updates, inserts, scans].map({
            let mut end = 0;
            move |share| {
                end += share;
                end
            }
        });
        if drawn >= ends[1] && drawn < ends[2] {
            let id = self.new_row(self.inserted);
            self.inserted += 1;
            return Some(self.put(id, n));
        }
        let id = self.pick(n);
        if drawn >= ends[0] && drawn < ends[1] {
            return Some(self.put(id, n));
        }
        if drawn >= ends[2] && drawn < ends[3] {
            #[expect(clippy::cast_possible_truncation, reason = "at most 100")]
            let limit = 1 + below(self.lengths.word(n), SCAN_ROWS_MAX) as u32;
            self.last = Last::Scan(limit);
            let start = self.key.set(id);
            return Some(Op::Scan { start, limit, direction: Direction::Forward });
        }
        self.pending = (drawn >= ends[3]).then_some(id);
        self.last = Last::Get;
        Some(Op::Get { key: self.key.set(id) })
    }

    fn unchecked(&self) -> u64 {
        self.position.unchecked()
    }

    fn check(&mut self, rows: &Rows) -> Result<u64, WrongAnswer> {
        match self.last {
            Last::Get => self.checker.point(self.key.bytes(), rows),
            Last::Put => Ok(0),
            Last::Scan(limit) => {
                self.checker.range(self.key.bytes(), limit, Direction::Forward, rows)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use model::{Step, StopRule};

    use super::*;
    use crate::generator::Group;
    use crate::generators;
    use crate::request::Request;

    const ROWS: u64 = 1_000;

    /// Returns kind and row of a client's operations; `p` of a new row, `s` of a range.
    fn operations(step: &str, client: usize, count: u64) -> Vec<(char, u64, u32)> {
        seeded(5, step, client, count)
    }

    fn seeded(seed: u64, step: &str, client: usize, count: u64) -> Vec<(char, u64, u32)> {
        let data = DataShape { rows: ROWS, key_bytes: 8, value_bytes: 100, compressible_to: 0.5 };
        let step = Step { clients: 2, ..Step::new(step, StopRule::Operations(2 * count)) };
        let (presence, group) = (Presence::All, Group::Clients);
        let request = Request { step: &step, data: &data, seed, presence, group };
        let mut generator = generators(&request).unwrap().swap_remove(client);
        let keys = KeyBuffer::new(8);
        let id = |key: &[u8]| keys.id_of(key).unwrap();
        let mut all = Vec::new();
        while let Some(op) = generator.next() {
            all.push(if let Op::Scan { start, limit, .. } = op {
                ('s', id(start), limit)
            } else if let Op::Put { key, .. } = op {
                ('p', id(key), 1)
            } else {
                let Op::Get { key } = op else { panic!("{op:?}") };
                ('g', id(key), 1)
            });
        }
        all
    }

    #[test]
    fn presets_have_the_published_mixes() {
        let count = 40_000_u64;
        // Shares of reads, updates, inserts and ranges, in percent.
        for (step, shares) in [
            ("ycsb-a", [50, 50, 0, 0]),
            ("ycsb-b", [95, 5, 0, 0]),
            ("ycsb-c", [100, 0, 0, 0]),
            ("ycsb-d", [95, 0, 5, 0]),
            ("ycsb-e", [0, 0, 5, 95]),
        ] {
            let all = operations(step, 0, count);
            let is = |(kind, id, _): &(char, u64, u32), of: usize| match of {
                0 => *kind == 'g',
                1 => *kind == 'p' && *id < ROWS,
                2 => *kind == 'p' && *id >= ROWS,
                _ => *kind == 's',
            };
            for (of, share) in shares.into_iter().enumerate() {
                let found = all.iter().filter(|one| is(one, of)).count() as f64 / count as f64;
                let expected = f64::from(share) / 100.0;
                // 6 standard deviations.
                let spread = 6.0 * (expected * (1.0 - expected) / count as f64).sqrt();
                assert!((found - expected).abs() <= spread, "{step} {of}: {found}");
            }
            assert!(all.iter().all(|(_, _, limit)| (1..=100).contains(limit)));
        }
    }

    #[test]
    fn a_read_modify_write_writes_the_row_that_it_read() {
        let all = operations("ycsb-f", 0, 30_000);
        let mut pairs = 0;
        for pair in all.windows(2).filter(|pair| pair[1].0 == 'p') {
            assert_eq!((pair[0].0, pair[0].1), ('g', pair[1].1));
            pairs += 1;
        }
        // Of 30,000 operations a third are writes.
        assert!(u64::abs_diff(pairs, 10_000) < 500, "{pairs}");
    }

    #[test]
    fn inserted_rows_are_new_and_no_other_client_s_or_step_s() {
        let new = |seed, client| {
            let all = seeded(seed, "ycsb-e", client, 10_000);
            let ids: Vec<_> = all.iter().filter(|one| one.0 == 'p').map(|one| one.1).collect();
            assert!(ids.windows(2).all(|pair| pair[1] == pair[0] + 2));
            ids.into_iter().collect::<BTreeSet<_>>()
        };
        let (one, other, again) = (new(5, 0), new(5, 1), new(6, 0));
        assert!(one.is_disjoint(&other) && one.is_disjoint(&again));
        let first = |ids: &BTreeSet<u64>| *ids.iter().next().unwrap();
        assert!(first(&one) >= ROWS && first(&other) == first(&one) + 1 && first(&again) >= ROWS);
        assert!([one, other, again].iter().flatten().all(|id| *id < u64::MAX >> 1));
    }

    #[test]
    fn latest_reads_follow_the_newest_row() {
        // Goal: a read picks the r-th newest row as often as by the law, whatever was inserted.
        // Method: the age of each row read among the client's own inserts and the rows loaded.
        let all = operations("ycsb-d", 1, 60_000);
        let (mut last, mut newest, mut reads) = (ROWS - 1, 0_u32, 0_u32);
        for (kind, id, _) in all {
            if kind == 'p' {
                last = id;
                continue;
            }
            reads += 1;
            assert!(id <= last, "{id} is not there yet");
            newest += u32::from(id == last);
        }
        let zeta: f64 = (1..=1_000).map(|rank| f64::from(rank).powf(-0.99)).sum();
        let share = f64::from(newest) / f64::from(reads);
        assert!((share - 1.0 / zeta).abs() < 0.01, "{share} {}", 1.0 / zeta);
    }
}
