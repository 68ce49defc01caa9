//! An indexed Job of Kubernetes.
//!
//! Source: Kubernetes 1.37, API reference, Job v1 and Pod v1.

use model::Bytes;
use serde_json::{Value, json};

use super::BlocksJob;

/// Longest name, which leaves room for the suffixes of pods. Source: RFC 1123, 63 for a label.
const NAME_MAX: usize = 50;
/// How often an element is started again.
const RETRIES: u32 = 3;
/// Script of an element: indexes begin with 0, blocks with 1.
const SCRIPT: &str = r#"exec "$0" block "$1" "$((JOB_COMPLETION_INDEX + 1))""#;

/// What a pod has of its node.
#[derive(Debug, Clone)]
pub struct Pod {
    /// Image of the container, with a shell and the libraries of the engines.
    pub image: String,
    /// Claim of the volume with the results, which all nodes share.
    pub results_claim: String,
    /// Directory of the results: the volume is mounted there.
    pub results_dir: String,
    /// Directory of the data: each pod has its own volume there.
    pub data_dir: String,
    /// Size of the volume for data.
    pub data_size: Bytes,
    /// CPUs: a whole number, so that the node may assign whole CPUs.
    pub cpus: u32,
    /// Memory.
    pub memory: Bytes,
}

/// Returns the Job as JSON, which is YAML as well.
///
/// One element runs on a node at a time, and a lost one is replaced when its pod has ended.
pub fn kubernetes(job: &BlocksJob, pod: &Pod) -> String {
    let name = label(&job.name);
    let labels = json!({ "app": "assay", "job": name });
    let object = json!({
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": { "name": name, "labels": labels },
        "spec": {
            "completionMode": "Indexed",
            "completions": job.blocks,
            "parallelism": job.machines.min(job.blocks),
            "backoffLimitPerIndex": RETRIES,
            "podReplacementPolicy": "Failed",
            "template": { "metadata": { "labels": labels }, "spec": pod_spec(job, pod) },
        },
    });
    format!("{object:#}\n")
}

fn pod_spec(job: &BlocksJob, pod: &Pod) -> Value {
    let mut spec = json!({
        "restartPolicy": "Never",
        "automountServiceAccountToken": false,
        "affinity": { "podAntiAffinity": { "requiredDuringSchedulingIgnoredDuringExecution": [{
            "labelSelector": { "matchLabels": { "app": "assay" } },
            "topologyKey": "kubernetes.io/hostname",
        }] } },
        "containers": [container(job, pod)],
        "volumes": [
            { "name": "results", "persistentVolumeClaim": { "claimName": pod.results_claim } },
            { "name": "data", "ephemeral": { "volumeClaimTemplate": { "spec": {
                "accessModes": ["ReadWriteOnce"],
                "resources": { "requests": { "storage": pod.data_size.0.to_string() } },
            } } } },
        ],
    });
    if let Some((key, value)) = job.constraint.as_ref().and_then(|class| class.split_once('=')) {
        spec["nodeSelector"] = json!({ key: value });
    }
    spec
}

fn container(job: &BlocksJob, pod: &Pod) -> Value {
    // Requests equal limits: such a pod is evicted last, and may get exclusive CPUs.
    let resources = json!({ "cpu": pod.cpus.to_string(), "memory": pod.memory.0.to_string() });
    let command = ["/bin/sh", "-c", SCRIPT, &job.program, &job.fleet_dir].map(literal);
    let cache = literal(&format!("{}/.cache", pod.data_dir));
    json!({
        "name": "block",
        "image": pod.image,
        "command": command,
        "env": [
            { "name": "NODE_NAME", "valueFrom": { "fieldRef": { "fieldPath": "spec.nodeName" } } },
            { "name": "XDG_CACHE_HOME", "value": cache },
        ],
        "resources": { "requests": resources, "limits": resources },
        "volumeMounts": [
            { "name": "results", "mountPath": pod.results_dir },
            { "name": "data", "mountPath": pod.data_dir },
        ],
    })
}

/// Returns a text in which Kubernetes replaces no variable.
///
/// Source: Kubernetes, API reference, Container v1, "command": `$$` is one dollar.
fn literal(text: &str) -> String {
    text.replace('$', "$$")
}

/// Returns a text as a label: lower-case letters, digits and dashes within it.
fn label(text: &str) -> String {
    let text = text.to_ascii_lowercase().replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let text: String = text.trim_start_matches('-').chars().take(NAME_MAX).collect();
    text.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kubernetes_replaces_no_sign_of_a_path() {
        let pod = Pod {
            image: "assay".to_owned(),
            results_claim: "results".to_owned(),
            results_dir: "/a b".to_owned(),
            data_dir: "/data".to_owned(),
            data_size: Bytes(1 << 30),
            cpus: 4,
            memory: Bytes(1 << 30),
        };
        let job = BlocksJob { constraint: Some("class=nvme".to_owned()), ..BlocksJob::odd() };
        let value: Value = serde_json::from_str(&kubernetes(&job, &pod)).unwrap();
        let spec = &value["spec"]["template"]["spec"];
        assert_eq!(spec["nodeSelector"], json!({ "class": "nvme" }));
        let command = spec["containers"][0]["command"].as_array().unwrap();
        let expanded: Vec<_> =
            command.iter().map(|word| word.as_str().unwrap().replace("$$", "$")).collect();
        assert_eq!(expanded[2..], [SCRIPT, job.program.as_str(), job.fleet_dir.as_str()]);
    }

    #[test]
    fn names_are_labels() {
        assert_eq!(label("_Quick.Start 20261130T055022-1"), "quick-start-20261130t055022-1");
        assert_eq!(label(&format!("{}.x", "a".repeat(49))), "a".repeat(49));
    }
}
