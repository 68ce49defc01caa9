//! Raw devices and files on ext4, XFS and btrfs, on a loop device.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

use device::{
    Fio, Job, Place, RawDevice, TestFile, Work, WriteBudget, WriteTarget, directory, settings,
    settle,
};
use model::{Access, Bytes, IoTest, SteadyLevel};
use rustix::fs::{CWD, FileType, Mode};

/// Size of the image: XFS takes 300 MiB at least. It is sparse.
const IMAGE: u64 = 512 << 20;

const SIZE: Bytes = Bytes(16 << 20);

/// Runs a program; its output, or why there is none.
fn run(program: &str, arguments: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(arguments).output();
    let output = output.map_err(|error| format!("{program}: {error}"))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned());
    }
    Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()))
}

/// Waits until the system has read what a device holds; the device is in use meanwhile.
fn probed() {
    // Where there is no udev, nothing reads it.
    drop(run("udevadm", &["settle", "--timeout", "60"]));
}

/// Checks that a device is given back, unless the test has failed already.
fn ended(done: Result<String, String>) {
    if !std::thread::panicking() {
        done.expect("the device is given back");
    }
}

/// Held by the test that has a device: programs that the other one starts have it open until they
/// are executed.
static TURN: Mutex<()> = Mutex::new(());

/// A loop device, detached when dropped.
struct Loop {
    path: PathBuf,
    dir: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Loop {
    fn attach() -> Result<Self, String> {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        let dir = tempfile::tempdir().map_err(|error| error.to_string())?;
        let image = dir.path().join("image");
        let made = File::create(&image).and_then(|file| file.set_len(IMAGE));
        made.map_err(|error| error.to_string())?;
        let path = run("losetup", &["--find", "--show", &image.to_string_lossy()])?;
        let made = Self { path: path.into(), dir, _turn: turn };
        probed();
        Ok(made)
    }

    fn path(&self) -> &str {
        self.path.to_str().expect("losetup prints ASCII")
    }

    fn mount(&self, kind: &str) -> Result<Mounted, String> {
        let force = if kind == "ext4" { "-F" } else { "-f" };
        run(&format!("mkfs.{kind}"), &["-q", force, self.path()])?;
        let point = self.dir.path().join(kind);
        fs::create_dir(&point).map_err(|error| error.to_string())?;
        probed();
        run("mount", &["-t", kind, self.path(), &point.to_string_lossy()])?;
        Ok(Mounted(point))
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        ended(run("losetup", &["--detach", self.path()]));
    }
}

/// A mounted file system, unmounted when dropped.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        ended(run("umount", &[&self.0.to_string_lossy()]));
    }
}

/// Returns fio and a loop device, or prints why there is none.
#[expect(clippy::print_stdout, reason = "a skipped test prints why")]
fn storage() -> Option<(Fio, Loop)> {
    let found = Fio::find(|| false).map_err(|error| error.to_string());
    match found.and_then(|fio| Ok((fio, Loop::attach()?))) {
        Ok(found) => Some(found),
        Err(reason) => {
            println!("skipped: {reason}");
            None
        }
    }
}

/// Goal: what was never written is found, and vanishes with the fill; only a writable device is
/// written.
/// Method: a device over a sparse image.
#[test]
fn a_raw_device_is_only_read_unless_it_may_be_destroyed() {
    let Some((fio, device)) = storage() else { return };
    let read_only = RawDevice::open(&device.path, false).unwrap().limited(SIZE);
    assert!(read_only.reads_as_zeros().unwrap() > 0.99);
    let refusal = read_only.fill(&fio, read_only.place(), &mut |_| true).unwrap_err();
    assert!(refusal.to_string().contains("--destroy"), "{refusal}");
    let second = RawDevice::open(&device.path, false).unwrap_err().to_string();
    assert!(second.contains("in use"), "{second}");
    drop(read_only);
    let writable = RawDevice::open(&device.path, true).unwrap().limited(SIZE);
    writable.fill(&fio, writable.place(), &mut |_| true).unwrap();
    assert!(writable.reads_as_zeros().unwrap() < 0.01);
    let mut level = SteadyLevel { round_s: 1, written_bytes: SIZE, ..SteadyLevel::default() };
    let mut budget = WriteBudget { left: Bytes(8 << 20) };
    let (place, access, dir) = (writable.place(), Access::Raw, Path::new("/"));
    let target = WriteTarget { place, access, dir };
    settle(&fio, target, &mut level, &mut budget, &mut |_| true).unwrap();
    // What a busy device left of the limit in the first round is rounded up to a request of 4 KiB
    // for each of 16 jobs.
    let most = SIZE.0 + (8 << 20) + (16 << 12);
    assert!(level.written_bytes > SIZE && level.written_bytes.0 <= most, "{level:?}");
    assert!(level.is_steady || level.ended == "the write limit is reached", "{level:?}");
    let sys_dir = directory(writable.name());
    assert!(settings(&sys_dir).iter().any(|(name, _)| name == "logical_block_size"));
    let sample = test(&fio, writable.place(), (Access::Raw, Path::new("/")), &sys_dir);
    assert_eq!(sample.issued.unwrap().reads, sample.read.unwrap().requests);
}

/// Goal: what the kernel counts as no use of a device keeps it from being destroyed.
/// Method: a second loop device over it, and a process that has it open to write.
#[test]
fn a_device_behind_another_or_open_to_write_is_not_destroyed() {
    let Some((_, device)) = storage() else { return };
    let refusal = || RawDevice::open(&device.path, true).unwrap_err().to_string();
    let above = run("losetup", &["--find", "--show", device.path()]).unwrap();
    probed();
    let behind = refusal();
    RawDevice::open(&device.path, false).unwrap();
    ended(run("losetup", &["--detach", &above]));
    assert!(behind.contains(&format!("{above} keeps its data on it")), "{behind}");
    let script = "exec 3<>\"$0\"; echo; read line";
    let mut writer = Command::new("sh");
    writer.args(["-c", script, device.path()]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut writer = writer.spawn().unwrap();
    writer.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
    let open = refusal();
    drop(writer.stdin.take());
    writer.wait().unwrap();
    assert!(open.contains(&format!("end process {} (sh)", writer.id())), "{open}");
    probed();
    RawDevice::open(&device.path, true).unwrap();
}

/// Goal: a path with signs that fio obeys names one device, and a request to stop ends fio.
/// Method: a node of the device whose name lists a second file; a test of a minute, interrupted.
#[test]
fn names_of_devices_are_no_lists_and_fio_ends_on_request() {
    let Some((fio, device)) = storage() else { return };
    let dir = tempfile::tempdir().unwrap();
    let (node, victim) = (dir.path().join("a:victim ${HOME}"), dir.path().join("victim"));
    fs::write(&victim, "precious").unwrap();
    let number = fs::metadata(&device.path).unwrap().rdev();
    rustix::fs::mknodat(CWD, &node, FileType::BlockDevice, Mode::RUSR | Mode::WUSR, number)
        .unwrap();
    let raw = RawDevice::open(&node, true).unwrap().limited(SIZE);
    raw.fill(&fio, raw.place(), &mut |_| true).unwrap();
    assert!(raw.reads_as_zeros().unwrap() < 0.01);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    let fio = Fio::find(|| true).unwrap();
    let work = Work::Test(IoTest::RANDREAD_4K, 60);
    let job = Job { place: raw.place(), access: Access::Raw, work, jobs: 1, seed: 1 };
    let read = fio.run(&job, Path::new("/"), None).ok().and_then(|sample| sample.read);
    let seconds = read.map_or(0.0, |read| read.requests as f64 / read.per_s);
    assert!(seconds < 30.0, "fio ran for {seconds} s after the request");
}

/// Runs random reads for a second.
fn test(
    fio: &Fio,
    place: &Place,
    (access, dir): (Access, &Path),
    sys_dir: &Path,
) -> model::IoSample {
    let work = Work::Test(IoTest::RANDREAD_4K, 1);
    fio.run(&Job { place, access, work, jobs: 2, seed: 1 }, dir, Some(sys_dir)).expect("fio runs")
}

/// Goal: on each file system a sparse file is found and a filled one is none; reads reach the
/// device with `O_DIRECT`; a mounted device is refused.
#[test]
fn sparse_files_are_found_on_every_file_system() {
    for kind in ["ext4", "xfs", "btrfs"] {
        let Some((fio, device)) = storage() else { return };
        let mounted = match device.mount(kind) {
            Ok(mounted) => mounted,
            Err(reason) => {
                println!("skipped in part: {reason}");
                continue;
            }
        };
        let refusal = RawDevice::open(&device.path, false).unwrap_err().to_string();
        assert!(refusal.contains("it is mounted on"), "{refusal}");
        let file = TestFile::create(&mounted.0, SIZE, Bytes(0)).unwrap();
        let never = file.never_written().unwrap();
        assert!(never > 0.99, "{kind}: {never}");
        file.fill(&fio, &mut |_| true).unwrap();
        let never = file.never_written().unwrap();
        assert!(never < 1e-6, "{kind}: {never}");
        let sys_dir = directory(device.path.file_name().unwrap().to_str().unwrap());
        let sample = test(&fio, file.place(), (Access::Direct, file.dir()), &sys_dir);
        let (read, issued) = (sample.read.unwrap(), sample.issued.unwrap());
        // Metadata may be read too, and btrfs reads checksums from its cache.
        assert!(issued.reads >= read.requests, "{kind}: {sample:?}");
        assert!(issued.read_bytes >= read.bytes, "{kind}: {sample:?}");
        let leaving = file.dir().to_owned();
        drop(file);
        assert!(!leaving.exists());
    }
}
