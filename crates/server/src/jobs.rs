//! Background jobs, one file each.

pub(crate) mod expiry_job;
pub(crate) mod metrics_job;
pub(crate) mod reconciler_loop;
pub(crate) mod timer_jobs;
