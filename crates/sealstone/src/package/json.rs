//! JSON in its canonical form (RFC 8785): policies and metadata.

use std::fmt;

use sealstone_primitives::hash::sha3_256;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

use crate::{Error, Result};

/// A JSON value in the canonical form of RFC 8785.
///
/// ```
/// use sealstone::package::Json;
///
/// let policy = Json::parse(br#"{ "uses": ["research"], "term": 1e1 }"#)?;
/// assert_eq!(policy.as_str(), r#"{"term":10,"uses":["research"]}"#);
/// assert!(Json::parse(br#"{"a":1,"a":2}"#).is_err());
/// # Ok::<(), sealstone::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(String);

/// The longest policy, in bytes of the canonical form.
pub const MAX_POLICY: usize = 1 << 20;
/// Arrays and objects within each other.
const MAX_DEPTH: usize = 64;
/// Integers up to here are exact in the numbers of RFC 8785.
const MAX_NUMBER: f64 = 9_007_199_254_740_991.0;

impl Json {
    /// Brings any JSON text into the canonical form.
    ///
    /// # Errors
    /// [`Error::Invalid`] if it is not JSON, names a key twice, has a number beyond ±(2^53 - 1), is
    /// nested deeper than 64, or is longer than 1 MiB.
    pub fn parse(text: &[u8]) -> Result<Self> {
        if text.len() > 2 * MAX_POLICY {
            return Err(Error::Invalid("the JSON document is longer than 1 MiB"));
        }
        let Unique(value) = serde_json::from_slice(text).map_err(|_| {
            Error::Invalid("not JSON with unique names, numbers within 2^53 and at most 64 levels")
        })?;
        let canonical = serde_json_canonicalizer::to_string(&value)
            .map_err(|_| Error::Invalid("the JSON document has no canonical form"))?;
        if canonical.len() > MAX_POLICY {
            return Err(Error::Invalid("the JSON document is longer than 1 MiB"));
        }
        Ok(Self(canonical))
    }

    /// Takes text that is canonical already.
    pub(super) fn from_canonical(bytes: &[u8]) -> Result<Self> {
        let json = Self::parse(bytes)?;
        match json.0.as_bytes() == bytes {
            true => Ok(json),
            false => Err(Error::Malformed("JSON that is not in canonical form")),
        }
    }

    /// The canonical text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// SHA3-256 of the canonical text: what a manifest says of its policy.
    pub fn digest(&self) -> [u8; 32] {
        sha3_256(self.0.as_bytes())
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

/// A value in which no object names a key twice and every number is exact.
struct Unique(Value);

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = deserializer.deserialize_any(Strict)?;
        match depth(&value) <= MAX_DEPTH {
            true => Ok(Self(value)),
            false => Err(serde::de::Error::custom("nested too deeply")),
        }
    }
}

/// serde_json stops at a depth of 128, so this recursion is bounded.
fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

struct Nested(Value);

impl<'de> Deserialize<'de> for Nested {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Strict).map(Self)
    }
}

struct Strict;

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.visit_f64(value as f64)?;
        Ok(value.into())
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.visit_f64(value as f64)?;
        Ok(value.into())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        match value.abs() <= MAX_NUMBER {
            true => Ok(value.into()),
            false => Err(E::custom("a number beyond 2^53 - 1")),
        }
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Nested(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some((name, Nested(value))) = members.next_entry::<String, _>()? {
            if object.insert(name, value).is_some() {
                return Err(serde::de::Error::custom("a name that appears twice"));
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 8785 section 3.2.2 and 3.2.3, with the literals of the RFC.
    #[test]
    fn the_examples_of_the_rfc_come_out() {
        let input = r#"{
          "numbers": [333333333.33333329, 4.50, 2e-3, 0.000000000000000000000000001],
          "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
          "literals": [null, true, false]
        }"#;
        let expected = "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,4.5,0.002,\
                        1e-27],\"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        assert_eq!(Json::parse(input.as_bytes()).unwrap().as_str(), expected);
        let keys = r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#;
        let sorted = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"\u{f6}\":7,\"\u{20ac}\":1,\
                      \"\u{1f600}\":5,\"\u{fb33}\":3}";
        assert_eq!(Json::parse(keys.as_bytes()).unwrap().as_str(), sorted);
    }

    #[test]
    fn json_that_the_canonical_form_would_change_is_refused() {
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        let bottomless = "[".repeat(1 << 20);
        let long = format!("\"{}\"", "a".repeat(MAX_POLICY));
        let bad = [
            "",
            "{",
            "nul",
            "{\"a\":1,\"a\":1}",
            "[{\"a\":1,\"\\u0061\":2}]",
            "9007199254740992",
            "-9007199254740992",
            "1e400",
            "1e16",
            "NaN",
            "\"\\ud800\"",
            "1 2",
            &deep,
            &bottomless,
            &long,
        ];
        for bad in bad {
            assert!(Json::parse(bad.as_bytes()).is_err(), "{:.40}", bad);
        }
        assert!(Json::parse(b"\"\xff\"").is_err());
        let flat = format!("{}{}", "[".repeat(64), "]".repeat(64));
        assert!(Json::parse(flat.as_bytes()).is_ok());
        assert_eq!(
            Json::parse(b"9007199254740991").unwrap().as_str(),
            "9007199254740991"
        );
    }

    #[test]
    fn only_canonical_text_is_taken_as_such() {
        assert!(Json::from_canonical(b"{\"a\":1}").is_ok());
        for other in [
            "{\"a\": 1}",
            "{\"b\":1,\"a\":2}",
            "1.0",
            "\"\\u0041\"",
            " 1",
            "-0",
        ] {
            assert!(Json::from_canonical(other.as_bytes()).is_err(), "{other}");
        }
    }
}
