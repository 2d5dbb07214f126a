//! One TOML file, overridden by the environment, overridden by options (`default.toml` documents
//! all of it).
//!
//! ```
//! use sealstone_server::config::Config;
//!
//! let config = Config::parse("[keys]\ntypes = [2]", [])?;
//! assert_eq!(config.keys.types, [2]);
//! assert_eq!(config, Config::parse("", [("SEALSTONE_SERVER_KEYS__TYPES", "[2]")])?);
//! assert!(Config::parse("[keys]\nkinds = [2]", []).is_err());
//! # Ok::<(), sealstone_server::Error>(())
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sealstone::passport::Fingerprint;
use sealstone_token::privacypass::TokenType;
use serde::Deserialize;
use toml::{Table, Value};

use crate::gate::{GateOptions, Gates};
use crate::http::{Connections, Pages, Proxies, ROUTES, RouteLimits, Tls, TlsOptions};
use crate::keys::KeyOptions;
use crate::session::Lifetime;
use crate::store::StoreOptions;
use crate::telemetry::TelemetryOptions;
use crate::{Error, Result};

/// The documented file with all defaults.
pub const DOCUMENTED: &str = include_str!("default.toml");
/// Variables that begin with this override options; `__` stands between the names of tables.
pub const ENVIRONMENT: &str = "SEALSTONE_SERVER_";

/// All options. Both services read the same file; each uses its part.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The data directory.
    pub data: Option<PathBuf>,
    /// Address and port.
    pub listen: String,
    /// Networks of proxies.
    pub proxies: Vec<String>,
    /// Origins of web pages whose scripts may ask.
    pub pages: Vec<String>,
    /// TLS of the listener.
    pub tls: TlsOptions,
    /// The store.
    pub store: StoreOptions,
    /// The service's passport.
    pub passport: PassportOptions,
    /// Limits of connections.
    pub connections: Connections,
    /// Limits of each route.
    pub routes: RouteLimits,
    /// Where Prometheus asks.
    pub metrics: MetricsOptions,
    /// The listener for operators.
    pub admin: AdminOptions,
    /// The log.
    pub log: LogOptions,
    /// Where spans go.
    pub telemetry: TelemetryOptions,
    /// The issuer's keys.
    pub keys: Keys,
    /// The issuer.
    pub issuer: IssuerOptions,
    /// The verifier.
    pub verifier: VerifierOptions,
    /// Gates by name.
    pub gates: BTreeMap<String, GateOptions>,
}

/// The service's passport.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PassportOptions {
    /// The file with its passphrase.
    pub passphrase_file: Option<PathBuf>,
    /// Its label, for a new one.
    pub label: Option<String>,
}

/// Where Prometheus asks.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct MetricsOptions {
    /// Address and port of `/metrics`.
    pub listen: Option<String>,
}

/// The listener for operators.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct AdminOptions {
    /// Address and port; empty for none.
    pub listen: String,
    /// The addresses at which browsers reach it through a proxy.
    pub origins: Vec<String>,
    /// A session expires after this many seconds without a request.
    pub idle_seconds: u64,
    /// A session expires after this many seconds in any case.
    pub session_seconds: u64,
}

impl Default for AdminOptions {
    fn default() -> Self {
        let lifetime = Lifetime::default();
        Self {
            listen: "127.0.0.1:0".to_owned(),
            origins: Vec::new(),
            idle_seconds: lifetime.idle,
            session_seconds: lifetime.most,
        }
    }
}

/// The log, which goes to standard error.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct LogOptions {
    /// `error`, `warn`, `info`, `debug` or `trace`.
    pub level: String,
    /// One JSON object per line, or text.
    pub json: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            level: "info".to_owned(),
            json: false,
        }
    }
}

/// The issuer's keys.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Keys {
    /// Numbers of token types.
    pub types: Vec<u16>,
    /// Seconds of an epoch.
    pub length: u64,
    /// Seconds that a key issues after its epoch.
    pub issue_grace: u64,
    /// Seconds that tokens are accepted after their epoch.
    pub redeem_grace: u64,
}

impl Default for Keys {
    fn default() -> Self {
        let options = KeyOptions::default();
        Self {
            types: options.types.iter().map(|kind| kind.number()).collect(),
            length: options.length,
            issue_grace: options.issue_grace,
            redeem_grace: options.redeem_grace,
        }
    }
}

/// The issuer.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct IssuerOptions {
    /// The name of the gate.
    pub gate: String,
    /// The most tokens in one request.
    pub max_batch: usize,
    /// Whether it also verifies its own tokens, of all types.
    pub verify: bool,
    /// Its host name in challenges; by default the address that it listens at.
    pub name: Option<String>,
    /// The origins that its challenges name; by default the address that it listens at.
    pub origins: Vec<String>,
}

impl Default for IssuerOptions {
    fn default() -> Self {
        Self {
            gate: "pow".to_owned(),
            max_batch: 100,
            verify: false,
            name: None,
            origins: Vec::new(),
        }
    }
}

/// The verifier.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct VerifierOptions {
    /// The issuer's URL.
    pub issuer: Option<String>,
    /// PEM certificates that the issuer's certificate must come from; by default the system's.
    pub ca_file: Option<PathBuf>,
    /// The fingerprint of the issuer's passport.
    pub fingerprint: Option<String>,
    /// The issuer's host name in challenges; by default that of the URL.
    pub name: Option<String>,
    /// The origins that challenges name; by default the address that the verifier listens at.
    pub origins: Vec<String>,
    /// Seconds between two requests for the directory.
    pub refresh: u64,
}

impl Default for VerifierOptions {
    fn default() -> Self {
        Self {
            issuer: None,
            ca_file: None,
            fingerprint: None,
            name: None,
            origins: Vec::new(),
            refresh: 300,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            data: None,
            listen: "127.0.0.1:8080".to_owned(),
            proxies: Vec::new(),
            pages: Vec::new(),
            tls: TlsOptions::default(),
            store: StoreOptions::default(),
            passport: PassportOptions::default(),
            connections: Connections::default(),
            routes: RouteLimits::default(),
            metrics: MetricsOptions::default(),
            admin: AdminOptions::default(),
            log: LogOptions::default(),
            telemetry: TelemetryOptions::default(),
            keys: Keys::default(),
            issuer: IssuerOptions::default(),
            verifier: VerifierOptions::default(),
            gates: BTreeMap::new(),
        }
    }
}

impl Config {
    /// Reads a file, or takes the defaults, and the process's environment.
    ///
    /// # Errors
    /// If the file cannot be read, or an option is unknown or of another type.
    pub fn read(path: Option<&Path>) -> Result<Self> {
        let text = match path {
            Some(path) => std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?,
            None => String::new(),
        };
        let variables: Vec<(String, String)> = std::env::vars().collect();
        let variables = variables.iter().map(|(n, v)| (n.as_str(), v.as_str()));
        let parsed = Self::parse(&text, variables);
        parsed.map_err(|error| match (error, path) {
            (Error::Config(what), Some(path)) => {
                Error::Config(format!("{}: {what}", path.display()))
            }
            (error, _) => error,
        })
    }

    /// Reads the text of a file, and variables.
    ///
    /// # Errors
    /// If an option is unknown or of another type.
    pub fn parse<'v>(
        text: &str,
        variables: impl IntoIterator<Item = (&'v str, &'v str)>,
    ) -> Result<Self> {
        let wrong = |error: toml::de::Error| Error::Config(error.to_string());
        let mut table: Table = toml::from_str(text).map_err(wrong)?;
        for (name, value) in variables {
            if let Some(place) = name.strip_prefix(ENVIRONMENT) {
                set(&mut table, place, value)
                    .map_err(|()| Error::Config(format!("{name}: a table has this name")))?;
            }
        }
        let config: Self = Value::Table(table).try_into().map_err(wrong)?;
        config.store.check()?;
        config.tls.files()?;
        config.key_options()?;
        config.proxies()?;
        config.pages()?;
        config.fingerprint()?;
        config.telemetry.url()?;
        if let Some(name) = config.routes.unknown() {
            let names = ROUTES.join(", ");
            let text = format!("routes: there is no route {name:?}, but {names}");
            return Err(Error::Config(text));
        }
        Ok(config)
    }

    /// The options of the keyring.
    ///
    /// # Errors
    /// If a type of token is unknown, or there is none.
    pub fn key_options(&self) -> Result<KeyOptions> {
        let kind = |number: &u16| {
            TokenType::from_number(*number).map_err(|error| Error::Config(format!("keys: {error}")))
        };
        let types = self
            .keys
            .types
            .iter()
            .map(kind)
            .collect::<Result<Vec<_>>>()?;
        if types.is_empty() {
            return Err(Error::Config(
                "keys: at least one type is needed".to_owned(),
            ));
        }
        Ok(KeyOptions {
            types,
            length: self.keys.length,
            issue_grace: self.keys.issue_grace,
            redeem_grace: self.keys.redeem_grace,
        })
    }

    /// Checks the gate of the issuer, and all others.
    ///
    /// # Errors
    /// If one is not possible, or unknown.
    pub fn check_gates(&self) -> Result<()> {
        let secret = sealstone_primitives::secret::Secret::random();
        let mut names = self.gates.keys().chain([&self.issuer.gate]);
        names.try_for_each(|name| Gates::new(name, &self.gates, &secret).map(drop))
    }

    /// Checks that all files that are named can be read and used.
    ///
    /// # Errors
    /// If one cannot.
    pub fn check_files(&self) -> Result<()> {
        Tls::open(&self.tls)?;
        let files = [
            &self.passport.passphrase_file,
            &self.store.password_file,
            &self.store.ca_file,
            &self.verifier.ca_file,
            &self.telemetry.ca_file,
        ];
        for path in files.into_iter().flatten() {
            std::fs::read(path).map_err(|e| Error::io(path, e))?;
        }
        Ok(())
    }

    /// The networks of proxies.
    ///
    /// # Errors
    /// If an entry is not a network.
    pub fn proxies(&self) -> Result<Proxies> {
        Proxies::parse(&self.proxies)
            .map_err(|text| Error::Config(format!("proxies: {text:?} is not a network")))
    }

    /// The web pages whose scripts may ask.
    ///
    /// # Errors
    /// If an entry is not an origin.
    pub fn pages(&self) -> Result<Pages> {
        Pages::parse(&self.pages)
    }

    /// The issuer's fingerprint.
    ///
    /// # Errors
    /// If the text is not a fingerprint.
    pub fn fingerprint(&self) -> Result<Option<Fingerprint>> {
        let text = self.verifier.fingerprint.as_deref();
        let parsed = text.map(str::parse).transpose();
        parsed.map_err(|error: sealstone::Error| Error::Config(format!("fingerprint: {error}")))
    }
}

/// Sets `A__B` to a TOML value, or to the text if that is not a TOML value.
fn set(table: &mut Table, place: &str, value: &str) -> std::result::Result<(), ()> {
    let parsed = toml::from_str::<Table>(&format!("value = {value}"));
    let parsed = parsed.ok().and_then(|mut table| table.remove("value"));
    let value = parsed.unwrap_or_else(|| Value::String(value.to_owned()));
    let names: Vec<String> = place
        .split("__")
        .map(|name| name.to_ascii_lowercase().replace('_', "-"))
        .collect();
    let (last, tables) = names.split_last().ok_or(())?;
    let mut inner = table;
    for name in tables {
        let entry = inner
            .entry(name)
            .or_insert_with(|| Value::Table(Table::new()));
        inner = entry.as_table_mut().ok_or(())?;
    }
    inner.insert(last.clone(), value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documented_file_has_the_defaults() {
        let config = Config::parse(DOCUMENTED, []).expect("a configuration");
        assert_eq!(config, Config::default());
    }

    /// Removes the signs of comment from options, and reads them.
    #[test]
    fn every_documented_option_exists() {
        // The embedded store has no options: the examples are for a server.
        let documented = DOCUMENTED
            .replace("kind = \"redb\"", "kind = \"redis\"")
            .replace("urls = []", "urls = [\"redis://127.0.0.1\"]");
        let uncommented: Vec<&str> = documented
            .lines()
            .map(|line| line.strip_prefix("#: ").unwrap_or(line))
            .collect();
        let config = Config::parse(&uncommented.join("\n"), []).expect("a configuration");
        assert!(config.gates.len() >= 6, "{:?}", config.gates);
        config.check_gates().expect("possible gates");
    }

    /// The names that the reader knows in a table: it lists them when it finds another one.
    fn known(table: &str) -> Vec<String> {
        let error = Config::parse(&format!("{table}\nno-such = 1"), []).expect_err(table);
        let error = error.to_string();
        if error.contains("there are no fields") {
            return Vec::new();
        }
        let (_, expected) = error.split_once("expected ").expect("names");
        // The next line says in which table.
        let expected = expected.lines().next().unwrap_or(expected);
        let names = expected.split('`').skip(1).step_by(2);
        names.map(str::to_owned).collect()
    }

    /// Whether `name` stands at the beginning of a line of `text`, as an option or an example.
    fn is_documented(text: &str, name: &str) -> bool {
        text.lines().any(|line| {
            let line = line.strip_prefix("#: ").unwrap_or(line);
            let rest = line.strip_prefix(name);
            rest.is_some_and(|rest| rest.starts_with(" ="))
        })
    }

    #[test]
    fn every_option_is_documented() {
        let mut found = 0;
        for name in known("") {
            let begin = format!("\n[{name}]\n");
            let section = DOCUMENTED.split_once(&begin).map(|(_, section)| section);
            let Some(section) = section else {
                assert!(
                    is_documented(DOCUMENTED, &name) || name == "gates",
                    "{name}"
                );
                continue;
            };
            let section = section.split("\n[").next().unwrap_or(section);
            for option in known(&format!("[{name}]")) {
                let is_table = DOCUMENTED.contains(&format!("[{name}.{option}."));
                assert!(
                    is_table || is_documented(section, &option),
                    "[{name}] {option}"
                );
                found += 1;
            }
        }
        assert!(found >= 40, "{found} options");
        assert!(!is_documented(DOCUMENTED, "no-such"));
    }

    #[test]
    fn every_option_of_a_gate_is_documented() {
        let kinds = known("[gates.x]\nkind = \"no-such\"\n[gates.y]\nkind = \"no-such\"");
        assert!(kinds.len() >= 11, "{kinds:?}");
        let gates = DOCUMENTED.split_once("# Gates by name").expect("gates").1;
        let gates = gates.replace("\n#: ", "\n");
        for kind in kinds {
            let of_kind = |gate: &&str| gate.contains(&format!("kind = \"{kind}\""));
            let texts: Vec<&str> = gates.split("\n[").filter(of_kind).collect();
            for option in known(&format!("[gates.x]\nkind = \"{kind}\"")) {
                let is_there = |gate: &&str| {
                    gate.contains(&format!("{option} = ")) || gate.contains(&format!("or {option}"))
                };
                assert!(
                    texts.iter().any(is_there),
                    "gates of the kind {kind}: {option}"
                );
            }
        }
    }

    #[test]
    fn the_environment_overrides() {
        let variables = [
            ("SEALSTONE_SERVER_LISTEN", "127.0.0.1:1"),
            ("SEALSTONE_SERVER_ISSUER__MAX_BATCH", "7"),
            ("SEALSTONE_SERVER_GATES__X__KIND", "none"),
            ("OTHER", "1"),
        ];
        let config = Config::parse("listen = \"a\"", variables).expect("a configuration");
        assert_eq!(
            (config.listen.as_str(), config.issuer.max_batch),
            ("127.0.0.1:1", 7)
        );
        assert_eq!(config.gates["x"], GateOptions::None {});
    }

    #[test]
    fn impossible_gates_are_named() {
        let partner = "kind = \"attestation\"\nissuer = \"a\"\naudience = \"b\"";
        let key = "kind = \"webauthn\"\nrp-id = \"a\"\norigins = [\"https://a\"]";
        for (text, part) in [
            (
                "kind = \"rate\"\nof = \"pow\"\nlimit = 1\nperiod = 1",
                "no accounts",
            ),
            (
                "kind = \"rate\"\nof = \"a\"\nlimit = 1\nperiod = 1",
                "contains itself",
            ),
            (
                "kind = \"trust\"\nof = \"pow\"\nperiod = 1\nlevels = []",
                "no age",
            ),
            (
                "kind = \"vouch\"\nof = \"pow\"\nthreshold = 2\nquota = 1\nlifetime = 1",
                "is not a gate",
            ),
            (partner, "either keys-file or keys-url"),
            (
                &format!("{partner}\nkeys-url = \"http://b\""),
                "needs https",
            ),
            (
                &format!("{partner}\nkeys-file = \"/none/such\""),
                "/none/such",
            ),
            (&format!("{key}\nroots-file = \"/none/such\""), "/none/such"),
            (&format!("{key}\nmodels = [\"00\"]"), "need a roots-file"),
            (&format!("{key}\nlifetime = 0"), "at least 1 second"),
            (
                "kind = \"webauthn\"\nrp-id = \"a\"\norigins = []",
                "not empty",
            ),
        ] {
            let config = Config::parse(&format!("[gates.a]\n{text}"), []).expect(text);
            let error = config.check_gates().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (text, part) in [
            ("[keys]\ntypes = [9]", "0x0009"),
            ("[keys]\ntypes = []", "at least one"),
            ("proxies = [\"10.0.0.0/40\"]", "10.0.0.0/40"),
            ("[verifier]\nfingerprint = \"ab\"", "fingerprint"),
            ("[store]\nkind = \"sqlite\"", "sqlite"),
            ("[store]\nkind = \"redis\"", "urls"),
            ("[store]\ncluster = true", "no other options"),
            ("[tls]\nkey-file = \"k\"", "belong together"),
            (
                "[store]\nkind = \"redis\"\nurls = [\"redis://:secret@h\"]",
                "password-file",
            ),
            ("[routes.only.isue]\nbody = 1", "\"isue\""),
            ("[routes.only.issue]\nbodies = 1", "bodies"),
            ("[gates.a]\nkind = \"captcha\"", "captcha"),
            ("[gates.a]\nkind = \"pow\"\nbit = 3", "bit"),
            ("[gates.a]\nkind = \"rate\"\nlimit = 1", "period"),
            (
                "[gates.a]\nkind = \"attestation\"\nissuer = \"a\"",
                "audience",
            ),
        ] {
            let error = Config::parse(text, []).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
