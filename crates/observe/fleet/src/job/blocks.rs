//! A job with one element for each block.

/// A job with one element for each block.
#[derive(Debug, Clone)]
pub struct BlocksJob {
    /// Name of the job in the scheduler.
    pub name: String,
    /// Number of blocks.
    pub blocks: u32,
    /// Largest number of machines at the same time.
    pub machines: u32,
    /// Class of the machines: a constraint of Slurm, or `LABEL=VALUE` of a node of Kubernetes.
    pub constraint: Option<String>,
    /// Whole path of the program, on each machine.
    pub program: String,
    /// Whole path of the directory of the blocks, on each machine.
    pub fleet_dir: String,
}

#[cfg(test)]
impl BlocksJob {
    /// Returns a job whose paths have signs that shells, YAML and Kubernetes replace.
    pub(super) fn odd() -> Self {
        let fleet_dir = "/a b/it's $HOME $$ $(id) `id` \"#: %a\\".to_owned();
        Self {
            name: "odd".to_owned(),
            blocks: 6,
            machines: 2,
            constraint: None,
            program: format!("{fleet_dir}/assay"),
            fleet_dir,
        }
    }
}
