//! The list of proved functions, which the command compares itself with (`selftest --proofs`).

use crate::gate::{self, list, text};
use serde_json::{Value, json};
use std::path::Path;

const PATH: &str = "crates/cli/src/commands/selftest/proved.json";

/// Writes the list, or compares it: with that of a program that the same compiler has made, for
/// others make other code.
pub(super) fn update(root: &Path, proofs: &Value, only_check: bool) -> Result<(), String> {
    let path = root.join(PATH);
    let [kernels, mut others] = ["kernels", "others"].map(|name| functions_of(&proofs[name]));
    others.retain(|kernel| kernel["verdict"] == "PROVED");
    if kernels.is_empty() {
        return Err("no kernel of the command is proved".into());
    }
    let compiler = text(&proofs["compiler"]);
    if !only_check {
        return write(&path, compiler, [&kernels, &others])
            .map_err(|error| format!("{PATH}: {error}"));
    }
    let old: Value = serde_json::from_str(&gate::read(&path)?).map_err(|e| e.to_string())?;
    let before = text(&old["compiler"]);
    if before != compiler {
        println!("{PATH}: not compared, for it is of {before}, and the command of {compiler}");
    } else if list(&old["kernels"]) != kernels || list(&old["others"]) != others {
        return Err(format!(
            "{PATH} is not up to date: run cargo xtask assurance --proofs, and build again"
        ));
    } else {
        let (ours, others) = (kernels.len(), others.len());
        println!("{PATH}: {ours} kernels, and {others} of others");
    }
    Ok(())
}

/// Kernels of others that are written in C. Their machine code is of the C compiler, which the list
/// does not name.
const OF_C: [&str; 1] = ["aws-lc CRYPTO_hchacha20"];

/// The functions of each kernel of the command.
fn functions_of(kernels: &Value) -> Vec<Value> {
    let all = list(kernels).iter();
    let shipped = all.filter(|kernel| kernel["program"] == "sealstone");
    let listed = shipped.filter(|kernel| !OF_C.contains(&text(&kernel["kernel"])));
    let kernels = listed.map(|kernel| {
        let functions = list(&kernel["functions"]).iter().map(|function| {
            json!({
                "symbol": function["symbol"],
                "size": function["size"],
                "sha256": function["sha256"],
                "distances": function["distances"],
            })
        });
        json!({
            "kernel": kernel["kernel"],
            "instruction_set": kernel["instruction_set"],
            "program": kernel["program"],
            "verdict": kernel["verdict"],
            "functions": functions.collect::<Vec<_>>(),
        })
    });
    kernels.collect()
}

/// A line for each kernel: ours, then those of others.
fn write(path: &Path, compiler: &str, kernels: [&[Value]; 2]) -> std::io::Result<()> {
    let [ours, others] = kernels.map(|kernels| {
        let lines = kernels.iter().map(|kernel| format!("    {kernel}"));
        lines.collect::<Vec<_>>().join(",\n")
    });
    let compiler = json!(compiler);
    let text = format!(
        "{{\n  \"compiler\": {compiler},\n  \"kernels\": [\n{ours}\n  ],\n  \
         \"others\": [\n{others}\n  ]\n}}\n"
    );
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    std::fs::write(path, text)
}
