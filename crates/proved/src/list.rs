//! The list that `sealstone-prove --write-json` writes.

use serde_json::Value;

use crate::Distance;

/// The kernels of one program that a list names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// In the order of the list.
    pub kernels: Vec<Kernel>,
}

/// A kernel for one instruction set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The instruction set.
    pub set: String,
    /// Whether it was proved, with all its functions.
    pub is_proved: bool,
    /// Its functions.
    pub functions: Vec<Function>,
}

/// A function that was proved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// The digest of its [`crate::normal_form`], in hexadecimal.
    pub sha256: String,
    /// The number of its bytes.
    pub size: u64,
    /// The distances in its code.
    pub distances: Vec<Distance>,
}

impl List {
    /// The kernels that a list names for this program, and those of others in it that are proved.
    /// `None` if it is no list, or names no kernel.
    pub fn read(text: &str, program: &str) -> Option<Self> {
        let value: Value = serde_json::from_str(text).ok()?;
        let of_program = |name| {
            let all = list(&value[name]).iter();
            let all = all.filter(|kernel| kernel["program"] == program);
            all.map(Kernel::of).collect::<Vec<_>>()
        };
        let mut kernels = of_program("kernels");
        if kernels.is_empty() {
            return None;
        }
        let others = of_program("others").into_iter();
        kernels.extend(others.filter(|kernel| kernel.is_proved));
        Some(Self { kernels })
    }
}

impl Kernel {
    fn of(json: &Value) -> Self {
        let functions: Vec<Function> = list(&json["functions"]).iter().map(Function::of).collect();
        Self {
            name: text(&json["kernel"]),
            set: text(&json["instruction_set"]),
            is_proved: json["verdict"] == "PROVED" && !functions.is_empty(),
            functions,
        }
    }
}

impl Function {
    fn of(json: &Value) -> Self {
        let distances = list(&json["distances"]).iter();
        Self {
            sha256: text(&json["sha256"]),
            size: json["size"].as_u64().unwrap_or_default(),
            distances: distances.map(distance).collect(),
        }
    }
}

fn distance(json: &Value) -> Distance {
    let number = |i: usize| json[i].as_u64().unwrap_or_default() as usize;
    Distance {
        at: number(0),
        from: number(1),
        length: number(2),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_the_kernels_of_the_program_are_read() {
        let function = json!({ "sha256": "ab", "size": 5, "distances": [[1, 5, 2]] });
        let kernel = |program: &str, verdict: &str, functions: Value| {
            json!({ "program": program, "verdict": verdict, "kernel": "k",
                "instruction_set": "avx2", "functions": functions })
        };
        let kernels = [
            kernel("ours", "PROVED", json!([function])),
            kernel("ours", "UNPROVED", json!([function])),
            kernel("ours", "PROVED", json!([])),
            kernel("other", "PROVED", json!([function])),
        ];
        let others = [
            kernel("ours", "UNPROVED", json!([function])),
            kernel("ours", "PROVED", json!([function])),
            kernel("other", "PROVED", json!([function])),
        ];
        let lists = json!({ "kernels": kernels, "others": others });
        let list = List::read(&lists.to_string(), "ours").unwrap();
        let proved: Vec<bool> = list.kernels.iter().map(|kernel| kernel.is_proved).collect();
        assert_eq!(proved, [true, false, false, true]);
        let distance = Distance {
            at: 1,
            from: 5,
            length: 2,
        };
        let read = Function {
            sha256: "ab".into(),
            size: 5,
            distances: vec![distance],
        };
        assert_eq!(list.kernels[0].functions, [read]);
        assert_eq!(
            (&*list.kernels[0].name, &*list.kernels[0].set),
            ("k", "avx2")
        );
    }

    #[test]
    fn a_file_that_is_no_list_is_refused() {
        for other in [
            "",
            "{}",
            "[1]",
            r#"{"kernels": []}"#,
            r#"{"kernels": [{}]}"#,
            r#"{"kernels": [], "others": [{"program": "ours"}]}"#,
        ] {
            assert_eq!(List::read(other, "ours"), None, "{other}");
        }
    }
}
