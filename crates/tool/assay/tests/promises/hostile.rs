//! Experiments in one file, as a stranger would write them to stop the machine.

use std::collections::BTreeMap;
use std::io::{Read as _, Write};

use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tar::{Archive, EntryType, Header};

use crate::stored::PAIR;

/// Place in a header of gzip of how thoroughly the file was compressed. Source: RFC 1952, 2.3.
const XFL: usize = 8;
/// What files of experiments have there: readers refuse others.
const BEST: u8 = 2;

/// The files of an experiment, by name; changed before they are packed.
pub(crate) struct HostileBundle {
    pub(crate) manifest: Value,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
}

impl HostileBundle {
    /// Returns the stored experiment of two variants, each run twice.
    pub(crate) fn of_pair() -> Self {
        let mut archive = Archive::new(GzDecoder::new(PAIR));
        let mut files = BTreeMap::new();
        for entry in archive.entries().expect("an archive") {
            let mut entry = entry.expect("a member");
            let name = entry.path().expect("a name").display().to_string();
            let mut content = Vec::new();
            entry.read_to_end(&mut content).expect("it is whole");
            files.insert(name, content);
        }
        files.remove("assay.json");
        let manifest = serde_json::from_slice(&files["manifest.json"]).expect("a manifest");
        // Of the files that are changed.
        files.retain(|name, _| !name.ends_with("checksums"));
        Self { manifest, files }
    }

    /// Returns the record of a run.
    pub(crate) fn record(&self, cell: &str) -> Value {
        let record = &self.files[&format!("runs/{cell}/record.json")];
        serde_json::from_slice(record).expect("a record")
    }

    /// Returns the experiment of the manifest.
    pub(crate) fn experiment(&mut self) -> &mut Value {
        &mut self.manifest["plan"]["experiment"]
    }

    /// Replaces the plan by one of so many variants, steps and repetitions, without runs.
    pub(crate) fn replan(&mut self, variants: usize, steps: usize, repetitions: usize) {
        let experiment = self.experiment();
        let (variant, step) = (experiment["variants"][0].clone(), experiment["steps"][1].clone());
        let named = |of: &Value, letter: char, number: usize| {
            let mut one = of.clone();
            one["name"] = json!(format!("{letter}{number}"));
            one
        };
        experiment["variants"] = (0..variants).map(|at| named(&variant, 'v', at)).collect();
        experiment["steps"] = (0..steps).map(|at| named(&step, 's', at)).collect();
        experiment["base"] = json!("v0");
        experiment["repetitions"] = json!(repetitions);
        let cell = |number: usize| {
            let (variant, repetition) = (number % variants, number / variants + 1);
            json!({
                "id": format!("v{variant}.c1.r{repetition}"), "variant": format!("v{variant}"),
                "clients": 1, "repetition": repetition, "seed": repetition,
            })
        };
        self.manifest["plan"]["cells"] = (0..variants * repetitions).map(cell).collect();
        self.files.retain(|name, _| !name.starts_with("runs/"));
    }

    /// Adds a run of every planned cell; its record has the planned steps and little else.
    pub(crate) fn add_runs(&mut self, record: &Value) {
        let steps = self.experiment()["steps"].clone();
        let steps = steps.as_array().expect("a list").iter().enumerate().map(|(index, step)| {
            let mut executed = record["steps"][1].clone();
            for readings in ["counters", "gauges_max", "gauges_end", "before", "after"] {
                executed[readings] = json!({});
            }
            (executed["index"], executed["step"]) = (json!(index), step.clone());
            executed
        });
        let mut record = record.clone();
        record["steps"] = steps.collect();
        record["effective_options"] = json!({});
        let id = self.manifest["id"].as_str().expect("a text").to_owned();
        for cell in self.manifest["plan"]["cells"].as_array().expect("a list").clone() {
            let name = cell["id"].as_str().expect("a text");
            record["id"] = json!(format!("{id}/{name}"));
            record["variant"]["name"] = cell["variant"].clone();
            record["cell"] = cell.clone();
            let text = serde_json::to_vec(&record).expect("JSON");
            self.files.insert(format!("runs/{name}/record.json"), text);
        }
    }

    /// Packs the file.
    pub(crate) fn pack(self) -> Vec<u8> {
        let text = serde_json::to_vec(&self.manifest).expect("JSON");
        self.pack_with_manifest(text)
    }

    /// Packs the file with this text in the place of the manifest.
    pub(crate) fn pack_with_manifest(self, text: Vec<u8>) -> Vec<u8> {
        let (mut file, files) = self.begun(text);
        for (name, content) in &files {
            append(&mut file, name, EntryType::Regular, content);
        }
        ended(file)
    }

    /// Packs the index, then a header of that kind which announces 5 GiB, and many bytes of it.
    ///
    /// A reader that takes them all has taken too much.
    pub(crate) fn pack_with_header(self, kind: EntryType) -> Vec<u8> {
        let text = serde_json::to_vec(&self.manifest).expect("JSON");
        let (mut file, _) = self.begun(text);
        let mut header = Header::new_gnu();
        header.set_path("././@LongLink").expect("it is short");
        header.set_entry_type(kind);
        header.set_size(5 << 30);
        header.set_cksum();
        file.write_all(header.as_bytes()).expect("memory");
        let part = vec![b'a'; 1 << 20];
        (0..400).for_each(|_| file.write_all(&part).expect("memory"));
        ended(file)
    }

    /// Begins the file with its index; returns the files that follow.
    fn begun(mut self, text: Vec<u8>) -> (GzEncoder<Vec<u8>>, BTreeMap<String, Vec<u8>>) {
        let sum = |content: &[u8]| {
            let sum = Sha256::digest(content);
            sum.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
        };
        // Once: it may have hundreds of MiB.
        let sum_of_manifest = sum(&text);
        let list = format!("{sum_of_manifest}  manifest.json\n");
        self.files.insert("checksums".to_owned(), list.into_bytes());
        self.files.insert("manifest.json".to_owned(), text);
        let member = |(name, content): (&String, &Vec<u8>)| {
            let is_manifest = name == "manifest.json";
            let sum = if is_manifest { sum_of_manifest.clone() } else { sum(content) };
            json!({ "name": name, "bytes": content.len(), "sha256": sum })
        };
        let index = json!({
            "format": 1,
            "experiment": self.manifest["plan"]["experiment"]["name"],
            "id": self.manifest["id"],
            "assay_version": "0.1.0",
            "files": self.files.iter().map(member).collect::<Value>(),
        });
        let index = serde_json::to_vec(&index).expect("JSON");
        // Hundreds of MiB become a small file at any level.
        let mut file = GzBuilder::new().write(Vec::new(), Compression::fast());
        append(&mut file, "assay.json", EntryType::Regular, &index);
        (file, self.files)
    }
}

fn append(file: &mut GzEncoder<Vec<u8>>, name: &str, kind: EntryType, content: &[u8]) {
    let mut header = Header::new_gnu();
    header.set_path(name).expect("it is short");
    header.set_entry_type(kind);
    header.set_size(content.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    for part in [header.as_bytes(), content, &vec![0; content.len().wrapping_neg() % 512]] {
        file.write_all(part).expect("memory");
    }
}

fn ended(mut file: GzEncoder<Vec<u8>>) -> Vec<u8> {
    file.write_all(&[0; 1024]).expect("memory");
    let mut packed = file.finish().expect("memory");
    packed[XFL] = BEST;
    packed
}
