//! The arguments of `pennyblack audit`, `report` and `backup`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::cli::orders::ConnectionArguments;
use crate::cli::time_argument::TimeArgument;
use crate::config::values::vat_rate::VatRate;

pub(crate) const AUDIT_HELP: &str = "\
Compares every USDC transfer to the sellers' accounts and every card of the provider account in the
period with the orders, to the unit, and lists what does not agree. Payments whose blocks are not
final yet are counted and not compared, so end the period an hour ago or earlier.

Examples:
  pennyblack audit --from 2026-11-01 --to 2026-12-01
  pennyblack audit --from 7d --to 1h --json

Exit codes:
  0  everything agrees
  1  there are differences, or something could not be compared
  2  an argument or the configuration is invalid";

pub(crate) const REPORT_HELP: &str = "\
One row for each order whose payment settled in the period, the order that began last first. Times are
in UTC. cost is the provider's total in USD; charge, vat and refund_amount are in USDC, and
charge_atomic in units of 0.000001 USDC; gas_wei is what
our own settler paid, and empty if another account sent the transaction. vat is the tax that the charge
includes: charge x rate / (100 + rate), rounded half up to 0.000001 USDC for each row.

Examples:
  pennyblack report --from 2026-11-01 --to 2026-12-01 --format csv > november.csv
  pennyblack report --from 2026-11-01 --to 2026-12-01 --format json --vat 19";

pub(crate) const BACKUP_HELP: &str = "\
Copies the SQLite store while the service runs, and verifies the copy. The service writes the file, so
the folder must be writable for its user. Orders in PostgreSQL are backed up with pg_dump.

The key file (keys.file) is not part of it: keep a copy of it elsewhere. Without it, cards that are
still owed cannot be read.

Example:
  pennyblack backup /var/backups/pennyblack-2026-11-15.sqlite3";

#[derive(Clone, Args)]
pub(crate) struct PeriodArguments {
    /// The beginning: a time, a day such as 2026-11-01, or an age such as 7d
    #[arg(long, value_name = "TIME")]
    pub from: TimeArgument,

    /// The end, which is not part of it; default: now
    #[arg(long, value_name = "TIME", default_value = "0s", hide_default_value = true)]
    pub to: TimeArgument,
}

#[derive(Clone, Args)]
pub(crate) struct AuditArguments {
    #[command(flatten)]
    pub connection: ConnectionArguments,

    #[command(flatten)]
    pub period: PeriodArguments,

    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReportFormat {
    Csv,
    Json,
}

#[derive(Clone, Args)]
pub(crate) struct ReportArguments {
    #[command(flatten)]
    pub connection: ConnectionArguments,

    #[command(flatten)]
    pub period: PeriodArguments,

    /// The format of the output
    #[arg(long, value_enum, default_value = "csv")]
    pub format: ReportFormat,

    /// The VAT that a charge includes; default: report.vat_percent
    #[arg(long, value_name = "PERCENT")]
    pub vat: Option<VatRate>,
}

#[derive(Clone, Args)]
pub(crate) struct BackupArguments {
    #[command(flatten)]
    pub connection: ConnectionArguments,

    /// The file to create
    pub file: PathBuf,
}
