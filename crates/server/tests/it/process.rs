//! The process: configuration, start, limits, log and shutdown.

mod check_live;
mod configuration;
mod example_file;
mod facilitator_restart;
mod http_basics;
mod personal_data;
mod rehearsal;
mod shutdown;
mod shutdown_during_submit;
mod slow_clients;
