//! Faults that are switched on, and what the kernel does by itself.

use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use crashfs::{Disk, MountError, Names, Survival};
use rustix::fs::{FallocateFlags, FlockOperation, fallocate, flock};
use rustix::io::Errno;

use crate::namespace::{Machine, isolated, python};

/// The error of a call that has to fail.
fn errno<T>(result: std::io::Result<T>) -> Option<i32> {
    result.err().and_then(|error| error.raw_os_error())
}

#[test]
fn every_change_after_a_cut_fails_and_reads_do_not() {
    isolated("faults::every_change_after_a_cut_fails_and_reads_do_not", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        let mut file = File::create(machine.path("file")).unwrap();
        file.write_all(b"data").unwrap();
        file.sync_all().unwrap();
        assert!(machine.disk.cut(Survival::Nothing).losses.is_empty());
        let io = Some(Errno::IO.raw_os_error());
        assert_eq!(errno(file.write_all(b"more")), io);
        assert_eq!(errno(file.sync_all()), io);
        assert_eq!(errno(file.set_len(0)), io);
        assert_eq!(errno(File::create(machine.path("new"))), io);
        assert_eq!(errno(fs::create_dir(machine.path("dir"))), io);
        assert_eq!(errno(fs::remove_file(machine.path("file"))), io);
        assert_eq!(errno(fs::rename(machine.path("file"), machine.path("new"))), io);
        assert_eq!(errno(fs::hard_link(machine.path("file"), machine.path("new"))), io);
        assert_eq!(fs::read_to_string(machine.path("file")).unwrap(), "data");
        machine.restart();
        // The file of the earlier mount has no disk any more.
        assert!(file.write_all(b"more").is_err());
        assert_eq!(fs::read_to_string(machine.path("file")).unwrap(), "data");
        fs::write(machine.path("new"), "data").unwrap();
    });
}

#[test]
fn a_failed_sync_drops_its_pages() {
    isolated("faults::a_failed_sync_drops_its_pages", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        let file = File::create_new(machine.path("file")).unwrap();
        file.write_all_at(&[1; 8192], 0).unwrap();
        file.sync_all().unwrap();
        machine.disk.fail_fsync();
        // A sync without unsynced data cannot fail.
        file.sync_all().unwrap();
        file.write_all_at(&[2; 8192], 0).unwrap();
        assert_eq!(errno(file.sync_all()), Some(Errno::IO.raw_os_error()));
        // The second sync succeeds although the pages are not written, and one is written again.
        file.write_all_at(&[3; 1], 4096).unwrap();
        file.sync_all().unwrap();
        assert_eq!(fs::read(machine.path("file")).unwrap()[..4096], [2; 4096]);
        assert_eq!(machine.cut(Survival::Everything).losses.len(), 1);
        let data = fs::read(machine.path("file")).unwrap();
        assert_eq!((data[0], data[4095], data[4096], data[4097]), (1, 1, 3, 2));
    });
}

#[test]
fn a_full_disk_refuses_new_data() {
    isolated("faults::a_full_disk_refuses_new_data", |dir| {
        let machine = Machine::new(dir, Names::Own);
        let file = File::create_new(machine.path("file")).unwrap();
        file.write_all_at(&[1; 4096], 0).unwrap();
        machine.disk.set_full(true);
        let error = |result: std::io::Result<()>| result.unwrap_err().kind();
        assert_eq!(error(file.write_all_at(&[1; 4096], 4096)), ErrorKind::StorageFull);
        assert_eq!(error(fs::write(machine.path("new"), "")), ErrorKind::StorageFull);
        file.write_all_at(&[2; 4096], 0).unwrap();
        fs::remove_file(machine.path("file")).unwrap();
        machine.disk.set_full(false);
        fs::write(machine.path("new"), "data").unwrap();
        // The limit of memory is a full disk, too.
        let small = Disk::new(Names::Own, 1 << 20);
        let at = dir.join("small");
        fs::create_dir(&at).unwrap();
        let _mounted = small.mount(&at).unwrap();
        assert_eq!(error(fs::write(at.join("file"), vec![1; 2 << 20])), ErrorKind::StorageFull);
    });
}

#[test]
fn the_kernel_locks_files() {
    isolated("faults::the_kernel_locks_files", |dir| {
        let machine = Machine::new(dir, Names::Own);
        let path = machine.path("file");
        let [one, other] = [(); 2].map(|()| File::options().append(true).create(true).open(&path));
        let (one, other) = (one.unwrap(), other.unwrap());
        flock(&one, FlockOperation::NonBlockingLockExclusive).unwrap();
        let refused = flock(&other, FlockOperation::NonBlockingLockExclusive);
        assert_eq!(refused, Err(Errno::WOULDBLOCK));
        rustix::fs::fcntl_lock(&one, FlockOperation::NonBlockingLockExclusive).unwrap();
        let program = "import fcntl, sys\n\
                       file = open(sys.argv[1], 'a')\n\
                       try:\n    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)\n\
                       except BlockingIOError:\n    print('locked')\n";
        if let Some(output) = python(program, &path) {
            assert_eq!(output, "locked");
        }
    });
}

#[test]
fn files_have_holes_links_and_owners() {
    isolated("faults::files_have_holes_links_and_owners", |dir| {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let machine = Machine::new(dir, Names::Own);
        let file = File::create_new(machine.path("file")).unwrap();
        file.write_all_at(&[1; 3 * 4096], 0).unwrap();
        let punch = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
        fallocate(&file, punch, 4096, 4096).unwrap();
        assert_eq!(file.metadata().unwrap().blocks(), 16);
        fallocate(&file, FallocateFlags::empty(), 0, 5 * 4096).unwrap();
        assert_eq!(file.metadata().unwrap().len(), 5 * 4096);
        let data = fs::read(machine.path("file")).unwrap();
        assert_eq!((data[4095], data[4096], data[8191], data[8192]), (1, 0, 0, 1));
        fs::hard_link(machine.path("file"), machine.path("other")).unwrap();
        assert_eq!(file.metadata().unwrap().nlink(), 2);
        fs::set_permissions(machine.path("file"), fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(file.metadata().unwrap().mode() & 0o7777, 0o600);
        let root = fs::metadata(machine.path("")).unwrap();
        assert_eq!(root.mode() & 0o7777, 0o755);
        assert!(file.metadata().unwrap().ino() > 1 << 24);
        // A large directory is listed whole while its files are removed.
        fs::create_dir(machine.path("dir")).unwrap();
        for number in 0..1000 {
            File::create(machine.path(&format!("dir/{number}"))).unwrap();
        }
        assert_eq!(machine.names("dir").len(), 1000);
        fs::remove_dir_all(machine.path("dir")).unwrap();
        assert_eq!(machine.names(""), ["file", "other"]);
    });
}

#[test]
fn a_disk_is_mounted_once_and_only_at_a_directory() {
    isolated("faults::a_disk_is_mounted_once_and_only_at_a_directory", |dir| {
        let machine = Machine::new(dir, Names::Own);
        assert!(matches!(machine.disk.mount(dir), Err(MountError::Mounted(_))));
        let other = Disk::new(Names::Own, 1 << 20);
        let error = other.mount(Path::new("/no/such/directory")).unwrap_err().to_string();
        assert!(error.starts_with("cannot set up the simulated disk at /no/such/directory: "));
        // The failed mount left the disk free.
        let at = dir.join("other");
        fs::create_dir(&at).unwrap();
        let syncs = other.syncs();
        let _mounted = other.mount(&at).unwrap();
        File::create(at.join("file")).unwrap().sync_all().unwrap();
        assert_eq!(other.syncs(), syncs + 1);
    });
}
