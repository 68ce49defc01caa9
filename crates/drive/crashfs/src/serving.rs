//! Threads that serve a mount, apart from the rest of the process.
//!
//! After a kill, the last thread that leaves a mount namespace unmounts its file systems. An image
//! on a loop device is then flushed, which waits until the FUSE device has an answer or is closed.
//! A thread closes its files only after the unmount, so it would wait for itself for ever. Here the
//! serving threads alone have the device open, and their mount namespace has no mounts.
//! Source: `do_exit`, `task_work_run` and `fuse_dev_release` in Linux 6.18.

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread;

use fuser::{Config, Session, SessionACL};
use nix::sched::{CloneFlags, unshare};
use nix::unistd::close;
use rustix::mount::{MountPropagationFlags, UnmountFlags, mount_change, unmount};

use crate::requests::Requests;

/// Threads that serve requests.
///
/// Source: our choice: a write is not delayed by a read, and the disk has one lock.
const THREADS: usize = 2;
/// The last descriptor of the standard streams.
const STDERR: RawFd = 2;

/// Serves requests of the device until its mount ends.
///
/// # Errors
/// The kernel's, before the first request.
pub(crate) fn serve(requests: Requests, device: OwnedFd) -> io::Result<()> {
    let number = device.as_raw_fd();
    let (sender, steps) = sync_channel(0);
    let run = move || {
        if let Err(error) = start(requests, device, &sender) {
            sender.send(Err(error)).ok();
        }
    };
    thread::Builder::new().name("crashfs".to_owned()).spawn(run)?;
    let step = || steps.recv().unwrap_or_else(|end| Err(io::Error::other(end)));
    step()?;
    // The serving threads have another table, in which the device stays open.
    close(number)?;
    step()
}

/// Leaves the tables of the process, and runs the session; reports both steps.
fn start(
    requests: Requests,
    device: OwnedFd,
    steps: &SyncSender<io::Result<()>>,
) -> io::Result<()> {
    unshare(CloneFlags::CLONE_FILES | CloneFlags::CLONE_FS | CloneFlags::CLONE_NEWNS)?;
    steps.send(Ok(())).map_err(io::Error::other)?;
    close_others(device.as_raw_fd())?;
    // Copies of mounts would hold file systems that the process unmounts. In a changed root the
    // kernel refuses, and the copies stay until this mount ends.
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).and_then(|()| unmount("/", UnmountFlags::DETACH)).ok();
    let mut config = Config::default();
    config.acl = SessionACL::All;
    config.n_threads = Some(THREADS);
    let session = Session::from_fd(requests, device, SessionACL::All, config)?;
    steps.send(Ok(())).map_err(io::Error::other)?;
    session.run()
}

/// Closes this thread's copies of other files: a pipe ends when all copies are closed.
fn close_others(device: RawFd) -> io::Result<()> {
    let numbers = fs::read_dir("/proc/thread-self/fd")?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    for number in numbers.collect::<Vec<RawFd>>() {
        if number > STDERR && number != device {
            // The descriptor of the listing is closed already.
            close(number).ok();
        }
    }
    Ok(())
}
