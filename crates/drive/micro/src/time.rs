//! Times one kernel over whole passes of the blocks.

use std::hint::black_box;

use load::{Clock, SteadyClock};
use model::{Kernel, Nanos};
use nix::time::{ClockId, clock_gettime};

use crate::block::{BLOCKS, blocks};
use crate::kernel::{Set, Work, packed, room};

/// Returns the mean time of a block over at least `span`, in nanoseconds of this thread's CPU.
///
/// CPU time, because the loop never waits, and the CPU time of other processes must not count. The
/// wall clock, which ends the loop, is read once a pass over the blocks: some 20 ns in a thousand
/// and more. The first pass is not counted: it fills caches and trains branch predictors.
pub(crate) fn ns_per_block(
    set: &mut Set,
    kernel: Kernel,
    bytes: usize,
    span: Nanos,
    clock: &SteadyClock,
) -> f64 {
    let mut loops = Loop::new(set.work.as_mut(), kernel, bytes);
    loops.pass(set.work.as_mut());
    let end = clock.now().after(span);
    let start = cpu_time();
    let mut passes = 0_u32;
    loop {
        loops.pass(set.work.as_mut());
        passes = passes.saturating_add(1);
        if clock.now() >= end || passes == u32::MAX {
            let took = Nanos(cpu_time().0.saturating_sub(start.0));
            return took.as_secs_f64() * 1e9 / (f64::from(passes) * BLOCKS as f64);
        }
    }
}

/// Returns the CPU time of this thread.
#[expect(clippy::cast_sign_loss, reason = "CPU time counts up from 0")]
fn cpu_time() -> Nanos {
    let time = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).expect("every kernel has it");
    Nanos(time.tv_sec() as u64 * 1_000_000_000 + time.tv_nsec() as u64)
}

/// The blocks as the kernel takes them, and room for its output.
struct Loop {
    kernel: Kernel,
    inputs: Vec<Vec<u8>>,
    output: Vec<u8>,
}

impl Loop {
    fn new(work: &mut dyn Work, kernel: Kernel, bytes: usize) -> Self {
        let plain = blocks(bytes);
        let room = room(bytes);
        let mut packed = |by| plain.iter().map(|block| packed(work, by, block)).collect();
        let (inputs, output) = match kernel {
            Kernel::Lz4Uncompress => (packed(Kernel::Lz4Compress), bytes),
            Kernel::ZstdUncompress => (packed(Kernel::ZstdCompress), bytes),
            Kernel::Crc32c | Kernel::Xxh3 | Kernel::Lz4Compress | Kernel::ZstdCompress => {
                (plain, room)
            }
        };
        Self { kernel, inputs, output: vec![0; output] }
    }

    /// Works on every block once.
    fn pass(&mut self, work: &mut dyn Work) {
        for input in &self.inputs {
            black_box(work.run(self.kernel, black_box(input), &mut self.output));
        }
    }
}
