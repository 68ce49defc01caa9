//! The JSON that fio reports, as samples.

use model::{IoCpu, IoSample, IoTotals, OtherPercentiles};
use serde::Deserialize;

use crate::error::DeviceError;

/// Microseconds in a percent of a millisecond.
const US_PER_PERCENT_OF_MS: f64 = 10.0;

/// The output of one run. Source: fio's manual, "JSON output"; fio 3.33.
#[derive(Debug, Deserialize)]
struct Output {
    jobs: Vec<Group>,
}

/// All jobs, reported as one group.
#[derive(Debug, Deserialize)]
struct Group {
    error: i32,
    read: Side,
    write: Side,
    sync: Sync,
    /// Time of all jobs together, in milliseconds.
    job_runtime: u64,
    /// CPU of that time, in percent.
    usr_cpu: f64,
    sys_cpu: f64,
}

/// Requests of one direction.
#[derive(Debug, Deserialize)]
struct Side {
    io_bytes: u64,
    iops: f64,
    total_ios: u64,
    /// Time of the group in this direction, in milliseconds.
    runtime: u64,
    lat_ns: Times,
}

/// Syncs: they have no count of their own in every version.
#[derive(Debug, Deserialize)]
struct Sync {
    lat_ns: Times,
}

#[derive(Debug, Deserialize)]
struct Times {
    mean: f64,
    max: u64,
    #[serde(rename = "N")]
    count: u64,
    percentile: Option<Percentiles>,
}

#[derive(Debug, Deserialize)]
struct Percentiles {
    #[serde(rename = "50.000000")]
    p50: u64,
    #[serde(rename = "90.000000")]
    p90: Option<u64>,
    #[serde(rename = "99.000000")]
    p99: u64,
    #[serde(rename = "99.900000")]
    p999: Option<u64>,
    #[serde(rename = "99.990000")]
    p9999: Option<u64>,
}

/// Returns the sample in the output of a run.
///
/// # Errors
/// When it is no output of fio, a job of it failed, or percentiles are missing.
pub(crate) fn parse(text: &str) -> Result<IoSample, DeviceError> {
    // Remarks may stand before the JSON.
    let json = &text[text.find('{').unwrap_or(0)..];
    let output: Output = serde_json::from_str(json)?;
    let [group] = &output.jobs[..] else {
        return Err(DeviceError::Fio(format!("{} groups of jobs, not one", output.jobs.len())));
    };
    if group.error != 0 {
        let error = std::io::Error::from_raw_os_error(group.error);
        return Err(DeviceError::Fio(format!("a job ended with: {error}")));
    }
    let side = |side: &Side| {
        let Side { total_ios, io_bytes, iops, lat_ns, .. } = side;
        (*total_ios > 0).then(|| lat_ns.totals(*total_ios, *io_bytes, *iops)).transpose()
    };
    let seconds = group.write.runtime as f64 / 1e3;
    let syncs = group.sync.lat_ns.count;
    let per_s = syncs as f64 / seconds;
    let is_synced = syncs > 0 && seconds > 0.0;
    Ok(IoSample {
        read: side(&group.read)?,
        write: side(&group.write)?,
        sync: is_synced.then(|| group.sync.lat_ns.totals(syncs, 0, per_s)).transpose()?,
        issued: None,
        cpu: Some(IoCpu {
            user_us: group.usr_cpu * US_PER_PERCENT_OF_MS * group.job_runtime as f64,
            kernel_us: group.sys_cpu * US_PER_PERCENT_OF_MS * group.job_runtime as f64,
        }),
    })
}

impl Times {
    /// Returns these times with their requests, bytes and rate.
    fn totals(&self, requests: u64, bytes: u64, per_s: f64) -> Result<IoTotals, DeviceError> {
        let missing = || {
            let reason = "this release prints no percentiles of response times \
                          (`lat_percentiles`): install a later release";
            DeviceError::Fio(reason.to_owned())
        };
        let Percentiles { p50, p90, p99, p999, p9999 } =
            *self.percentile.as_ref().ok_or_else(missing)?;
        let others = p90.zip(p999).zip(p9999).map(|((p90_ns, p999_ns), p9999_ns)| {
            OtherPercentiles { p90_ns, p999_ns, p9999_ns, max_ns: self.max }
        });
        let (p50_ns, p99_ns) = (p50, p99);
        Ok(IoTotals { requests, bytes, per_s, mean_ns: self.mean, p50_ns, p99_ns, others })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const READ: &str = include_str!("../tests/data/randread-4k.json");
    const MIXED: &str = include_str!("../tests/data/randrw-4k.json");
    const SYNC: &str = include_str!("../tests/data/fdatasync-4k.json");
    const FAILED: &str = include_str!("../tests/data/failed.json");

    #[test]
    fn reads_have_rate_and_percentiles_and_nothing_was_written() {
        let sample = parse(READ).unwrap();
        let read = sample.read.unwrap();
        assert_eq!((sample.write, sample.sync), (None, None));
        let cpu = sample.cpu.unwrap();
        assert!((cpu.user_us - 13_000.0).abs() < 1e-6, "0.65 % of 2000 ms: {cpu:?}");
        assert_eq!(read.bytes, 4096 * read.requests);
        assert!(read.p50_ns > 0 && read.p50_ns <= read.p99_ns, "{read:?}");
        assert!(read.mean_ns > 0.0 && read.per_s > 100.0, "{read:?}");
    }

    #[test]
    fn requests_without_percentiles_are_refused() {
        let without = READ.replace("\"percentile\"", "\"other\"");
        assert_ne!(without, READ);
        let error = parse(&without).unwrap_err().to_string();
        assert!(error.contains("no percentiles"), "{error}");
    }

    #[test]
    fn mixed_requests_are_apart_and_syncs_are_counted() {
        let mixed = parse(MIXED).unwrap();
        let share = mixed.read.unwrap().per_s / (mixed.write.unwrap().per_s);
        assert!((1.8..3.0).contains(&share), "70 to 30: {share}");
        let synced = parse(SYNC).unwrap();
        let (write, sync) = (synced.write.unwrap(), synced.sync.unwrap());
        assert!((sync.per_s / write.per_s - 1.0).abs() < 0.05, "{synced:?}");
        assert!(sync.mean_ns > write.mean_ns, "{synced:?}");
    }

    #[test]
    fn failed_jobs_and_other_texts_are_errors() {
        let error = parse(FAILED).unwrap_err().to_string();
        assert!(error.contains("a job ended with:"), "{error}");
        assert!(parse("fio: no such file\n").is_err());
        assert!(parse("{\"jobs\": []}").unwrap_err().to_string().contains("0 groups"));
    }
}
