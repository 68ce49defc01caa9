//! What a power cut loses and leaves.

use std::fs::{self, File, OpenOptions};
use std::io::{IoSlice, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use crashfs::{LossKind, Names, Survival};
use rustix::fs::OFlags;
use rustix::io::{ReadWriteFlags, pwritev2};

use crate::namespace::{Machine, isolated, python};

/// Writes a file without a sync.
fn write(path: &Path, text: &str) -> File {
    let mut file = File::create(path).expect("a new file");
    file.write_all(text.as_bytes()).expect("a write");
    file
}

#[test]
fn a_journal_whose_unlink_is_not_synced_comes_back() {
    isolated("losses::a_journal_whose_unlink_is_not_synced_comes_back", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        write(&machine.path("db"), "old").sync_all().unwrap();
        let journal = machine.path("db-journal");
        write(&journal, "undo").sync_all().unwrap();
        write(&machine.path("db"), "new").sync_all().unwrap();
        fs::remove_file(&journal).unwrap();
        assert!(!journal.exists());
        let losses = machine.cut(Survival::Nothing).losses;
        assert_eq!(losses.len(), 1, "{losses:?}");
        assert_eq!(losses[0].kind, LossKind::Removed);
        assert_eq!(fs::read_to_string(&journal).unwrap(), "undo");
        assert_eq!(fs::read_to_string(machine.path("db")).unwrap(), "new");
        fs::remove_file(&journal).unwrap();
        File::open(machine.path("")).unwrap().sync_all().unwrap();
        assert!(machine.cut(Survival::Nothing).losses.is_empty());
        assert!(!journal.exists());
    });
}

#[test]
fn a_file_keeps_its_name_by_a_sync_of_itself_or_of_its_directory() {
    isolated("losses::a_file_keeps_its_name_by_a_sync_of_itself_or_of_its_directory", |dir| {
        for (number, names) in [Names::Own, Names::Strict].into_iter().enumerate() {
            let dir = dir.join(number.to_string());
            fs::create_dir(&dir).unwrap();
            let mut machine = Machine::new(&dir, names);
            fs::create_dir_all(machine.path("a/b")).unwrap();
            write(&machine.path("a/b/synced"), "data").sync_all().unwrap();
            write(&machine.path("a/b/other"), "data");
            let _ = machine.cut(Survival::Nothing);
            if names == Names::Own {
                assert_eq!(machine.names("a/b"), ["synced"]);
            } else {
                assert!(machine.names("").is_empty());
                fs::create_dir(machine.path("a")).unwrap();
                write(&machine.path("a/synced"), "data").sync_all().unwrap();
                for dir in ["a", ""] {
                    File::open(machine.path(dir)).unwrap().sync_all().unwrap();
                }
                let _ = machine.cut(Survival::Nothing);
                assert_eq!(fs::read_to_string(machine.path("a/synced")).unwrap(), "data");
            }
        }
    });
}

#[test]
fn a_rename_is_lost_or_durable_as_a_whole() {
    isolated("losses::a_rename_is_lost_or_durable_as_a_whole", |dir| {
        let mut machine = Machine::new(dir, Names::Strict);
        for (name, text) in [("current", "1"), ("next", "2")] {
            write(&machine.path(name), text).sync_all().unwrap();
        }
        machine.disk.sync_all();
        fs::rename(machine.path("next"), machine.path("current")).unwrap();
        let losses = machine.cut(Survival::Nothing).losses;
        assert_eq!(losses[0].kind, LossKind::Renamed { from: "next".into() });
        assert_eq!(fs::read_to_string(machine.path("current")).unwrap(), "1");
        assert_eq!(machine.names(""), ["current", "next"]);
        fs::rename(machine.path("next"), machine.path("current")).unwrap();
        File::open(machine.path("")).unwrap().sync_all().unwrap();
        let _ = machine.cut(Survival::Nothing);
        assert_eq!(fs::read_to_string(machine.path("current")).unwrap(), "2");
        assert_eq!(machine.names(""), ["current"]);
    });
}

#[test]
fn a_write_with_o_dsync_survives() {
    isolated("losses::a_write_with_o_dsync_survives", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        let mut options = OpenOptions::new();
        options.write(true).create(true);
        for (name, flags) in
            [("dsync", OFlags::DSYNC), ("sync", OFlags::SYNC), ("no", OFlags::empty())]
        {
            let flags = flags.bits().cast_signed();
            let mut file = options.custom_flags(flags).open(machine.path(name)).unwrap();
            file.write_all(b"data").unwrap();
        }
        let _ = machine.cut(Survival::Nothing);
        assert_eq!(machine.names(""), ["dsync", "sync"]);
        assert_eq!(fs::read_to_string(machine.path("dsync")).unwrap(), "data");
    });
}

/// A page at an address that direct IO accepts.
#[repr(align(4096))]
struct Page([u8; 4096]);

#[test]
fn a_log_written_with_direct_io_survives_by_a_flag_only() {
    isolated("losses::a_log_written_with_direct_io_survives_by_a_flag_only", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        let page = Box::new(Page([7; 4096]));
        let synced = OFlags::DIRECT | OFlags::DSYNC;
        for (name, flags) in [("direct", OFlags::DIRECT), ("direct-dsync", synced)] {
            let mut options = OpenOptions::new();
            options.write(true).create(true).custom_flags(flags.bits().cast_signed());
            options.open(machine.path(name)).unwrap().write_all(&page.0).unwrap();
        }
        for (name, flags) in
            [("written", ReadWriteFlags::empty()), ("written-dsync", ReadWriteFlags::DSYNC)]
        {
            let file = File::create(machine.path(name)).unwrap();
            assert_eq!(pwritev2(&file, &[IoSlice::new(&page.0)], 0, flags), Ok(4096));
        }
        let _ = machine.cut(Survival::Nothing);
        assert_eq!(machine.names(""), ["direct-dsync", "written-dsync"]);
        for name in machine.names("") {
            assert_eq!(fs::read(machine.path(&name)).unwrap(), page.0);
        }
    });
}

#[test]
fn a_shared_map_survives_by_msync_only() {
    isolated("losses::a_shared_map_survives_by_msync_only", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        let path = machine.path("map");
        let program = "import mmap, sys\n\
                       file = open(sys.argv[1], 'w+b')\n\
                       file.truncate(16384)\n\
                       map = mmap.mmap(file.fileno(), 16384)\n\
                       map[0:4] = b'sync'\n\
                       map.flush()\n\
                       map[8192:8196] = b'lost'\n\
                       map.close()\n";
        if python(program, &path).is_none() {
            return;
        }
        assert_eq!(&fs::read(&path).unwrap()[8192..8196], b"lost");
        let losses = machine.cut(Survival::Nothing).losses;
        assert_eq!(losses[0].kind, LossKind::Data { offset: 8192, bytes: 4096 });
        let data = fs::read(&path).unwrap();
        assert_eq!((&data[..4], &data[8192..8196]), (&b"sync"[..], &[0; 4][..]));
    });
}

#[test]
fn a_subset_leaves_some_pages_of_each_file() {
    isolated("losses::a_subset_leaves_some_pages_of_each_file", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        let old = [1; 64 * 4096];
        let mut file = File::create(machine.path("file")).unwrap();
        file.write_all(&old).unwrap();
        machine.disk.sync_all();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(&[2; 64 * 4096]).unwrap();
        let _ = machine.cut(Survival::Subset { seed: 7 });
        let data = fs::read(machine.path("file")).unwrap();
        let pages = data.chunks(4096);
        assert!(pages.clone().all(|page| page == [1; 4096] || page == [2; 4096]));
        let survived = pages.filter(|page| page[0] == 2).count();
        assert!((16..48).contains(&survived), "{survived} of 64 pages");
    });
}

#[test]
fn large_files_are_read_back_after_a_cut() {
    isolated("losses::large_files_are_read_back_after_a_cut", |dir| {
        let mut machine = Machine::new(dir, Names::Own);
        let chunk: Vec<u8> = (0..1 << 20).map(|at: u32| at.to_le_bytes()[1]).collect();
        let mut file = File::create(machine.path("large")).unwrap();
        for number in 0..64 {
            file.write_all(&chunk).unwrap();
            file.write_at(&[number], u64::from(number) << 20).unwrap();
        }
        file.sync_all().unwrap();
        drop(file);
        assert!(machine.cut(Survival::Nothing).losses.is_empty());
        let mut file = File::open(machine.path("large")).unwrap();
        let mut data = vec![0; 1 << 20];
        for number in 0..64 {
            file.read_exact(&mut data).unwrap();
            assert_eq!(data[0], number);
            assert!(data[1..] == chunk[1..]);
        }
        assert_eq!(file.read(&mut data).unwrap(), 0);
    });
}
