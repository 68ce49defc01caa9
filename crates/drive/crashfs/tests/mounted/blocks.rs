//! Power cuts below real file systems, and what a kill leaves.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use crashfs::{Attached, BlockDisk, BlockOptions, FsKind, Survival};

use crate::namespace::{DIR, isolated, namespaces};

/// Writes that are synced and then acknowledged.
const WRITES: usize = 60;
/// Bytes of one write.
const WRITE: usize = 700;

/// A mounted file system that is recorded.
struct Device {
    // Dropped first.
    attached: Attached,
    block: BlockDisk,
    dir: PathBuf,
}

impl Device {
    /// Returns a file system of this kind, unless the machine lacks a program or a right.
    #[expect(clippy::print_stdout, reason = "a skipped test prints why")]
    fn new(dir: &Path, kind: FsKind, option: Option<&str>) -> Option<Self> {
        if let Err(error) = BlockDisk::check(kind) {
            println!("skipped: {error}");
            return None;
        }
        for name in ["images", "fs", "state"] {
            fs::create_dir_all(dir.join(name)).expect("a scratch folder");
        }
        let options = BlockOptions {
            kind,
            mount: option.map(str::to_owned).into_iter().collect(),
            size_bytes: if kind == FsKind::Xfs { 320 << 20 } else { 64 << 20 },
            limit_bytes: 512 << 20,
        };
        let block = BlockDisk::create(&dir.join("images"), options).expect("a file system");
        let attached = block.mount(&dir.join("fs")).expect("a mount");
        Some(Self { attached, block, dir: dir.to_owned() })
    }

    /// Appends to a log with syncs and returns the position after each sync.
    fn load(&self) -> Vec<usize> {
        let mut log = File::create(self.dir.join("fs/log")).expect("a file");
        self.block.start_recording(&self.attached).expect("a sync");
        let mut positions = Vec::new();
        for number in 0..WRITES {
            log.write_all(&[u8::try_from(number).expect("few writes") + 1; WRITE])
                .expect("a write");
            log.sync_data().expect("a sync");
            positions.push(self.block.sequence());
        }
        positions
    }

    /// Returns how many acknowledged writes a power cut loses at this position.
    fn lost(&self, position: usize, survival: Survival, acknowledged: usize) -> usize {
        let at = self.dir.join("state");
        let _state = self.block.restore(position, survival, &at).expect("the state is mounted");
        let log = fs::read(at.join("log")).unwrap_or_default();
        let is_whole = |&(number, part): &(usize, &[u8])| {
            part == [u8::try_from(number).expect("few writes") + 1; WRITE]
        };
        let whole = log.chunks(WRITE).enumerate().take_while(is_whole).count();
        acknowledged.saturating_sub(whole)
    }
}

/// Returns for each of the power cuts, at moments of the whole load, whether it lost a write.
fn losses(device: &Device, count: usize) -> Vec<bool> {
    let positions = device.load();
    let survivals =
        [Survival::Nothing, Survival::Subset { seed: 3 }, Survival::Everything, Survival::Nothing];
    (0..count)
        .map(|number| {
            let at = (number * WRITES) / count;
            device.lost(positions[at], survivals[number % survivals.len()], at + 1) > 0
        })
        .collect()
}

#[test]
fn ext4_with_barriers_loses_no_synced_write() {
    isolated("blocks::ext4_with_barriers_loses_no_synced_write", |dir| {
        let Some(device) = Device::new(dir, FsKind::Ext4, None) else { return };
        assert_eq!(losses(&device, 20), [false; 20]);
    });
}

#[test]
fn ext4_without_barriers_loses_synced_writes() {
    isolated("blocks::ext4_without_barriers_loses_synced_writes", |dir| {
        let Some(device) = Device::new(dir, FsKind::Ext4, Some("nobarrier")) else { return };
        let positions = device.load();
        let last = *positions.last().expect("writes");
        assert!(device.lost(last, Survival::Nothing, WRITES) > 0);
        assert_eq!(device.lost(last, Survival::Everything, WRITES), 0);
    });
}

#[test]
fn xfs_loses_no_synced_write() {
    isolated("blocks::xfs_loses_no_synced_write", |dir| {
        let Some(device) = Device::new(dir, FsKind::Xfs, None) else { return };
        assert_eq!(losses(&device, 4), [false; 4]);
    });
}

#[test]
fn discards_are_part_of_a_state() {
    isolated("blocks::discards_are_part_of_a_state", |dir| {
        let Some(device) = Device::new(dir, FsKind::Ext4, Some("discard")) else { return };
        let at = device.dir.join("fs");
        fs::write(at.join("old"), vec![7; 4 << 20]).unwrap();
        // Else it is removed before it has blocks.
        File::open(at.join("old")).unwrap().sync_all().unwrap();
        device.load();
        let blocks = |file: &str| {
            use std::os::unix::fs::MetadataExt;
            fs::metadata(device.dir.join("images").join(file)).unwrap().blocks()
        };
        let before = blocks("disk.img");
        fs::remove_file(at.join("old")).unwrap();
        File::open(&at).unwrap().sync_all().unwrap();
        // After the commit, a thread of the kernel discards in its own time.
        // Some blocks of the file system's own are new.
        assert!(wait_until(|| blocks("disk.img") + 4096 <= before), "nothing is discarded");
        rustix::fs::syncfs(File::open(&at).unwrap()).unwrap();
        let position = device.block.sequence();
        assert_eq!(device.lost(position, Survival::Nothing, WRITES), 0);
        let state = device.block.restore(position, Survival::Nothing, &dir.join("state")).unwrap();
        let images = fs::read_dir(device.dir.join("images")).unwrap();
        let names = images.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let name = names.filter(|name| name.starts_with("state")).last().unwrap();
        // The state would have 4 MiB more if the discard of the old file were missing.
        assert!(
            blocks(&name) < blocks("disk.img") + 4096,
            "{} {}",
            blocks(&name),
            blocks("disk.img")
        );
        drop(state);
        assert!(!device.dir.join("images").join(name).exists());
    });
}

/// The child of the test below: makes every kind of mount, and waits to be killed.
#[test]
#[ignore = "run by the test below"]
#[expect(clippy::disallowed_methods, reason = "the child is killed while it waits")]
fn a_mounted_child_waits_for_a_kill() {
    let Some(dir) = std::env::var_os(DIR) else { return };
    let Some(device) = Device::new(Path::new(&dir), FsKind::Ext4, None) else { return };
    let positions = device.load();
    let at = device.dir.join("state");
    let _state = device.block.restore(positions[9], Survival::Nothing, &at).unwrap();
    println!("mounted");
    std::thread::sleep(Duration::from_secs(300));
}

/// Waits at most a minute until `holds`; returns whether it did.
#[expect(clippy::disallowed_methods, reason = "the kernel works on devices in its own time")]
fn wait_until(holds: impl Fn() -> bool) -> bool {
    (0..6_000).any(|_| {
        holds() || {
            std::thread::sleep(Duration::from_millis(10));
            false
        }
    })
}

/// Returns the images of all loop devices of the host.
fn loop_images() -> String {
    let devices = fs::read_dir("/sys/block").into_iter().flatten().flatten();
    let image = |device: fs::DirEntry| {
        fs::read_to_string(device.path().join("loop/backing_file")).unwrap_or_default()
    };
    devices.map(image).collect()
}

/// Kills the namespace of a test with mounts and loop devices, which then are gone.
#[test]
fn a_kill_leaves_no_loop_device_and_no_process() {
    if std::env::var_os(DIR).is_some() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let mut command = namespaces();
    command.arg(std::env::current_exe().unwrap()).env(DIR, dir.path());
    command.args([
        "--exact",
        "blocks::a_mounted_child_waits_for_a_kill",
        "--ignored",
        "--nocapture",
    ]);
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        println!("skipped: unshare is not installed");
        return;
    };
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut end = lines.skip_while(|line| line != "mounted");
    let was_mounted = end.next().is_some();
    let name = dir.path().file_name().unwrap().to_str().unwrap().to_owned();
    let images = loop_images();
    child.kill().unwrap();
    child.wait().unwrap();
    if !was_mounted {
        println!("skipped: this account may not make mounts or loop devices");
        return;
    }
    assert!(images.contains("disk.img"), "{images}");
    // Every process of the namespace held the pipe.
    assert_eq!(end.count(), 0);
    let is_free = || !loop_images().contains(&name) && !loop_images().contains("disk.img");
    assert!(wait_until(is_free), "{}", loop_images());
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(!mounts.contains(&name));
}
