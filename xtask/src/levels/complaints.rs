//! Complaints about proofs.

use super::Found;
use crate::gate::{list, text};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Complaints about one program.
pub(super) fn of(found: &Found) -> Vec<String> {
    let mut wrong = Vec::new();
    match &found.proofs {
        None => wrong.push("nothing was proved".into()),
        Some(proofs) => {
            if !text(&proofs["only"]).is_empty() {
                wrong.push("only a part was proved".into());
            }
            wrong.extend(list(&proofs["kernels"]).iter().filter_map(not_proved));
            wrong.extend(models(&proofs["models"]));
            if proofs["proved"] != true {
                wrong.push("the prover says that this is not a proof".into());
            }
        }
    }
    let name = found.way.name();
    wrong
        .iter()
        .map(|message| format!("{name}: {message}"))
        .collect()
}

fn not_proved(row: &Value) -> Option<String> {
    let (verdict, reason) = (text(&row["verdict"]), text(&row["reason"]));
    let name = kernel(row);
    (verdict != "PROVED").then(|| format!("{name}: {verdict}: {reason}"))
}

fn models(models: &Value) -> Option<String> {
    let wrong: Vec<&str> = list(&models["disagree"]).iter().map(text).collect();
    if models["compared"] != true {
        let reason = models["reason"]
            .as_str()
            .unwrap_or("that was not asked for");
        return Some(format!(
            "the models were not compared with this CPU: {reason}"
        ));
    }
    (!wrong.is_empty()).then(|| format!("wrong models: {}", wrong.join(", ")))
}

/// Every program has the same kernels, and each was compiled in another way.
pub(super) fn differences(found: &[Found]) -> Vec<String> {
    let all: BTreeSet<String> = found.iter().flat_map(kernels).collect();
    let mut codes: BTreeMap<Vec<&str>, String> = BTreeMap::new();
    let mut wrong = Vec::new();
    for found in found.iter().filter(|found| found.proofs.is_some()) {
        let name = found.way.name();
        let missing = all.difference(&kernels(found)).cloned().collect::<Vec<_>>();
        wrong.extend(
            missing
                .iter()
                .map(|kernel| format!("{name}: no row for {kernel}")),
        );
        let code = found
            .kernels()
            .iter()
            .map(|row| text(&row["sha256"]))
            .collect();
        if let Some(other) = codes.insert(code, name.clone()) {
            let cause = "the compiler was not told the level or the target";
            wrong.push(format!("{name}: the same code as {other}: {cause}"));
        }
    }
    wrong
}

fn kernels(found: &Found) -> BTreeSet<String> {
    found.kernels().iter().map(kernel).collect()
}

fn kernel(row: &Value) -> String {
    format!("{} {}", text(&row["kernel"]), text(&row["instruction_set"]))
}
