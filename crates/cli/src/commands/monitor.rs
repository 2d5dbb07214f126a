//! `monitor …`

mod html;
mod report;

use sealstone_files::keep;
use sealstone_terminal::text::shown;
use serde_json::json;

use self::report::Report;
use crate::args::{MonitorCommand, MonitorReportArgs};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::monitor;

/// Runs one of them.
pub(crate) fn run(command: &MonitorCommand, context: &Context) -> Result<()> {
    match command {
        MonitorCommand::On => on(context),
        MonitorCommand::Off => off(context),
        MonitorCommand::Report(args) => report(args, context),
    }
}

fn on(context: &Context) -> Result<()> {
    let text = match monitor::directory()?.turn_on()? {
        true => "the monitor is on: it watches `sign` and `verify` on this machine",
        false => "the monitor was on already",
    };
    context.result(text, || json!({"on": true}))
}

fn off(context: &Context) -> Result<()> {
    let text = match monitor::directory()?.turn_off()? {
        true => "the monitor is off, and what it recorded is removed",
        false => "the monitor was off already",
    };
    context.result(text, || json!({"on": false}))
}

fn report(args: &MonitorReportArgs, context: &Context) -> Result<()> {
    let directory = monitor::directory()?;
    if !directory.is_on() {
        return Err(Failure::usage("the monitor is off").hint("turn it on: sealstone monitor on"));
    }
    let monitor = monitor::read(&directory, context)?;
    let report = Report::new(&monitor, context)?;
    let Some(path) = &args.html else {
        return context.print(|| report.text(), || report.value());
    };
    keep::write_new(path, html::page(&report).as_bytes(), keep::PRIVATE)?;
    let text = format!("the report is in {}", shown(path));
    context.result(&text, || json!({"html": shown(path)}))
}
