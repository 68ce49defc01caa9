//! Labelled series with known changes, ramps, spikes and noise.

use crate::noise::Noise;
use crate::random::Random;

/// Points of every series.
pub(crate) const POINTS: usize = 200;
/// Series of every family.
pub(crate) const EACH: u64 = 20;
/// Standard deviation of the noise, as a share of the level.
const COV: f64 = 0.02;

/// A family of series.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Family {
    pub(crate) name: &'static str,
    noise: Noise,
    shape: Shape,
}

/// What the level does; sizes in standard deviations of the noise.
#[derive(Debug, Clone, Copy)]
enum Shape {
    /// Nothing.
    Flat,
    /// One step of a size, somewhere in the middle half.
    Step(f64),
    /// One step, so many points before the end.
    Late(f64, usize),
    /// Up and back again after so many points.
    Bump(f64, usize),
    /// Steps of either sign at least thirty points apart.
    Several(f64),
    /// A straight line over all points.
    Ramp(f64),
    /// Level, a ramp over eighty points, level.
    Slope(f64),
    /// The noise grows by a factor half-way.
    Louder(f64),
}

const fn family(name: &'static str, noise: Noise, shape: Shape) -> Family {
    Family { name, noise, shape }
}

/// Every family.
pub(crate) const FAMILIES: [Family; 18] = [
    family("step of 1 sd", Noise::White, Shape::Step(1.0)),
    family("step of 1.5 sd", Noise::White, Shape::Step(1.5)),
    family("step of 2 sd", Noise::White, Shape::Step(2.0)),
    family("step of 3 sd", Noise::White, Shape::Step(3.0)),
    family("several steps of 2 sd", Noise::White, Shape::Several(2.0)),
    family("30 points 2 sd up", Noise::White, Shape::Bump(2.0, 30)),
    family("10 points 3 sd up", Noise::White, Shape::Bump(3.0, 10)),
    family("step of 3 sd, 8 from the end", Noise::White, Shape::Late(3.0, 8)),
    family("step of 2 sd in AR(0.3)", Noise::Correlated(0.3), Shape::Step(2.0)),
    family("step of 3 sd in AR(0.6)", Noise::Correlated(0.6), Shape::Step(3.0)),
    family("step of 2 sd among spikes", Noise::Spiked, Shape::Step(2.0)),
    family("ramp of 4 sd", Noise::White, Shape::Ramp(4.0)),
    family("level, ramp of 4 sd, level", Noise::White, Shape::Slope(4.0)),
    family("spikes alone", Noise::Spiked, Shape::Flat),
    family("twice the noise", Noise::White, Shape::Louder(2.0)),
    family("nothing, white", Noise::White, Shape::Flat),
    family("nothing, AR(0.3)", Noise::Correlated(0.3), Shape::Flat),
    family("nothing, AR(0.6)", Noise::Correlated(0.6), Shape::Flat),
];

/// One series and its true changes.
#[derive(Debug, Clone)]
pub(crate) struct Labelled {
    pub(crate) values: Vec<f64>,
    /// First points of new levels.
    pub(crate) changes: Vec<usize>,
}

impl Family {
    /// Returns the series of one seed.
    pub(crate) fn series(&self, seed: u64) -> Labelled {
        let mut random = Random::seeded(seed);
        let mut off = self.noise.series(POINTS, &mut random);
        let changes = self.shape.add_to(&mut off, &mut random);
        let values = off.iter().map(|off| 10_000.0 * (COV * off).exp()).collect();
        Labelled { values, changes }
    }

    /// Returns all series of the family, of seeds that no other family has.
    pub(crate) fn all(&self) -> Vec<Labelled> {
        let own = self.name.bytes().fold(7, |seed: u64, byte| seed * 31 % 65_521 + u64::from(byte));
        (0..EACH).map(|index| self.series(own * 1_000 + index)).collect()
    }
}

impl Shape {
    /// Adds the shape to noise; returns the first points of new levels.
    fn add_to(self, off: &mut [f64], random: &mut Random) -> Vec<usize> {
        let mut add = |from: usize, size: f64| {
            for value in &mut off[from..] {
                *value += size;
            }
        };
        let sign = if random.unit() < 0.5 { -1.0 } else { 1.0 };
        match self {
            Self::Flat => Vec::new(),
            Self::Step(size) => {
                let at = random.between(POINTS / 4, 3 * POINTS / 4);
                add(at, sign * size);
                vec![at]
            }
            Self::Late(size, points) => {
                add(POINTS - points, sign * size);
                vec![POINTS - points]
            }
            Self::Bump(size, points) => {
                let at = random.between(POINTS / 4, POINTS / 2);
                add(at, sign * size);
                add(at + points, -sign * size);
                vec![at, at + points]
            }
            Self::Several(size) => {
                let mut changes = vec![random.between(30, 50)];
                while changes.last().is_some_and(|last| last + 70 < POINTS) {
                    changes.push(changes[changes.len() - 1] + random.between(30, 50));
                }
                for at in &changes {
                    add(*at, if random.unit() < 0.5 { -size } else { size });
                }
                changes
            }
            Self::Ramp(size) => {
                for from in 1..POINTS {
                    add(from, sign * size / (POINTS - 1) as f64);
                }
                Vec::new()
            }
            Self::Slope(size) => {
                let at = random.between(40, 80);
                for from in at..at + 80 {
                    add(from, sign * size / 80.0);
                }
                Vec::new()
            }
            Self::Louder(by) => {
                off[POINTS / 2..].iter_mut().for_each(|value| *value *= by);
                Vec::new()
            }
        }
    }
}
