//! A process and its descendants, from `/proc`.

use std::collections::BTreeMap;
use std::fs;

use crate::kernel_file::read_of_process;

/// Returns the processes of this machine.
pub(crate) fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Returns a process and its descendants, parents before their children; none if it has ended.
pub(crate) fn process_tree(root: u32) -> Vec<u32> {
    let mut children: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in processes() {
        if let Some(parent) = parent_of(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut tree: Vec<u32> = parent_of(root).map(|_is_there| root).into_iter().collect();
    let mut at = 0;
    while let Some(pid) = tree.get(at) {
        tree.extend(children.remove(pid).unwrap_or_default());
        at += 1;
    }
    tree
}

/// Returns the parent of a process; `None` if the process has ended.
pub(crate) fn parent_of(pid: u32) -> Option<u32> {
    fields(&read_of_process(pid, "stat")?).nth(1)?.parse().ok()
}

/// Returns user and kernel CPU of processes, ticks.
///
/// CPU of a process that has ended is in the account of its parent, if the parent waited for it.
/// With parents before their children, a sum may be too small for an instant, never too large.
pub(crate) fn cpu_of(processes: &[u32]) -> [u64; 2] {
    let stats = processes.iter().filter_map(|pid| read_of_process(*pid, "stat"));
    let sum = |[user, kernel]: [u64; 2], one: [u64; 2]| [user + one[0], kernel + one[1]];
    stats.filter_map(|text| ticks_in(&text)).fold([0, 0], sum)
}

/// Returns the CPU in the text of `/proc/PID/stat`, with that of children that were waited for.
///
/// Source: proc(5), `/proc/PID/stat`, fields 14 to 17.
fn ticks_in(text: &str) -> Option<[u64; 2]> {
    let ticks: Vec<u64> = fields(text).skip(11).take(4).map_while(|it| it.parse().ok()).collect();
    let [user, kernel, user_of_children, kernel_of_children] = ticks[..] else { return None };
    Some([user + user_of_children, kernel + kernel_of_children])
}

/// Returns the fields of `/proc/PID/stat` from the third on: the second may hold blanks and
/// brackets.
fn fields(text: &str) -> impl Iterator<Item = &str> {
    text.rsplit_once(')').unwrap_or_default().1.split_ascii_whitespace()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn cpu_includes_that_of_children_that_were_waited_for() {
        let text = "17 (a) b (c) S 5 17 17 0 -1 4194560 900 0 3 0 230 41 7 2 20 0 9 0 100 5 6";
        assert_eq!(ticks_in(text), Some([237, 43]));
        assert_eq!(fields(text).nth(1), Some("5"));
        assert_eq!((ticks_in("17 (short) S 1"), ticks_in("")), (None, None));
    }

    #[test]
    fn tree_has_the_children_of_children_and_begins_with_the_root() {
        let script = "sh -c 'echo $$; read line'; true";
        let mut child = Command::new("sh");
        let child = child.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let mut line = String::new();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        std::io::BufRead::read_line(&mut output, &mut line).unwrap();
        let grandchild: u32 = line.trim().parse().unwrap();
        assert_eq!(process_tree(child.id()), [child.id(), grandchild]);
        assert!(process_tree(std::process::id()).contains(&grandchild));
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(process_tree(child.id()), [0; 0], "it has ended");
    }
}
