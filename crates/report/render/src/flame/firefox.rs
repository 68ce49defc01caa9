//! Profiles as Firefox Profiler reads them: call tree, flame graph, inverted tree.
//!
//! Source: [Firefox Profiler], the processed profile format.

use std::collections::BTreeMap;

use analysis::profile::{Group, KnownFrames, Side};
use fxprof_processed_profile::{
    CategoryColor, CategoryHandle, CpuDelta, Frame, FrameFlags, FrameInfo, ProcessHandle, Profile,
    ReferenceTimestamp, SamplingInterval, ThreadHandle, Timestamp, WeightType,
};
use model::{ProfileTarget, Stack, visible};

use crate::document::json;

/// Returns the samples of all runs for Firefox Profiler, a process per variant and target and a
/// thread per kind of thread.
///
/// Equal stacks are one sample with a weight; samples have an order and no times.
pub fn firefox(shown: &Side<'_>, base: Option<&Side<'_>>) -> String {
    let start = ReferenceTimestamp::from_millis_since_unix_epoch(0.0);
    let mut profile = Profile::new("assay", start, SamplingInterval::from_millis(1));
    // Names are symbols already.
    profile.set_symbolicated(true);
    let categories = Group::ALL.map(|group| profile.add_category(group.phrase(), colour(group)));
    let mut export = Export { profile, categories, processes: 0, threads: 0 };
    for side in [Some(shown), base].into_iter().flatten() {
        ProfileTarget::ALL.iter().for_each(|target| export.add(side, *target));
    }
    visible(&json(&export.profile)).into_owned()
}

const fn colour(group: Group) -> CategoryColor {
    match group {
        Group::Client => CategoryColor::LightBlue,
        Group::Engine => CategoryColor::Orange,
        Group::Allocator => CategoryColor::Magenta,
        Group::Libc => CategoryColor::Green,
        Group::Kernel => CategoryColor::Gray,
    }
}

struct Export {
    profile: Profile,
    /// In the order of [`Group::ALL`].
    categories: [CategoryHandle; Group::ALL.len()],
    processes: u32,
    threads: u32,
}

impl Export {
    /// Adds the samples of a target.
    fn add(&mut self, side: &Side<'_>, target: ProfileTarget) {
        let mut threads: BTreeMap<&str, BTreeMap<Vec<Grouped<'_>>, u64>> = BTreeMap::new();
        for run in &side.runs {
            let known = KnownFrames::of(run.profile);
            let of_target = |stack: &&Stack| stack.target == target;
            for stack in run.profile.stacks().iter().filter(of_target) {
                let frames = stack.frames.iter().map(|frame| run.profile.frame(*frame));
                let frames = known.groups(stack).zip(frames).collect();
                let stacks = threads.entry(&stack.thread).or_default();
                *stacks.entry(frames).or_default() += stack.samples;
            }
        }
        if threads.is_empty() {
            return;
        }
        self.processes += 1;
        let name = format!("{} {}", side.name, target.name());
        let process = self.profile.add_process(&name, self.processes, moment(0));
        for (name, stacks) in threads {
            let thread = self.thread(process, name);
            for (at, (frames, samples)) in (0..).zip(stacks) {
                let frames: Vec<FrameInfo> = frames.iter().map(|one| self.info(one)).collect();
                let stack = self.profile.intern_stack_frames(thread, frames.into_iter());
                // The format has 32 bits for a weight.
                let weight = i32::try_from(samples).unwrap_or(i32::MAX);
                self.profile.add_sample(thread, moment(at), stack, CpuDelta::ZERO, weight);
            }
        }
    }

    fn thread(&mut self, process: ProcessHandle, name: &str) -> ThreadHandle {
        self.threads += 1;
        let thread = self.profile.add_thread(process, self.threads, moment(0), false);
        self.profile.set_thread_name(thread, name);
        self.profile.set_thread_samples_weight_type(thread, WeightType::Samples);
        thread
    }

    fn info(&mut self, (group, frame): &Grouped<'_>) -> FrameInfo {
        let name = format!("{} ({})", frame.function, frame.module);
        FrameInfo {
            frame: Frame::Label(self.profile.intern_string(&name)),
            category_pair: self.categories[*group as usize].into(),
            flags: FrameFlags::empty(),
        }
    }
}

/// A frame with its group in a stack.
type Grouped<'a> = (Group, &'a model::Frame);

/// Returns the place of a sample: a millisecond per sample.
fn moment(at: u64) -> Timestamp {
    Timestamp::from_nanos_since_reference(at * 1_000_000)
}
