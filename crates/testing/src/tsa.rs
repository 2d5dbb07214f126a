//! A time-stamping authority of `openssl`: certificates and tokens of every kind, good and bad.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

/// Extensions of a good signer's certificate.
pub const SIGNER: &str = "basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=critical,timeStamping";

/// Extensions of an authority that issues certificates.
pub const ISSUER: &str = "basicConstraints=critical,CA:TRUE
keyUsage=critical,keyCertSign,cRLSign";

/// The policy of the authority, if the request names none.
pub const POLICY: &str = "1.2.3.4.1";

/// The other policy that it accepts.
pub const OTHER_POLICY: &str = "1.2.3.4.5";

/// Certificates and keys in a temporary directory: `NAME.pem`, `NAME.key`. The root's are called
/// `root`; those of an intermediate `between`, and those of a signer below it `signer`.
pub struct Authority {
    folder: TempDir,
    serial: AtomicU32,
}

impl Authority {
    /// A root, an intermediate and a signer, all with keys on P-256; nothing, said aloud, where
    /// there is no `openssl` of version 3.
    pub fn new() -> Option<Self> {
        let version = Command::new("openssl").arg("version").output().ok()?;
        if !version.stdout.starts_with(b"OpenSSL 3") {
            println!("skipped: openssl is not there, or not of version 3");
            return None;
        }
        let authority = Self {
            folder: TempDir::new().expect("a temporary directory"),
            serial: AtomicU32::new(1000),
        };
        authority.write("ts.cnf", TS_CONFIG.as_bytes());
        authority.write("req.cnf", b"[req]\ndistinguished_name=dn\n[dn]\n");
        authority.write("serial", b"01\n");
        authority.key("root", "P-256");
        authority.self_signed("root", ISSUER);
        authority.issue("between", "P-256", "root", ISSUER);
        authority.issue("signer", "P-256", "between", SIGNER);
        Some(authority)
    }

    /// A file of the directory.
    pub fn path(&self, name: impl AsRef<Path>) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The bytes of a file of the directory.
    pub fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Writes a file of the directory.
    pub fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file in a temporary directory");
    }

    /// Several files of the directory, one behind the other.
    pub fn concatenated(&self, names: &[&str]) -> Vec<u8> {
        let read = |name: &&str| self.read(name);
        names.iter().map(read).collect::<Vec<_>>().concat()
    }

    /// Makes a key: `P-256`, `P-384`, `P-521`, `ED25519`, `RSA-PSS`, or a number of bits for RSA.
    pub fn key(&self, name: &str, kind: &str) {
        let bits = format!("rsa_keygen_bits:{kind}");
        let curve = format!("ec_paramgen_curve:{kind}");
        let form: Vec<&str> = match kind {
            "P-256" | "P-384" | "P-521" => vec!["-algorithm", "EC", "-pkeyopt", &curve],
            "RSA-PSS" => vec!["-algorithm", "RSA-PSS", "-pkeyopt", "rsa_keygen_bits:2048"],
            "ED25519" => vec!["-algorithm", "ED25519"],
            _ => vec!["-algorithm", "RSA", "-pkeyopt", &bits],
        };
        let file = format!("{name}.key");
        let generate = || {
            self.openssl(&[&["genpkey", "-out", &file][..], &form].concat());
            self.read(&file)
        };
        if form[1].starts_with("RSA") {
            self.write(&file, &rsa_key(name, kind, generate));
        } else {
            generate();
        }
    }

    /// Makes a certificate that is signed by its own key.
    pub fn self_signed(&self, name: &str, extensions: &str) {
        self.certify(name, name, None, extensions, &[]);
    }

    /// Makes a key and a certificate of `issuer`.
    pub fn issue(&self, name: &str, kind: &str, issuer: &str, extensions: &str) {
        self.key(name, kind);
        self.certify(name, name, Some(issuer), extensions, &[]);
    }

    /// Makes a certificate for the key that is there, with more options of `openssl x509`.
    pub fn certify(
        &self,
        name: &str,
        subject: &str,
        issuer: Option<&str>,
        extensions: &str,
        options: &[&str],
    ) {
        let [key, request, certificate] =
            ["key", "csr", "pem"].map(|suffix| format!("{name}.{suffix}"));
        let subject = format!("/O=Test/CN={subject}");
        self.write("extensions", extensions.as_bytes());
        self.openssl(&[
            "req", "-new", "-config", "req.cnf", "-key", &key, "-subj", &subject, "-out", &request,
        ]);
        let serial = self.serial.fetch_add(1, Ordering::Relaxed).to_string();
        let ca = issuer.map(|issuer| (format!("{issuer}.pem"), format!("{issuer}.key")));
        let signer: Vec<&str> = match &ca {
            Some((ca, ca_key)) => vec!["-CA", ca, "-CAkey", ca_key],
            None => vec!["-signkey", &key],
        };
        let fixed = ["x509", "-req", "-in", &request, "-out", &certificate];
        let rest = [
            "-set_serial",
            &serial,
            "-days",
            "365",
            "-extfile",
            "extensions",
        ];
        self.openssl(&[&fixed[..], &rest, &signer, options].concat());
    }

    /// The TSA's response to a request, by `openssl ts -reply`. `chain` is sent if the request asks
    /// for certificates; `section` is one of the configuration.
    pub fn reply(&self, signer: &str, chain: &[&str], section: &str, query: &[u8]) -> Vec<u8> {
        self.write("query.tsq", query);
        self.write("chain.pem", &self.concatenated(chain));
        let [certificate, key] = ["pem", "key"].map(|suffix| format!("{signer}.{suffix}"));
        let files = [
            "-signer",
            &certificate,
            "-inkey",
            &key,
            "-chain",
            "chain.pem",
        ];
        let fixed = ["ts", "-reply", "-config", "ts.cnf", "-section", section];
        let io = ["-queryfile", "query.tsq", "-out", "reply.tsr"];
        self.openssl(&[&fixed[..], &files, &io].concat());
        self.read("reply.tsr")
    }

    /// A response whose token is `content`, signed by `openssl cms -sign -cades` with more options.
    pub fn sign(&self, signer: &str, content: &[u8], options: &[&str]) -> Vec<u8> {
        self.write("content", content);
        let [certificate, key] = ["pem", "key"].map(|suffix| format!("{signer}.{suffix}"));
        let fixed = ["cms", "-sign", "-binary", "-nodetach", "-outform", "DER"];
        let files = [
            "-signer",
            &certificate,
            "-inkey",
            &key,
            "-in",
            "content",
            "-out",
            "token",
        ];
        let kind = match options.contains(&"-econtent_type") {
            true => vec![],
            false => vec!["-econtent_type", "1.2.840.113549.1.9.16.1.4"],
        };
        self.openssl(&[&fixed[..], &files, &kind, options].concat());
        granted(&self.read("token"))
    }

    /// Whether `openssl ts -verify` accepts a response.
    pub fn oracle(&self, response: &[u8], roots: &[u8], options: &[&str]) -> bool {
        self.write("checked.tsr", response);
        self.write("roots.pem", roots);
        let fixed = [
            "ts",
            "-verify",
            "-in",
            "checked.tsr",
            "-CAfile",
            "roots.pem",
        ];
        let output = self.run(&[&fixed[..], options].concat());
        String::from_utf8_lossy(&output.stdout).contains("Verification: OK")
            || String::from_utf8_lossy(&output.stderr).contains("Verification: OK")
    }

    /// Runs `openssl` in the directory; it must succeed.
    pub fn openssl(&self, args: &[&str]) -> Vec<u8> {
        let output = self.run(args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "openssl {args:?}: {said}");
        output.stdout
    }

    fn run(&self, args: &[&str]) -> Output {
        let mut command = Command::new("openssl");
        command.args(args).current_dir(self.folder.path());
        command.output().expect("openssl runs")
    }
}

const TS_CONFIG: &str = "
[tsa]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
other_policies = 1.2.3.4.5
digests = sha1, sha256, sha384, sha512
accuracy = secs:1, millisecs:500
tsa_name = yes
ess_cert_id_alg = sha256
[sha512]
serial = serial
signer_digest = sha512
default_policy = 1.2.3.4.1
digests = sha256, sha384, sha512
clock_precision_digits = 3
ess_cert_id_chain = yes
ess_cert_id_alg = sha512
[sha1id]
serial = serial
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256
ess_cert_id_alg = sha1
";

/// A TSTInfo that can be wrong in every field.
pub struct Info {
    /// 1 in all that are good.
    pub version: u8,
    /// The content of the object identifier.
    pub policy: Vec<u8>,
    /// The encoding of the AlgorithmIdentifier.
    pub hash: Vec<u8>,
    /// The digest of the data.
    pub digest: Vec<u8>,
    /// A GeneralizedTime.
    pub time: String,
    /// Encodings behind the time.
    pub rest: Vec<u8>,
}

impl Info {
    /// A good one over a SHA-256 digest.
    pub fn new(digest: &[u8], time: &str) -> Self {
        Self {
            version: 1,
            policy: vec![0x2a, 3, 4, 1],
            hash: tlv(0x30, &[&SHA256[..], &[5, 0]].concat()),
            digest: digest.to_vec(),
            time: time.to_owned(),
            rest: Vec::new(),
        }
    }

    /// The DER encoding.
    pub fn encode(&self) -> Vec<u8> {
        let imprint = [&self.hash[..], &tlv(4, &self.digest)].concat();
        let fields = [
            tlv(2, &[self.version]),
            tlv(6, &self.policy),
            tlv(0x30, &imprint),
            tlv(2, &[7]),
            tlv(0x18, self.time.as_bytes()),
            self.rest.clone(),
        ];
        tlv(0x30, &fields.concat())
    }
}

/// The RSA key of this name and kind, which is made once: OpenSSL looks for its primes for up to
/// seconds.
fn rsa_key(name: &str, kind: &str, generate: impl FnOnce() -> Vec<u8>) -> Vec<u8> {
    static MADE: Mutex<BTreeMap<(String, String), Vec<u8>>> = Mutex::new(BTreeMap::new());
    let lock = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let of = (name.to_owned(), kind.to_owned());
    if let Some(made) = lock().get(&of) {
        return made.clone();
    }
    // Without the lock: another test may need another key meanwhile.
    let made = generate();
    lock().entry(of).or_insert(made).clone()
}

/// `20261123205308Z`, of seconds since 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms").
pub fn generalized_time(time: u64) -> String {
    let (days, second) = (time / 86_400 + 719_468, time % 86_400);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let leap_days = day_of_era / 1460 + day_of_era / 146_096;
    let year_of_era = (day_of_era + day_of_era / 36_524 - leap_days) / 365;
    let day_of_year = day_of_era + year_of_era / 100 - year_of_era / 4 - 365 * year_of_era;
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}{month:02}{day:02}{hour:02}{minute:02}{second:02}Z")
}

/// Seconds since 1970.
pub fn now() -> u64 {
    let since = std::time::UNIX_EPOCH.elapsed();
    since.expect("a clock after 1970").as_secs()
}

/// The object identifier of SHA-256.
const SHA256: [u8; 11] = [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1];

/// A TimeStampResp that grants a token.
pub fn granted(token: &[u8]) -> Vec<u8> {
    tlv(0x30, &[&[0x30, 3, 2, 1, 0][..], token].concat())
}

/// A value in DER.
pub fn tlv(tag: u8, content: &[u8]) -> Vec<u8> {
    let len = u32::try_from(content.len()).expect("a short value");
    let [_, b2, b1, b0] = len.to_be_bytes();
    let header = match len {
        0..0x80 => vec![tag, b0],
        0x80..0x100 => vec![tag, 0x81, b0],
        0x100..0x1_0000 => vec![tag, 0x82, b1, b0],
        _ => vec![tag, 0x83, b2, b1, b0],
    };
    [&header[..], content].concat()
}
