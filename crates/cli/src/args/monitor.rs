//! `monitor …`

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::file_name;

/// `monitor …`; off by default
#[derive(Subcommand)]
pub(crate) enum MonitorCommand {
    /// Begin to watch signing: times, sizes, rates and tags of contents, on this machine only
    On,
    /// Stop, and remove what was recorded
    Off,
    /// Show what was recorded and noticed
    Report(MonitorReportArgs),
}

/// `monitor report`
#[derive(Args)]
pub(crate) struct MonitorReportArgs {
    /// Write the report as one self-contained page for a browser
    #[arg(long, value_name = "FILE", value_parser = file_name())]
    pub(crate) html: Option<PathBuf>,
}
