//! Parallel map over files to read.

use std::sync::Mutex;
use std::thread;

/// Reader threads: more than most hosts have CPUs, since reads wait for storage.
const READERS: usize = 16;

/// Items per thread: fewer are read before a thread starts.
const ITEMS_PER_READER: usize = 4;

/// Returns `f` of every item, in the order of the items.
pub fn parallel_map<T, R: Send>(
    items: impl IntoIterator<Item = T, IntoIter: ExactSizeIterator + Send>,
    f: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    let items = items.into_iter();
    let readers = READERS.min(items.len() / ITEMS_PER_READER);
    if readers < 2 {
        return items.map(f).collect();
    }
    // Each takes the next item when it is done with one: records differ in size.
    let queue = Mutex::new(items.enumerate());
    let work = || {
        let mut done = Vec::new();
        loop {
            let next = queue.lock().ok().and_then(|mut queue| queue.next());
            let Some((index, item)) = next else { return done };
            done.push((index, f(item)));
        }
    };
    let mut all: Vec<(usize, R)> = thread::scope(|scope| {
        // This thread reads too: where no other can be made, it reads everything.
        let start = |_| thread::Builder::new().spawn_scoped(scope, work).ok();
        let readers: Vec<_> = (1..readers).map_while(start).collect();
        let own = work();
        let join = |reader: thread::ScopedJoinHandle<'_, _>| {
            reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        own.into_iter().chain(readers.into_iter().flat_map(join)).collect()
    });
    all.sort_unstable_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_items_however_many_there_are() {
        for len in [0_u64, 1, 7, 8, 9, 1_000] {
            let items: Vec<u64> = (0..len).collect();
            let squares: Vec<u64> = items.iter().map(|item| item * item).collect();
            assert_eq!(parallel_map(&items, |item| item * item), squares);
        }
    }
}
