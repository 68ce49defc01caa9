//! Shared data types: experiments, plans, records, metrics, units.
//!
//! This crate is not a place for behaviour: it reads no file, no clock and starts no thread.
//! It stands at the top of the tree; it imports nothing of ours.
//!
//! Invariants: a quantity carries its unit in its type or last in its name; an unknown value is
//! `None`, never 0; every archived type is declared here, once.
//!
//! To add a metric, add one line to the table of [`metric`].

pub mod allocator;
pub mod buckets;
pub mod build;
pub mod capability;
pub mod client_host;
mod clock_record;
mod cpu_count;
pub mod cuts;
pub mod device;
pub mod doctor;
mod drive;
mod exact;
pub mod experiment;
mod experiment_check;
mod failure;
mod finding;
mod guarantee;
pub mod histogram;
pub mod host;
pub mod label;
pub mod limits;
pub mod load;
pub mod metric;
mod metric_groups;
mod metric_kind;
pub mod micro;
mod names;
pub mod number;
mod op_summary;
pub mod operation;
pub mod options;
pub mod privilege;
pub mod profile;
pub mod published;
mod readings;
pub mod record;
mod record_check;
pub mod rule_code;
mod run_end;
pub mod secret;
pub mod setting;
mod shared_load;
mod shell;
pub mod smoke_test;
pub mod spreadsheet;
pub mod sql;
pub mod state;
pub mod step;
mod step_event;
mod system_needs;
pub mod time_profile;
mod topic;
pub mod units;
pub mod validity;
mod visible;
mod write_check;

pub use allocator::{Allocator, Bin, MallocRecord};
pub use buckets::Buckets;
pub use build::{BuildRef, Identity, WATCHED};
pub use capability::{Capabilities, Durability, OpKind};
pub use client_host::{ClientHost, ClockOffset, Hosts};
pub use cpu_count::CpuCount;
pub use cuts::{
    AfterCut, Calibrator, CutCampaign, CutFault, CutFileSystem, CutKind, CutLevel, CutPlan,
    CutRecord, Forgotten, Losses, Survivors,
};
pub use device::{
    Access, DEVICE_SCHEMA, DeviceCell, DeviceRecord, DeviceSpec, DeviceTarget, FIO, IoCpu,
    IoPattern, IoSample, IoTest, IoTotals, IssuedRequests, OtherPercentiles, SteadyLevel,
    TracedRun, TracedTimes,
};
pub use doctor::{CheckResult, CheckState, HostCheck, MachineRemedy};
pub use drive::{DriveHealth, DriveSpan};
pub use experiment::{Cell, DataShape, Experiment, Plan, Variant};
pub use guarantee::{DurabilityBasis, DurabilityRecord};
pub use host::{DataPlace, Host, Machine};
pub use label::{Label, Waiver};
pub use load::{Arrivals, Limit, Load, OpenLoad, PIPELINE_MAX, Pace, Pacing, Rate, RatePiece};
pub use metric::{Better, Kind, Metric, Unit};
pub use micro::{Implementation, Kernel, KernelTimes, MicroRecord};
pub use number::{count, float, percent, whole};
pub use operation::{Direction, EntryRef, Op, Outcome};
pub use options::Options;
pub use privilege::Privilege;
pub use profile::{Frame, Profile, ProfileBuilder, ProfileRecord, ProfileTarget, Stack, Unwinder};
pub use published::{Expected, Published, PublishedFinding};
pub use readings::Readings;
pub use record::{IntervalRecord, Manifest, RunEnd, RunRecord, StepRecord};
pub use secret::Password;
pub use setting::{Setting, Settings};
pub use shared_load::{LoadReuse, LoadSharing, PageCache, SharedLoad, Transfer};
pub use shell::{ShellCommand, carry_options, shell_word};
pub use smoke_test::SmokeTestFailure;
pub use sql::server::{
    Address, AuthMethod, ClientCertificate, Dsn, Endpoint, LoginOptions, Placement, Replica,
    ServerRole, Tls, Transport,
};
pub use sql::statement_record::{StatementRecord, StatementState, StatementTotals};
pub use sql::waits::{SamplingEffect, SessionWaits, WaitProfile};
pub use sql::{Application, Argument, Bounds, Call, Dialect, server, waits};
pub use state::{EngineState, TableReadings};
pub use step::{OpUnit, Step, StepClients, StepInfo, StepRole, StopRule};
pub use step_event::{
    EVENT_STEP_MAX, EventKind, EventRecord, ReconnectPolicy, SIMULATED_DATA_MAX, StepEvent,
    TimeSpan,
};
pub use system_needs::{AccountNeed, Need, ServerLoad, SystemNeeds};
pub use time_profile::{Cycle, Drift, Stalls, TimeProfile, TrendClass};
pub use topic::Topic;
pub use units::{Bytes, Nanos, difference, times};
pub use visible::{in_line, is_obeyed, shortened, visible};
pub use write_check::WriteCheck;
