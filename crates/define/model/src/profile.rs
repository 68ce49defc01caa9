//! CPU profiles: sampled stacks of the processes of a step.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units::Nanos;

/// Module of the frames of the kernel.
pub const KERNEL_MODULE: &str = "[kernel]";
/// Function of an address without a symbol, and module of one outside of all files.
pub const UNKNOWN: &str = "[unknown]";

/// Most frames of a stack.
///
/// Our choice: perf stores 127 addresses, and unwound stacks have some hundred.
const FRAMES_MAX: usize = 512;
/// Most stacks of a profile. Our choice: a minute of `MySQL` has some thousand.
const STACKS_MAX: usize = 50_000;
/// Most distinct frames of a profile. Our choice: `MySQL` executes fewer functions.
const DISTINCT_FRAMES_MAX: usize = 50_000;
/// Most characters of a name.
///
/// Our choice: the longest names in `RocksDB` and `MySQL` have some hundred.
const NAME_CHARS_MAX: usize = 1_000;

/// A process whose stacks are sampled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProfileTarget {
    /// The worker: the clients, and an embedded engine.
    #[default]
    Worker,
    /// The processes of a server that Assay has started.
    Server,
}

impl ProfileTarget {
    /// Every target.
    pub const ALL: [Self; 2] = [Self::Worker, Self::Server];

    /// Returns its name in a folded stack.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Worker => "worker",
            Self::Server => "server",
        }
    }
}

/// How the callers of a sampled function are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unwinder {
    /// By the chain of frame pointers, in the kernel.
    #[default]
    FramePointers,
    /// By unwind tables, from a copy of the stack's top.
    Dwarf,
}

impl Unwinder {
    /// Returns its name in a sentence.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::FramePointers => "frame pointers",
            Self::Dwarf => "DWARF unwind tables",
        }
    }
}

/// How one target of a step was profiled, and whether its samples can be counted.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ProfileRecord {
    /// The sampled process.
    pub target: ProfileTarget,
    /// The sampling event, as the file of the profiler names it.
    pub event: String,
    /// Samples per second of CPU time.
    pub hz: u32,
    /// How callers were found.
    pub unwinder: Unwinder,
    /// CPU time that one sample takes on this host, as measured before the runs.
    pub sample_cost_ns: Nanos,
    /// Samples of the measured span.
    pub samples: u64,
    /// Samples that the kernel lost.
    pub lost: u64,
    /// CPU time of the target in the measured span, times the frequency; `None` where unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<f64>,
    /// Share of the samples outside of the kernel whose stack reaches the process's entry or the
    /// client's call of the engine; 0 to 1, `None` without such samples.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rooted_share: Option<f64>,
    /// Share of the samples of a SQL server inside of its storage engine; 0 to 1, `None` for other
    /// processes, and for servers without pluggable engines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage_engine_share: Option<f64>,
    /// Why functions of the kernel have no names; `None` where they have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_note: Option<String>,
    /// Why the step has no profile of this target; `None` where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<String>,
}

impl ProfileRecord {
    /// Returns how the samples were taken, in words.
    pub fn way(&self) -> String {
        format!("{} at {} Hz by {}", self.event, self.hz, self.unwinder.phrase())
    }

    /// Returns the samples over the expected ones; `None` where these are unknown or 0.
    pub fn counted_share(&self) -> Option<f64> {
        let expected = self.expected.filter(|expected| *expected > 0.0)?;
        Some(self.samples as f64 / expected)
    }
}

/// Returns whether an event of perf excludes the kernel, by the modifiers after its name.
///
/// Source: perf-list(1), "Event modifiers".
pub fn is_user_only(event: &str) -> bool {
    event.rsplit_once(':').is_some_and(|(_, modifiers)| modifiers.contains('u'))
}

/// A function in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Frame {
    /// Name of the file without its directory, or [`KERNEL_MODULE`].
    pub module: String,
    /// Demangled name without parameters and return type, or [`UNKNOWN`].
    pub function: String,
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}`{}", self.module, self.function)
    }
}

/// A distinct stack and its samples.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stack {
    /// The sampled process.
    pub target: ProfileTarget,
    /// Name of the thread, without a number at its end.
    pub thread: String,
    /// Positions in [`Profile::frames`], from the root to the sampled function; never empty.
    pub frames: Vec<u32>,
    /// Samples of this stack.
    pub samples: u64,
}

/// The folded stacks of one step of one run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Profile {
    /// The distinct frames.
    frames: Vec<Frame>,
    /// The distinct stacks.
    stacks: Vec<Stack>,
}

impl Profile {
    /// Returns the distinct stacks, in the order of their text.
    pub fn stacks(&self) -> &[Stack] {
        &self.stacks
    }

    /// Returns the distinct frames, by the positions that stacks hold.
    pub fn frames(&self) -> &[Frame] {
        &self.frames
    }

    /// Returns the frame at a position of a stack.
    ///
    /// # Panics
    /// Where `index` is from another profile.
    pub fn frame(&self, index: u32) -> &Frame {
        &self.frames[index as usize]
    }

    /// Returns the samples of a target.
    pub fn samples(&self, target: ProfileTarget) -> u64 {
        let of_target = self.stacks.iter().filter(|stack| stack.target == target);
        of_target.map(|stack| stack.samples).fold(0, u64::saturating_add)
    }

    /// Returns the stacks as text: one line each, `TARGET;THREAD;MODULE`FUNCTION;... SAMPLES`.
    ///
    /// Source: [Gregg 2011], the format of folded stacks.
    pub fn to_folded(&self) -> String {
        let mut text = String::new();
        for Stack { target, thread, frames, samples } in &self.stacks {
            text += &format!("{};{thread}", target.name());
            frames.iter().for_each(|frame| text += &format!(";{}", self.frame(*frame)));
            text += &format!(" {samples}\n");
        }
        text
    }

    /// Reads folded stacks as [`Profile::to_folded`] writes them.
    ///
    /// # Errors
    /// A text that names the first line which is not such a stack.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut builder = ProfileBuilder::default();
        for (number, line) in (1..).zip(text.lines()) {
            builder.add_line(line).ok_or_else(|| format!("line {number} is not a folded stack"))?;
        }
        Ok(builder.build())
    }
}

/// Collects samples into a profile.
///
/// Each frame is stored once; memory is bounded by the number of stacks and frames.
#[derive(Debug, Default)]
pub struct ProfileBuilder {
    frames: BTreeMap<Frame, u32>,
    stacks: BTreeMap<StackKey, u64>,
}

/// What samples of one stack have in common.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct StackKey {
    target: ProfileTarget,
    thread: String,
    frames: Vec<u32>,
}

impl ProfileBuilder {
    /// Adds samples of a stack, whose frames are from the root to the sampled function.
    ///
    /// Characters that separate the parts of a folded stack are replaced in names, and long names
    /// are shortened. The outermost callers of a very deep stack are left out. Samples without a
    /// frame, and samples beyond the most stacks or frames of a profile, count for an unknown
    /// function.
    pub fn add(&mut self, target: ProfileTarget, thread: &str, frames: &[Frame], samples: u64) {
        let beyond = frames.len().saturating_sub(FRAMES_MAX);
        let clean = |frame: &Frame| Frame {
            module: clean_name(&frame.module, &[';', '`', ' ']),
            function: clean_name(&frame.function, &[';']),
        };
        let mut frames: Vec<u32> =
            frames[beyond..].iter().map(|frame| self.position(clean(frame))).collect();
        if frames.is_empty() {
            frames.push(self.unknown());
        }
        let mut key = StackKey { target, thread: thread_group(thread), frames };
        if self.stacks.len() >= STACKS_MAX && !self.stacks.contains_key(&key) {
            key.frames = vec![self.unknown()];
        }
        let sum = self.stacks.entry(key).or_insert(0);
        *sum = sum.saturating_add(samples);
    }

    /// Returns the number of a frame, in the order of their first samples.
    fn position(&mut self, frame: Frame) -> u32 {
        let next = self.frames.len();
        if next >= DISTINCT_FRAMES_MAX && !self.frames.contains_key(&frame) {
            return self.unknown();
        }
        *self.frames.entry(frame).or_insert(crate::count(next))
    }

    fn unknown(&mut self) -> u32 {
        let frame = Frame { module: UNKNOWN.to_owned(), function: UNKNOWN.to_owned() };
        let next = crate::count(self.frames.len());
        *self.frames.entry(frame).or_insert(next)
    }

    /// Adds a line of folded stacks; `None` where the line is not a folded stack.
    fn add_line(&mut self, line: &str) -> Option<()> {
        let (stack, samples) = line.rsplit_once(' ')?;
        let samples = samples.parse().ok().filter(|samples| *samples > 0)?;
        let mut parts = stack.split(';');
        let name = parts.next()?;
        let target = ProfileTarget::ALL.into_iter().find(|target| target.name() == name)?;
        let thread = parts.next()?;
        let frame = |part: &str| {
            let (module, function) = part.split_once('`')?;
            Some(Frame { module: module.to_owned(), function: function.to_owned() })
        };
        let frames: Vec<Frame> = parts.map(frame).collect::<Option<_>>()?;
        (!frames.is_empty()).then(|| self.add(target, thread, &frames, samples))
    }

    /// Returns the profile, whose frames and stacks are in the order of their names.
    pub fn build(self) -> Profile {
        let mut renumbered = vec![0; self.frames.len()];
        let mut frames = Vec::new();
        for (new, (frame, old)) in (0..).zip(self.frames) {
            renumbered[old as usize] = new;
            frames.push(frame);
        }
        let stack = |(key, samples): (StackKey, u64)| {
            let StackKey { target, thread, frames } = key;
            let frames = frames.into_iter().map(|old| renumbered[old as usize]).collect();
            Stack { target, thread, frames, samples }
        };
        let mut stacks: Vec<Stack> = self.stacks.into_iter().map(stack).collect();
        stacks.sort();
        Profile { frames, stacks }
    }
}

/// Returns a name without control characters and separators.
fn clean_name(name: &str, separators: &[char]) -> String {
    let is_bad = |c: char| c.is_control() || separators.contains(&c);
    name.chars().take(NAME_CHARS_MAX).map(|c| if is_bad(c) { '_' } else { c }).collect()
}

/// Returns the name that threads of one kind share: without the number at its end.
fn thread_group(thread: &str) -> String {
    let name = thread.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = name.trim_end_matches(['-', ':', '/', '_', ' ']);
    clean_name(if name.is_empty() { UNKNOWN } else { name }, &[';'])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(module: &str, function: &str) -> Frame {
        Frame { module: module.to_owned(), function: function.to_owned() }
    }

    #[test]
    fn folded_text_is_read_back() {
        let mut builder = ProfileBuilder::default();
        let get = [frame("assay", "load::client"), frame("librocksdb.so.11", "rocksdb::DB::Get")];
        builder.add(ProfileTarget::Worker, "client-12", &get, 5);
        builder.add(ProfileTarget::Worker, "client-3", &get, 2);
        let select = [frame("postgres", "main"), frame(KERNEL_MODULE, "read; `sys` 1\n")];
        builder.add(ProfileTarget::Server, "postgres", &select, 1);
        builder.add(ProfileTarget::Server, "17", &[], 4);
        let profile = builder.build();
        let text = "worker;client;assay`load::client;librocksdb.so.11`rocksdb::DB::Get 7\n\
                    server;[unknown];[unknown]`[unknown] 4\n\
                    server;postgres;postgres`main;[kernel]`read_ `sys` 1_ 1\n";
        assert_eq!(profile.to_folded(), text);
        assert_eq!(Profile::parse(text), Ok(profile.clone()));
        assert_eq!(ProfileTarget::ALL.map(|target| profile.samples(target)), [7, 5]);
        let leaf = profile.stacks()[0].frames[1];
        assert_eq!(profile.frame(leaf).function, "rocksdb::DB::Get");
    }

    #[test]
    fn damaged_lines_are_named() {
        let good = "worker;client;a`b 1\n";
        for line in ["", "worker;client 1", "engine;client;a`b 1", "worker;client;ab 1"] {
            let text = format!("{good}{line}\n{good}");
            assert_eq!(
                Profile::parse(&text),
                Err("line 2 is not a folded stack".to_owned()),
                "{line}"
            );
        }
        for samples in ["0", "-1", "x", "99999999999999999999999"] {
            assert!(Profile::parse(&format!("worker;client;a`b {samples}")).is_err(), "{samples}");
        }
        let deep = format!("worker;c{} 3\n", ";a`b".repeat(FRAMES_MAX + 9));
        assert_eq!(Profile::parse(&deep).unwrap().stacks()[0].frames.len(), FRAMES_MAX);
        let many: String = (0..STACKS_MAX + 9).map(|i| format!("worker;c;a`f{i} 1\n")).collect();
        let many = Profile::parse(&many).unwrap();
        assert_eq!(many.samples(ProfileTarget::Worker), (STACKS_MAX + 9) as u64);
        assert!(many.stacks().len() <= STACKS_MAX + 1);
        let full = format!("worker;c;a`b {0}\nworker;c1;a`b {0}\n", u64::MAX);
        assert_eq!(Profile::parse(&full).unwrap().samples(ProfileTarget::Worker), u64::MAX);
    }
}
