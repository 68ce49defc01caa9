//! Groups of functions: client, engine, allocator, kernel, C library.

use model::profile::{Frame, KERNEL_MODULE, ProfileTarget, Stack};
use serde::Serialize;

/// Thread of the worker whose operations are measured.
const CLIENT_THREAD: &str = "client";
/// Libraries of the C and C++ run time, without suffix.
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
    /// Every group, in the order of legends.
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
    /// Returns whether a stack is in the scope.
    pub fn contains(self, stack: &Stack) -> bool {
        match self {
            Self::Clients => stack.target == ProfileTarget::Worker && stack.thread == CLIENT_THREAD,
            Self::Worker => stack.target == ProfileTarget::Worker,
            Self::Server => stack.target == ProfileTarget::Server,
        }
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
        let has_start = |list: &str, text: &str| list.split(' ').any(|one| text.starts_with(one));
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
        } else if frame.module.contains(".so") || has_start(LINKED_ENGINES, name) {
            Self::Engine
        } else {
            Self::Other
        }
    }
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
    use model::profile::{Profile, UNKNOWN};

    use super::*;

    fn stack_groups(target: ProfileTarget, frames: &[(&str, &str)]) -> Vec<Group> {
        let kind = |(module, function): &(&str, &str)| {
            let frame = Frame { module: (*module).to_owned(), function: (*function).to_owned() };
            FrameKind::of(&frame, function)
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
    fn servers_own_frames_are_the_engines() {
        let stack = [
            ("ld-linux-x86-64.so.2", "_start"),
            ("mysqld", "handle_query"),
            ("mysqld", "free"),
            ("libjemalloc.so.2", "arena_malloc"),
            ("[vdso]", "__vdso_clock_gettime"),
        ];
        use Group::{Allocator, Engine, Libc};
        let groups = [Libc, Engine, Engine, Allocator, Libc];
        assert_eq!(stack_groups(ProfileTarget::Server, &stack), groups);
    }

    #[test]
    fn scopes_contain_their_threads() {
        let text = "worker;client;a`b 1\nworker;rocksdb:low;a`b 1\nserver;client;a`b 1\n";
        let profile = Profile::parse(text).unwrap();
        let count = |scope: Scope| profile.stacks().iter().filter(|s| scope.contains(s)).count();
        assert_eq!([Scope::Clients, Scope::Worker, Scope::Server].map(count), [1, 2, 1]);
    }
}
