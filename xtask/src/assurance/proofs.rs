//! The tables of proofs, of libraries, of coverage, of what they assume of callers, and of others'
//! code.

use super::{ALL, SIZE, TIME};
use crate::gate::{list, text};
use serde_json::Value;

/// A row for each kernel, each claim about source, and each lemma, and one for all of them.
pub(super) fn table(proofs: &Value) -> Result<String, String> {
    let heading = format!("| what | instruction set | what is shown | how | verdict{TIME}");
    let mut rows = vec![heading, "|---|---|---|---|---|---:|".into()];
    rows.extend(list(&proofs["kernels"]).iter().map(kernel));
    rows.extend(list(&proofs["source"]).iter().map(source));
    rows.extend(lemmas(list(&proofs["lemmas"]))?);
    rows.extend(sums(&proofs["usage"]));
    Ok(rows.join("\n") + "\n")
}

/// A row for each library: how many kernels are proved in it, and which it does not have.
pub(super) fn libraries(proofs: &Value) -> Result<String, String> {
    let libraries = list(&proofs["libraries"]);
    if libraries.is_empty() {
        return Err("no library was proved: sealstone-prove needs --library".into());
    }
    let heading = [
        "library",
        "proved rows",
        "rows of the command that it does not have",
    ];
    let mut rows = vec![line(&heading), "|---|---|---|".into()];
    rows.extend(libraries.iter().map(|library| {
        let kernels = list(&library["kernels"]).iter();
        let proved = kernels.filter(|row| text(&row["verdict"]) == "PROVED");
        let absent = list(&library["absent"]).iter();
        let absent = absent.map(|row| format!("{} ({})", text(&row[0]), text(&row[1])));
        let absent: Vec<String> = absent.collect();
        let (proved, absent) = (proved.count().to_string(), absent.join("; "));
        line(&[text(&library["program"]), &proved, &absent])
    }));
    Ok(rows.join("\n") + "\n")
}

/// A row for each of our crates: why a part of its code is not proved, and how much of it. The last
/// row has the proved share of all.
pub(super) fn coverage(proofs: &Value) -> Result<String, String> {
    let coverage = &proofs["coverage"];
    let crates = list(&coverage["unproved"]);
    if crates.is_empty() {
        return Err("the proofs do not say which code of ours is not proved".into());
    }
    let mut rows = vec![
        format!("| crate | what it does, and what covers it{SIZE}"),
        "|---|---|---|".into(),
    ];
    rows.extend(crates.iter().map(|row| {
        let name = format!("`{}`", text(&row["crate"]));
        line(&[&name, text(&row["why"]), &amount(row)])
    }));
    let [ours, proved] = ["our_crates", "proved"].map(|name| &coverage[name]);
    let share = 100.0 * bytes(proved) / bytes(ours);
    rows.push(format!(
        "{ALL}this table, and all that is proved |  | of {}, {share:.0} % are proved: {} |",
        amount(ours),
        amount(proved)
    ));
    Ok(rows.join("\n") + "\n")
}

/// An amount of code in words.
fn amount(share: &Value) -> String {
    match share["functions"].as_u64() {
        Some(0) => "none".into(),
        functions => format!(
            "{:.0} KiB in {} functions",
            (bytes(share) / 1024.0).ceil(),
            functions.unwrap_or_default()
        ),
    }
}

fn bytes(share: &Value) -> f64 {
    share["bytes"].as_f64().unwrap_or_default()
}

/// A row for each condition of callers of our kernels.
pub(super) fn callers(proofs: &Value) -> Result<String, String> {
    conditions(&proofs["obligations"])
}

/// The same, of callers of others' code.
pub(super) fn callers_of_others(proofs: &Value) -> Result<String, String> {
    conditions(&proofs["obligations_of_others"])
}

fn conditions(conditions: &Value) -> Result<String, String> {
    let conditions = list(conditions);
    if conditions.is_empty() {
        return Err("the proofs say nothing about what they assume of callers".into());
    }
    let heading = [
        "kernels",
        "what the caller guarantees",
        "by what",
        "checked by",
    ];
    let mut rows = vec![line(&heading), "|---|---|---|---|".into()];
    rows.extend(conditions.iter().map(|condition| {
        line(&["kernels", "what", "by", "checked"].map(|name| text(&condition[name])))
    }));
    Ok(rows.join("\n") + "\n")
}

/// A row for each function of others, proved or not, with the reason.
pub(super) fn others(proofs: &Value) -> Result<String, String> {
    let functions = list(&proofs["others"]);
    if functions.is_empty() {
        return Err("the proofs say nothing about others' code".into());
    }
    let heading = format!("| function | instruction set | what is shown | verdict{TIME}");
    let mut rows = vec![heading, "|---|---|---|---|---:|".into()];
    rows.extend(functions.iter().map(other));
    Ok(rows.join("\n") + "\n")
}

/// A row for each kind of others' code that is not proved, with the reason.
pub(super) fn unproved(proofs: &Value) -> Result<String, String> {
    let list = list(&proofs["unproved_of_others"]);
    if list.is_empty() {
        return Err("the proofs do not say which code of others is not proved".into());
    }
    let mut rows = vec![
        line(&["function", "verdict", "why"]),
        "|---|---|---|".into(),
    ];
    rows.extend(list.iter().map(|row| {
        let [function, verdict, why] = ["function", "verdict", "why"].map(|name| text(&row[name]));
        // Neither stars nor angle brackets are marks of Markdown here.
        let function = function.replace('*', "\\*").replace('<', "\\<");
        line(&[&function, verdict, why])
    }));
    Ok(rows.join("\n") + "\n")
}

fn other(row: &Value) -> String {
    let shown = format!("equals {}", text(&row["specification"]));
    let (verdict, reason) = (text(&row["verdict"]), text(&row["reason"]));
    let verdict = match reason {
        "" => verdict.to_owned(),
        reason => format!("{verdict}: {reason}"),
    };
    let (name, set) = (text(&row["kernel"]), text(&row["instruction_set"]));
    line(&[name, set, &shown, &verdict, &time([row])])
}

fn kernel(row: &Value) -> String {
    let is_command = text(&row["program"]) == "sealstone";
    let program = if is_command {
        "the command"
    } else {
        "the prover's own program"
    };
    let shown = format!("equals {}", text(&row["specification"]));
    let how = format!("machine code of {program}, {} runs", row["runs"]);
    let (name, set) = (text(&row["kernel"]), text(&row["instruction_set"]));
    line(&[name, set, &shown, &how, text(&row["verdict"]), &time([row])])
}

fn source(row: &Value) -> String {
    let verdict = text(&row["verdict"]);
    let how = if verdict == "CHECKED" {
        "source on numbers"
    } else {
        "source on symbols"
    };
    line(&[
        text(&row["name"]),
        "any",
        text(&row["shown"]),
        how,
        verdict,
        &time([row]),
    ])
}

/// One row for each lemma, with every solver that was asked.
fn lemmas(rows: &[Value]) -> Result<Vec<String>, String> {
    if rows.is_empty() {
        return Err("the proofs have no lemmas: sealstone-prove needs --lemmas".into());
    }
    let mut names: Vec<[&str; 2]> = Vec::new();
    for row in rows {
        let name = ["about", "lemma"].map(|part| text(&row[part]));
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names.into_iter().map(|name| lemma(name, rows)).collect())
}

fn lemma([about, name]: [&str; 2], rows: &[Value]) -> String {
    let rows: Vec<&Value> = rows
        .iter()
        .filter(|row| text(&row["about"]) == about && text(&row["lemma"]) == name)
        .collect();
    let solvers: Vec<&str> = rows.iter().map(|row| text(&row["solver"])).collect();
    let how = format!("source on expressions, {}", solvers.join(" and "));
    let mut verdicts: Vec<&str> = rows.iter().map(|row| text(&row["verdict"])).collect();
    verdicts.sort_unstable();
    verdicts.dedup();
    line(&[about, "any", name, &how, &verdicts.join(" "), &time(rows)])
}

fn sums(usage: &Value) -> [String; 2] {
    let rest = "with the comparison of the models and all else but the solvers";
    let seconds = |name: &str| usage[name].as_f64().unwrap_or_default();
    let (processor, solvers) = (seconds("processor_seconds"), seconds("solver_seconds"));
    [
        format!("{ALL}machine code and source |  |  | {rest} |  | {processor:.1} |"),
        format!("{ALL}expressions |  |  | the solvers |  | {solvers:.1} |"),
    ]
}

fn time<'v>(rows: impl IntoIterator<Item = &'v Value>) -> String {
    let seconds = rows.into_iter().filter_map(|row| row["seconds"].as_f64());
    format!("{:.2}", seconds.sum::<f64>())
}

fn line(cells: &[&str]) -> String {
    let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
    format!("| {} |", cells.join(" | "))
}
