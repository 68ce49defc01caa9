//! Runs storage tests once more with the block layer traced.

use std::path::Path;

use device::{Direction, Fio, Job, Place, Tracer, Work};
use model::{Access, DeviceCell, DeviceRecord, IoPattern, IoSample, IoTotals, TracedRun};

use crate::progress::counted;
use crate::ui::Ui;

/// Length of a traced run, in seconds.
const TRACED_S: u64 = 1;

/// Returns whether a cell is run once more with the tracer on.
///
/// Through the page cache requests are not fio's. Of syncs the tracer would pair the writes.
fn is_traced(cell: &DeviceCell) -> bool {
    let is_plain = cell.access != Access::Buffered && cell.test.pattern != IoPattern::Fdatasync;
    is_plain && cell.refusal.is_none() && cell.traced.is_none()
}

/// Runs the cells of a profile that can be traced, each for a second.
///
/// `place_of` returns where an access leads: place, directory of fio, directory of the device.
///
/// # Errors
/// Why no request could be traced here.
pub(super) fn trace<'s>(
    fio: &Fio,
    place_of: impl Fn(Access) -> Option<(&'s Place, &'s Path, Option<&'s Path>)>,
    is_interrupted: impl Fn() -> bool,
    profile: &mut DeviceRecord,
    ui: &Ui,
) -> Result<(), String> {
    let cells: Vec<_> = profile.cells.iter_mut().filter(|cell| is_traced(cell)).collect();
    let bar = counted(ui, cells.len() as u64, "tracing  {bar:30} {pos}/{len}  {eta} left");
    for cell in cells {
        let Some((place, dir, sys_dir)) = place_of(cell.access) else { continue };
        let sys_dir = sys_dir.ok_or("the file system has no device")?;
        let tracer = Tracer::open(sys_dir)?;
        let work = Work::Test(cell.test, TRACED_S);
        let job = Job { place, access: cell.access, work, jobs: cell.jobs, seed: 0 };
        let (direction, own): (_, fn(&IoSample) -> Option<IoTotals>) = match cell.test.pattern {
            IoPattern::RandWrite | IoPattern::Write => (Direction::Write, |sample| sample.write),
            IoPattern::RandRead | IoPattern::RandRw | IoPattern::Fdatasync => {
                (Direction::Read, |sample| sample.read)
            }
        };
        let (sample, times) = tracer.trace(direction, || fio.run(&job, dir, None))?;
        if is_interrupted() {
            break;
        }
        let mean_ns = sample.ok().and_then(|sample| own(&sample)).map(|own| own.mean_ns);
        cell.traced = mean_ns.zip(times).map(|(mean_ns, times)| TracedRun { mean_ns, times });
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(())
}
