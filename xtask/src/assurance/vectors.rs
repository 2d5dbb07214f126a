//! The table of published vectors.

use crate::gate;
use crate::programs::{self, Program};
use std::path::Path;

/// In the order of the table.
const PACKAGES: &[&str] = &[
    "sealstone-primitives",
    "sealstone-argon2",
    "sealstone-skein",
    "sealstone-proofs",
    "sealstone-token",
    "sealstone",
];

const HEADING: &str = "| crate | vectors | cases | disagreements |\n|---|---|---|---|\n";

pub(super) fn table(root: &Path) -> Result<String, String> {
    let programs = programs::build(root, &[])?;
    let mut rows: Vec<String> = HEADING.lines().map(Into::into).collect();
    for wanted in PACKAGES {
        let mut sets = Vec::new();
        for program in programs.iter().filter(|program| program.package == *wanted) {
            sets.extend(run(program)?);
        }
        sets.sort();
        let row = |Set { name, cases }| format!("| `{wanted}` | {name} | {cases} | 0 |");
        rows.extend(sets.into_iter().map(row));
    }
    Ok(rows.join("\n") + "\n")
}

/// The sets of vectors that a program ran.
fn run(program: &Program) -> Result<Vec<Set>, String> {
    let mut command = program.command();
    command.args(["--nocapture", "--test-threads=1"]);
    // The table is of what the scripts fetch, on every machine alike.
    let said = gate::output(command.env_remove("SEALSTONE_VECTORS"))?;
    Ok(said.lines().filter_map(Set::read).collect())
}

/// How many sets the table has. An error, if it is not the table of these sets. The tests do not
/// say of which crate they are, so that column is not compared.
pub(super) fn compare(table: &str, mut ran: Vec<Set>) -> Result<usize, String> {
    let rows = table
        .strip_prefix(HEADING)
        .ok_or("the table of vectors has another heading")?;
    let read = |line| Set::of_row(line).ok_or(format!("not a row of vectors: {line}"));
    let mut listed: Vec<Set> = rows.lines().map(read).collect::<Result<_, _>>()?;
    listed.sort();
    ran.sort();
    if listed == ran {
        return Ok(ran.len());
    }
    let only_in = |those: &[Set], others: &[Set]| {
        let missing = those.iter().filter(|set| !others.contains(set));
        missing.map(|set| format!("\n  {set}")).collect::<String>()
    };
    Err(format!(
        "a table of ASSURANCE.md is not up to date: run cargo xtask assurance\nlisted, but no \
         test ran it:{}\nran, but is not listed:{}\nof {} that are listed and {} that ran",
        only_in(&listed, &ran),
        only_in(&ran, &listed),
        listed.len(),
        ran.len()
    ))
}

/// A set of published vectors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Set {
    name: String,
    cases: u64,
}

impl Set {
    /// Reads a line `NAME: N cases, 0 disagreements`, perhaps after `test NAME ... `.
    pub(crate) fn read(line: &str) -> Option<Self> {
        let (name, count) = line
            .trim()
            .strip_suffix(" cases, 0 disagreements")?
            .rsplit_once(": ")?;
        let behind = name
            .strip_prefix("test ")
            .and_then(|rest| rest.split_once(" ... "));
        let name = behind.map_or(name, |(_, name)| name);
        Some(Self {
            name: name.trim_start_matches('.').into(),
            cases: count.parse().ok()?,
        })
    }

    /// Reads a row of the table: crate, name, cases, disagreements.
    fn of_row(line: &str) -> Option<Self> {
        let cells = line.strip_prefix("| `")?.strip_suffix(" |")?;
        let cells: Vec<&str> = cells.split(" | ").collect();
        match cells[..] {
            [package, name, cases, "0"] if package.ends_with('`') => Some(Self {
                name: name.into(),
                cases: cases.parse().ok()?,
            }),
            _ => None,
        }
    }
}

impl std::fmt::Display for Set {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {} cases", self.name, self.cases)
    }
}

#[cfg(test)]
mod tests {
    use super::{HEADING, Set, compare};

    #[test]
    fn sets_are_read_with_and_without_the_name_of_their_test() {
        let expected = Some(set("RFC 9106: Argon2id", 12));
        for before in ["", "test rfc::all ... ", ".."] {
            let line = format!("{before}RFC 9106: Argon2id: 12 cases, 0 disagreements");
            assert_eq!(Set::read(&line), expected);
        }
        assert_eq!(Set::read("RFC 9106: 12 cases, 1 disagreements"), None);
        assert_eq!(Set::read("RFC 9106: some cases, 0 disagreements"), None);
    }

    #[test]
    fn a_table_lists_what_ran_and_nothing_else() {
        let table = "| crate | vectors | cases | disagreements |\n|---|---|---|---|\n\
            | `a` | Wycheproof X | 3 | 0 |\n| `b` | RFC 1 | 12 | 0 |\n";
        let both = [set("RFC 1", 12), set("Wycheproof X", 3)];
        assert_eq!(compare(table, both.to_vec()), Ok(2));
        let [one, other] = both;
        let refused = |ran: &[&Set], listed: &str, missing: &str| {
            let message = compare(table, ran.iter().copied().cloned().collect()).unwrap_err();
            let expected = format!("no test ran it:{listed}\nran, but is not listed:{missing}\n");
            assert!(message.contains(&expected), "{message}");
        };
        refused(&[&one], "\n  Wycheproof X: 3 cases", "");
        refused(&[&one, &other, &set("New", 1)], "", "\n  New: 1 cases");
        let fewer = set("RFC 1", 11);
        refused(
            &[&fewer, &other],
            "\n  RFC 1: 12 cases",
            "\n  RFC 1: 11 cases",
        );
        refused(&[&one, &one, &other], "", "");
    }

    #[test]
    fn a_table_has_no_line_that_is_not_compared() {
        let ran = vec![set("RFC 1", 12)];
        let table = |row: &str| format!("{HEADING}| `b` | RFC 1 | 12 | 0 |\n{row}");
        assert_eq!(compare(&table(""), ran.clone()), Ok(1));
        for row in [
            "| `b` | everything | 1 000 | 0 |\n",
            "| `b` | everything | 1000 | 1 |\n",
            "And all others.\n",
        ] {
            let message = compare(&table(row), ran.clone()).unwrap_err();
            assert!(message.starts_with("not a row of vectors: "), "{message}");
        }
        assert!(compare(&table("")[1..], ran).is_err());
    }

    fn set(name: &str, cases: u64) -> Set {
        Set {
            name: name.into(),
            cases,
        }
    }
}
