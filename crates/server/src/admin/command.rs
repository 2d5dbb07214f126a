//! `sealstone-server admin` and `sealstone-server audit`.
//!
//! ```no_run
//! use clap::Parser;
//! use sealstone_server::admin::command;
//! use sealstone_server::args::{Cli, Command};
//!
//! let cli = Cli::parse_from(["sealstone-server", "admin", "status", "--data", "d", "--table"]);
//! if let Command::Admin(args) = cli.command {
//!     println!("{}", command::run(&args)?);
//! }
//! # Ok::<(), sealstone_server::Error>(())
//! ```

use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sealstone::Passphrase;
use serde_json::{Value, json};
use x509_cert::der::DateTime;

use super::ask;
use crate::args::{AdminArgs, AdminCommand, AuditCommand};
use crate::audit::{Head, Log};
use crate::clock::Clock;
use crate::store::RedbStore;
use crate::{Error, Result};

/// Does what an operator at the data directory says, and returns what to print.
///
/// # Errors
/// If the service does not run, or refuses.
pub fn run(args: &AdminArgs) -> Result<String> {
    let answer = answer(&args.command)?;
    Ok(match args.table {
        true => tables(&answer),
        false => format!("{answer:#}"),
    })
}

fn answer(command: &AdminCommand) -> Result<Value> {
    let none = json!({});
    let (data, method, path, body) = match command {
        AdminCommand::Status(args) => (args, "GET", "/api/status".to_owned(), none),
        AdminCommand::RotateKeys(args) => (args, "POST", "/api/rotate-keys".to_owned(), none),
        AdminCommand::RevokeKeys(args) => (args, "POST", "/api/revoke-keys".to_owned(), none),
        AdminCommand::Invitations(args) => (args, "GET", "/api/invitations".to_owned(), none),
        AdminCommand::Operators(args) => (args, "GET", "/api/operators".to_owned(), none),
        AdminCommand::Audit { data, before } => {
            let before = before.map(|number| format!("?before={number}"));
            let path = format!("/api/audit{}", before.unwrap_or_default());
            (data, "GET", path, none)
        }
        AdminCommand::Invite {
            data,
            gate,
            quota,
            days,
        } => {
            let body = json!({"gate": gate, "quota": quota, "days": days});
            (data, "POST", "/api/invite".to_owned(), body)
        }
        AdminCommand::Uninvite { data, gate, id } => {
            let body = json!({"gate": gate, "id": id});
            (data, "POST", "/api/uninvite".to_owned(), body)
        }
        AdminCommand::SetOperator {
            data,
            name,
            role,
            password_file,
        } => {
            let password = password_file.as_deref().map(read_password).transpose()?;
            let body = json!({"name": name, "role": role, "password": password});
            (data, "POST", "/api/operators/set".to_owned(), body)
        }
        AdminCommand::RemoveOperator { data, name } => {
            let body = json!({"name": name});
            (data, "POST", "/api/operators/remove".to_owned(), body)
        }
        AdminCommand::EndSessions { data, name } => {
            let body = json!({"name": name});
            (data, "POST", "/api/operators/end-sessions".to_owned(), body)
        }
    };
    ask(&data.data, method, &path, &body)
}

fn read_password(path: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let read = match path == Path::new("-") {
        true => std::io::stdin().read_to_end(&mut bytes).map(drop),
        false => std::fs::read(path).map(|content| bytes = content),
    };
    read.map_err(|e| Error::io(path, e))?;
    let line = Passphrase::from_line(&bytes)?;
    let text = std::str::from_utf8(line.expose());
    let text = text.map_err(|_| Error::Config("the password is not UTF-8".to_owned()))?;
    Ok(text.to_owned())
}

/// Checks the audit log, through the service if it runs.
///
/// # Errors
/// If the log was altered, or cannot be read.
pub fn audit(command: &AuditCommand) -> Result<String> {
    let AuditCommand::Verify { data, expect } = command;
    let expected: Option<Head> = expect.as_deref().map(str::parse).transpose()?;
    let query = expected.as_ref().map(|end| format!("?expect={end}"));
    let path = format!("/api/audit/verify{}", query.unwrap_or_default());
    let answer = match ask(&data.data, "GET", &path, &json!({})) {
        Ok(answer) => answer,
        Err(Error::Io(..)) => return verify_stored(&data.data, expected.as_ref()),
        Err(error) => return Err(error),
    };
    match answer["end"].as_str() {
        Some(end) => Ok(format!("whole, up to {end}")),
        None => {
            let what = answer["altered"].as_str().unwrap_or("the audit log");
            Err(Error::Damaged(what.to_owned()))
        }
    }
}

/// The service does not run: reads its embedded store.
fn verify_stored(data: &Path, expected: Option<&Head>) -> Result<String> {
    let path = data.join("store.redb");
    if !path.exists() {
        return Err(Error::io(&path, std::io::ErrorKind::NotFound.into()));
    }
    let log = Log::new(Arc::new(RedbStore::open(&path)?), Clock::system());
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|e| Error::io("the runtime".as_ref(), e))?;
    let end = runtime.block_on(log.verify(expected))?;
    Ok(format!("whole, up to {end}"))
}

/// Members whose numbers are seconds since 1970.
const TIMES: [&str; 6] = [
    "now",
    "time",
    "until",
    "not-before",
    "issue-until",
    "redeem-until",
];

/// Each list of objects as a table, each other value in a line. Lists of lists are for curves.
fn tables(value: &Value) -> String {
    let Some(members) = value.as_object() else {
        return text(value);
    };
    let mut lines = Vec::new();
    for (name, value) in members {
        match value {
            Value::Array(rows) if rows.iter().any(Value::is_object) => {
                lines.push(format!("{name}:"));
                lines.extend(table(rows));
            }
            Value::Array(rows) if rows.iter().any(Value::is_array) => {}
            Value::Object(members) => {
                lines.push(format!("{name}:"));
                let inner = members.iter();
                lines.extend(inner.map(|(name, value)| format!("  {name}  {}", cell(name, value))));
            }
            _ => lines.push(format!("{name}: {}", cell(name, value))),
        }
    }
    lines.join("\n")
}

fn table(rows: &[Value]) -> Vec<String> {
    let mut columns: Vec<&str> = Vec::new();
    for name in rows
        .iter()
        .filter_map(Value::as_object)
        .flat_map(|row| row.keys())
    {
        if !columns.contains(&name.as_str()) {
            columns.push(name);
        }
    }
    let head = columns.iter().map(|&name| name.to_owned()).collect();
    let cells = |row: &Value| columns.iter().map(|name| cell(name, &row[*name])).collect();
    let lines: Vec<Vec<String>> = std::iter::once(head)
        .chain(rows.iter().map(cells))
        .collect();
    let width = |column: usize| {
        let lengths = lines.iter().map(|line| line[column].chars().count());
        lengths.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let line = |cells: &Vec<String>| {
        let padded = cells.iter().zip(&widths);
        let padded: String = padded
            .map(|(cell, width)| format!("  {cell:<width$}"))
            .collect();
        padded.trim_end().to_owned()
    };
    lines.iter().map(line).collect()
}

/// A value of a member; times in UTC, as people read them.
fn cell(name: &str, value: &Value) -> String {
    let seconds = value.as_u64().filter(|_| TIMES.contains(&name));
    let time = seconds.map(|seconds| DateTime::from_unix_duration(Duration::from_secs(seconds)));
    match time {
        Some(Ok(time)) => time.to_string(),
        _ => text(value),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_columns() {
        let value = json!({
            "now": 951_782_399, "history": [[1, 2]], "keys": [{"epoch": 1, "type": 2}, {"epoch": 10, "type": null}],
            "gate": {"kind": "none"}, "names": ["a"],
        });
        let expected = "gate:\n  kind  none\nkeys:\n  epoch  type\n  1      2\n  10     -\n\
            names: [\"a\"]\nnow: 2000-02-28T23:59:59Z";
        assert_eq!(tables(&value), expected);
    }
}
