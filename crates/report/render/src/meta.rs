//! Captions: the facts of an experiment.

use analysis::{effective_hosts, machines_of};
use model::{
    Bytes, DataShape, Durability, Experiment, Host, Hosts, Manifest, RunRecord, Waiver, in_line,
};
use serde::Serialize;

use crate::figure::count;

/// The facts of an experiment that captions need.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Meta {
    /// Identifier of the archive entry.
    pub id: String,
    /// The experiment's name.
    pub name: String,
    /// What selects its results on the command line: its name, or the names that were given.
    #[serde(skip)]
    pub selection: Vec<String>,
    /// The question.
    pub question: String,
    /// Name, size and question in one line.
    #[serde(skip)]
    pub title: String,
    /// Name of the size it was run at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// The machine in one line.
    pub host: String,
    /// The rows in one line, with any cap on memory.
    pub data: String,
    /// Number and size of the rows.
    pub shape: DataShape,
    /// The cap on memory.
    pub memory_bytes: Option<Bytes>,
    /// The durability class and its guarantee, or the classes when they differ.
    pub durability: String,
    /// Disclaimer of the application about its figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disclaimer: Option<String>,
    /// Rules that the author set aside.
    pub waivers: Vec<Waiver>,
    /// Repetitions of the pilot; `None` where none were added after it.
    pub pilot_repetitions: Option<u32>,
}

impl Meta {
    /// Returns the facts of the experiment of `manifest`.
    pub fn of(manifest: &Manifest) -> Self {
        Self::on(manifest, &manifest.host)
    }

    /// Returns the facts of the experiment of `manifest` with the machines of its runs.
    pub fn of_runs(manifest: &Manifest, runs: &[RunRecord]) -> Self {
        let host = effective_hosts(&manifest.host, runs)[0];
        let machines = machines_of(runs);
        let meta = Self::on(manifest, host);
        if machines.len() < 2 {
            return meta;
        }
        let is_one_class = machines.iter().all(|one| one.host.is_same_machine(host));
        let class = match is_one_class {
            true => format!("of class {}", host.fingerprint),
            false => "of several classes, the first".to_owned(),
        };
        let names: Vec<&str> = machines.iter().map(|one| one.name.as_str()).collect();
        let names = names.join(", ");
        let line = format!("{} machines {class} ({names}): {}", machines.len(), meta.host);
        Self { host: line, ..meta }
    }

    fn on(manifest: &Manifest, host: &Host) -> Self {
        let experiment = &manifest.plan.experiment;
        Self {
            id: manifest.id.clone(),
            name: experiment.name.clone(),
            selection: vec![experiment.name.clone()],
            question: in_line(&experiment.question).into_owned(),
            title: in_line(&experiment.title()).into_owned(),
            size: experiment.size.clone(),
            host: match &experiment.hosts {
                // The facts are facts of the server's host.
                Some(Hosts { server, clients, .. }) => {
                    let clients = clients.join(", ");
                    format!("clients on {clients}; server on {server}: {}", host_line(host))
                }
                None => host_line(host),
            },
            data: data_line(experiment),
            shape: experiment.data,
            memory_bytes: experiment.memory_bytes,
            durability: durability_line(experiment, host),
            disclaimer: experiment.application.as_ref().and_then(|it| it.disclaimer.clone()),
            waivers: experiment.waivers.clone(),
            pilot_repetitions: manifest.plan.pilot_repetitions,
        }
    }
}

/// Returns the machine in one line, the most important facts first.
pub(crate) fn host_line(host: &Host) -> String {
    let cpu = host.cpu_model.as_deref().unwrap_or("CPU");
    let disk: Vec<&str> =
        [&host.device_model, &host.filesystem].into_iter().flatten().map(String::as_str).collect();
    let mut parts = vec![format!("{} \u{d7} {cpu}", host.cpus), host.memory_bytes.to_string()];
    if !disk.is_empty() {
        parts.push(disk.join(", "));
    }
    // "Linux 6.18.1 x86_64": name and release are enough here.
    parts.push(host.kernel.split(' ').take(2).collect::<Vec<_>>().join(" "));
    parts.extend(host.clocksource.clone());
    parts.join(" \u{b7} ")
}

/// Returns number and size of the rows, and any cap on memory.
fn data_line(experiment: &Experiment) -> String {
    let data = &experiment.data;
    if let Some(device) = &experiment.device {
        return format!("a file of {}", device.file_bytes());
    }
    let rows = count(data.rows);
    let rows = format!("{rows} rows of {} + {} bytes", data.key_bytes, data.value_bytes);
    match experiment.memory_bytes {
        Some(cap) => format!("{rows}, memory capped at {cap}"),
        None => rows,
    }
}

/// Returns the durability class with its guarantee, or each class with its variants.
///
/// What the data's file system does not allow is stated too.
fn durability_line(experiment: &Experiment, host: &Host) -> String {
    if experiment.device.is_some() {
        return "requests of fio to storage, without an engine".to_owned();
    }
    let of_class = |class: &Durability| {
        let own = experiment.variants.iter().filter(|one| one.settings.durability == *class);
        own.map(|variant| variant.name.as_str()).collect::<Vec<_>>()
    };
    let text = |class: &Durability| format!("{class} ({})", class.guarantee());
    let used: Vec<Durability> =
        Durability::ALL.into_iter().filter(|class| !of_class(class).is_empty()).collect();
    let line = match &used[..] {
        [only] => format!("durability class {}", text(only)),
        classes => {
            let part = |class| format!("{}: {}", text(class), of_class(class).join(", "));
            let parts: Vec<String> = classes.iter().map(part).collect();
            format!("durability classes DIFFER: {}", parts.join("; "))
        }
    };
    let mut ours = experiment.variants.iter().filter(|variant| variant.dsn.is_none());
    let storage = host.storage.as_ref();
    match storage.filter(|it| ours.any(|variant| variant.settings.durability > it.class)) {
        Some(basis) => format!("{line}; NOT HAD: {basis}"),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use model::CpuCount;

    use super::*;

    #[test]
    fn host_with_few_facts_still_has_a_line() {
        let host = Host {
            cpus: CpuCount::of(4),
            memory_bytes: Bytes::GIB,
            kernel: "Linux 6.18.1 x86_64".to_owned(),
            ..Host::default()
        };
        assert_eq!(host_line(&host), "4 \u{d7} CPU \u{b7} 1.00 GiB \u{b7} Linux 6.18.1");
        let capped = Host { cpus: CpuCount::of_quota(150, 100), ..host };
        assert!(host_line(&capped).starts_with("1.5 \u{d7} CPU"));
    }
}
