//! Groups of functions: client, engine, allocator, kernel, C library.

use model::StepRecord;
use model::profile::{Frame, KERNEL_MODULE, ProfileTarget, Stack};
use serde::Serialize;

use crate::metrics::{client_cpu, is_user_only, primary_operations, target_cpu};

/// Thread of the worker whose operations are measured.
pub(super) const CLIENT_THREAD: &str = "client";
/// Libraries of the C and C++ run time, without suffix, and the file that the kernel adds to them.
///
/// The vDSO is executed in user mode, so its time does not count for the kernel. Source: vdso(7).
const LIBC: &str =
    "[vdso] ld libc libc++ libdl libgcc_s libm libpthread librt libstdc++ linux-vdso";
/// Beginnings of the names of allocator libraries.
const ALLOCATORS: &str = "libjemalloc libmimalloc libtcmalloc";
/// Beginnings of the names of functions that allocate, in the C library or linked in.
const ALLOCATION: &str = "__libc_calloc __libc_free __libc_malloc __libc_realloc __rust_alloc \
    __rust_dealloc __rust_realloc _int_ _mid_memalign _rjem_je_ aligned_alloc je_ malloc_ \
    operator-delete operator-new posix_memalign sysmalloc systrim tcache_ unlink_chunk";
/// Functions of the C library that allocate and whose names begin the names of others.
const ALLOCATION_NAMES: &str = "calloc cfree free malloc memalign realloc";
/// Beginnings of the names of functions of engines that are linked into the worker, and of their
/// drivers, whose CPU the account of an operation counts as the engine's.
const LINKED_ENGINES: &str = "driver_ fjall:: indexlog:: lsm_tree:: mdb_ redb:: sqlite3";
/// Beginnings of the names of libraries whose functions count for the types that they handle.
const GENERIC: &str = "alloc:: core:: crossbeam_ hashbrown:: parking_lot:: quick_cache:: std::";

/// A group of functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Group {
    /// The client: Assay's worker without engine.
    Client,
    /// The engine, or the server.
    Engine,
    /// The allocator.
    Allocator,
    /// The kernel.
    Kernel,
    /// The C and C++ run time.
    Libc,
}

impl Group {
    /// Every group, in the order of declaration and of legends.
    pub const ALL: [Self; 5] =
        [Self::Client, Self::Engine, Self::Allocator, Self::Kernel, Self::Libc];

    /// Returns its name in a sentence.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Engine => "engine",
            Self::Allocator => "allocator",
            Self::Kernel => "kernel",
            Self::Libc => "C library",
        }
    }
}

/// The stacks that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The client threads of the worker.
    Clients,
    /// All threads of the worker.
    Worker,
    /// The processes of the server.
    Server,
}

impl Scope {
    /// Returns the process of the scope.
    pub const fn target(self) -> ProfileTarget {
        match self {
            Self::Clients | Self::Worker => ProfileTarget::Worker,
            Self::Server => ProfileTarget::Server,
        }
    }

    /// Returns the CPU that the samples of the scope divide; `None` where it is unknown or 0.
    pub(crate) fn cpu_us_per_op(self, step: &StepRecord) -> Option<f64> {
        let us = if self == Self::Clients {
            let [user, kernel] = client_cpu(step);
            let is_user_only = is_user_only(step, self.target());
            let kernel = if is_user_only { Some(0.0) } else { kernel };
            (user? + kernel?) / primary_operations(step) as f64
        } else {
            target_cpu(step, self.target())?
        };
        Some(us).filter(|us| us.is_finite() && *us > 0.0)
    }

    /// Returns whether a stack is in the scope.
    pub fn contains(self, stack: &Stack) -> bool {
        stack.target == self.target() && (self != Self::Clients || stack.thread == CLIENT_THREAD)
    }
}

/// What a frame contributes to the groups of its stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// The frame is of this group in every stack.
    Fixed(Group),
    /// The frame, and all that it calls, is of the engine.
    Engine,
    /// The frame is of the engine below an engine's frame, otherwise of the client.
    Other,
}

impl FrameKind {
    /// Classifies a frame by its module and its normalised name.
    pub(super) fn of(frame: &Frame, name: &str) -> Self {
        let file = module_stem(&frame.module);
        let is_one = |list: &str, text: &str| list.split(' ').any(|one| text == one);
        let is_libc = is_one(LIBC, file);
        let allocates = has_start(ALLOCATION, &name.replace("operator ", "operator-"))
            || is_libc && is_one(ALLOCATION_NAMES, name);
        if frame.module == KERNEL_MODULE {
            Self::Fixed(Group::Kernel)
        } else if has_start(ALLOCATORS, file) || allocates {
            Self::Fixed(Group::Allocator)
        } else if is_libc {
            Self::Fixed(Group::Libc)
        } else if frame.module.contains(".so") || is_of_engine(&frame.function) {
            Self::Engine
        } else {
            Self::Other
        }
    }
}

/// Returns whether a text begins with an entry of a list.
fn has_start(list: &str, text: &str) -> bool {
    list.split(' ').any(|one| text.starts_with(one))
}

/// Returns whether a function in the worker is an engine's: by its crate, and of a function of a
/// generic library by the first type that it handles.
///
/// `core::ptr::drop_in_place<redb::Table>`, `<Vec<fjall::Item> as core::ops::Drop>::drop`
fn is_of_engine(function: &str) -> bool {
    let mut paths = function.split(|c: char| !c.is_alphanumeric() && c != '_' && c != ':');
    let is_engine = |path: &str| has_start(LINKED_ENGINES, path);
    let is_own = |path: &&str| is_engine(path) || path.find("::") > Some(0);
    paths.find(|path| is_own(path) && !has_start(GENERIC, path)).is_some_and(is_engine)
}

/// Returns a module's name without its version: `librocksdb` of `librocksdb.so.11`.
pub(super) fn module_stem(module: &str) -> &str {
    let file = module.split(".so").next().unwrap_or(module);
    let is_version = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
    let is_loader = file.starts_with("ld-");
    let parts = file.split_once('-').filter(|(_, rest)| is_loader || is_version(rest));
    parts.map_or(file, |(stem, _)| stem)
}

/// Returns the group of each frame of a stack, from the root.
pub(super) fn groups(
    target: ProfileTarget,
    kinds: impl Iterator<Item = FrameKind>,
) -> impl Iterator<Item = Group> {
    let mut is_engine = target == ProfileTarget::Server;
    kinds.map(move |kind| {
        is_engine |= kind == FrameKind::Engine;
        match kind {
            FrameKind::Fixed(group) => group,
            FrameKind::Engine | FrameKind::Other if is_engine => Group::Engine,
            FrameKind::Engine | FrameKind::Other => Group::Client,
        }
    })
}

#[cfg(test)]
mod tests {
    use model::metric;
    use model::profile::{Profile, UNKNOWN};

    use super::super::name::FunctionName;
    use super::*;
    use crate::testing::profiled;

    fn stack_groups(target: ProfileTarget, frames: &[(&str, &str)]) -> Vec<Group> {
        let kind = |(module, function): &(&str, &str)| {
            let frame = Frame { module: (*module).to_owned(), function: (*function).to_owned() };
            FrameKind::of(&frame, &FunctionName::of(function).exact)
        };
        groups(target, frames.iter().map(kind)).collect()
    }

    #[test]
    fn stack_of_a_library_is_the_engines_from_its_frame_on() {
        let stack = [
            ("libc.so.6", "start_thread"),
            ("assay", "load::client"),
            ("librocksdb.so.11", "rocksdb::DB::Get"),
            ("assay", "shim::callback"),
            ("libstdc++.so.6", "operator new"),
            ("libc-2.31.so", "malloc"),
            (KERNEL_MODULE, "clear_page_erms"),
        ];
        use Group::{Allocator, Client, Engine, Kernel, Libc};
        let groups = [Libc, Client, Engine, Engine, Allocator, Allocator, Kernel];
        assert_eq!(stack_groups(ProfileTarget::Worker, &stack), groups);
    }

    #[test]
    fn linked_engines_are_known_by_their_functions() {
        for function in ["mdb_get", "sqlite3_step", "redb::Table::get", "fjall::Partition::get"] {
            let stack = [("assay", "load::client"), ("assay", function), ("assay", "memchr::find")];
            let groups = [Group::Client, Group::Engine, Group::Engine];
            assert_eq!(stack_groups(ProfileTarget::Worker, &stack), groups, "{function}");
        }
        let stack = [("assay", "load::free"), ("[unknown]", UNKNOWN)];
        assert_eq!(stack_groups(ProfileTarget::Worker, &stack), [Group::Client; 2]);
    }

    #[test]
    fn functions_of_generic_libraries_are_those_of_the_types_they_handle() {
        let engine = [
            "core::ptr::drop_in_place<redb::tree_store::Page>",
            "core::ptr::drop_in_place<core::option::Option<alloc::sync::Arc<fjall::Keyspace>>>",
            "<redb::Table<K,V> as core::ops::drop::Drop>::drop",
            "<alloc::vec::Vec<redb::Page> as core::ops::drop::Drop>::drop",
            "alloc::vec::Vec<lsm_tree::Segment>::push",
            "<alloc::vec::Vec<u8> as redb::Value>::from_bytes",
            "<&mut [u8] as redb::Key>::compare",
            "crossbeam_skiplist::base::SkipList<lsm_tree::Key,u8>::search_bound",
            "redb::Table<load::Row>::get::{{closure}}",
        ];
        let client = [
            "load::client::run<driver_redb::Connection>",
            "core::ptr::drop_in_place<load::Client<driver_redb::Connection>>",
            "<load::Client<redb::Table> as core::ops::Drop>::drop",
            "core::slice::sort::<u64>",
            "alloc::vec::Vec<u8>::extend",
            "main",
            "",
        ];
        let group = |function: &&str| stack_groups(ProfileTarget::Worker, &[("assay", function)]);
        for function in engine {
            assert_eq!(group(&function), [Group::Engine], "{function}");
        }
        for function in client {
            assert_eq!(group(&function), [Group::Client], "{function}");
        }
    }

    #[test]
    fn servers_own_frames_are_the_engines() {
        let stack = [
            ("ld-linux-x86-64.so.2", "_start"),
            ("mysqld", "handle_query"),
            ("mysqld", "free"),
            ("libjemalloc.so.2", "arena_malloc"),
            ("[vdso]", UNKNOWN),
        ];
        use Group::{Allocator, Engine, Libc};
        let groups = [Libc, Engine, Engine, Allocator, Libc];
        assert_eq!(stack_groups(ProfileTarget::Server, &stack), groups);
    }

    #[test]
    fn scopes_contain_their_threads_and_cpu() {
        let text = "worker;client;a`b 1\nworker;rocksdb:low;a`b 1\nserver;client;a`b 1\n";
        let profile = Profile::parse(text).unwrap();
        let count = |scope: Scope| profile.stacks().iter().filter(|s| scope.contains(s)).count();
        let scopes = [Scope::Clients, Scope::Worker, Scope::Server];
        assert_eq!(scopes.map(count), [1, 2, 1]);
        let mut step = profiled(4.0, Some(3.0));
        for metric in [metric::PROCESS_CPU_KERNEL_US, metric::CLIENT_CPU_KERNEL_US] {
            step.counters.set(metric, Some(1e4));
        }
        let cpu = |step: &StepRecord| scopes.map(|scope| scope.cpu_us_per_op(step));
        assert_eq!(cpu(&step), [Some(5.0), Some(5.0), Some(3.0)]);
        step.profiles[0].event = "cpu-clock:u".to_owned();
        assert_eq!(cpu(&step), [Some(4.0), Some(4.0), Some(3.0)]);
        assert_eq!(cpu(&profiled(0.0, None)), [None; 3]);
    }
}
