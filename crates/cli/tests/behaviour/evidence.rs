//! `verify --export`: a script checks a package without our program, and finds alterations.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use crate::authority;
use crate::world::World;

const CHECK: &str = "sh evidence/check.sh --root release --hmac-key shared --secret secret";
/// Without Python, whose start takes longer than everything else. For alterations that are found
/// before the signatures are verified.
const CHECK_BY_OPENSSL: &str =
    "PYTHON=none sh evidence/check.sh --root release --hmac-key shared --secret secret";

/// A directory with two files and a link.
fn release() -> World {
    let world = World::new();
    fs::create_dir_all(world.path("release/docs")).unwrap();
    world.write("release/README", b"read me\n");
    world.write("release/docs/a name ü", b"");
    symlink("docs/a name ü", world.path("release/link")).unwrap();
    world
}

/// Alice signed the directory, with no other layer. The evidence is in `evidence`.
fn exported_with_one_signature() -> World {
    let world = release();
    world.line(
        "sealstone sign -q --passphrase-file passphrase --from alice.passport release
         sealstone verify -q --signer alice.pub --export evidence release.package",
    );
    world
}

/// Alice and Bob signed the directory with every layer, Carol counter-signed, and it has two
/// timestamps. The evidence is in `evidence`.
fn exported() -> World {
    let world = release();
    for (name, byte) in [("shared", b'k'), ("secret", b's')] {
        world.write(name, &[byte; 150]);
        fs::set_permissions(world.path(name), fs::Permissions::from_mode(0o600)).unwrap();
    }
    world.write("policy.json", b"{\"use\": [\"research\", 1]}");
    let files = "--hmac-key shared --secret-file secret --policy policy.json";
    let sign = "sealstone sign -q --passphrase-file passphrase --from";
    world.line(&format!(
        "sealstone passport new -q -o carol.passport --label carol --profile=custom:m=7MiB,t=5,p=1
         {sign} alice.passport --cosigner bob.pub {files} --author '<b>Ä</b>' --layers timestamp release
         {sign} bob.passport --cosign release.package
         {sign} carol.passport --countersign release.package"
    ));
    authority::make(&world);
    authority::stamp(&world, "release.package");
    authority::stamp(&world, "release.package");
    world.line(
        "sealstone verify -q --signer alice.pub --signer bob.pub --hmac-key shared \
         --secret-file secret --roots tsa/root.pem --export evidence release.package",
    );
    world
}

impl World {
    /// Runs lines of bash that must succeed.
    #[track_caller]
    fn line(&self, lines: &str) {
        crate::world::succeed(&mut self.bash(&format!("set -e\n{lines}")));
    }

    /// Runs the script. Returns its exit code and its output.
    fn check(&self, line: &str) -> (i32, String) {
        let output = self.bash(line).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), text + &errors)
    }
}

/// Whether the machine's OpenSSL has ML-DSA.
fn has_ml_dsa() -> bool {
    let listed = Command::new("openssl")
        .args(["list", "-signature-algorithms"])
        .output();
    String::from_utf8_lossy(&listed.unwrap().stdout).contains("ML-DSA-65")
}

/// Whether its Python has ML-DSA. The script uses it if OpenSSL does not have ML-DSA.
fn python_has_ml_dsa(world: &World) -> bool {
    let probe = "from cryptography.hazmat.primitives.asymmetric import mldsa
mldsa.MLDSA65PublicKey.from_public_bytes(bytes(1952))";
    world.check(&format!("python3 -I -c '{probe}'")).0 == 0
}

/// The layers that the script calls bad, by their numbers.
fn bad(printed: &str) -> String {
    let number = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().take(3).collect();
        matches!(words[..], [_, _, "bad"]).then(|| words[0].to_owned())
    };
    printed.lines().filter_map(number).collect()
}

#[test]
fn openssl_alone_checks_every_layer() {
    let world = exported();
    let (code, text) = world.check(CHECK);
    let (status, ml_dsa) = match has_ml_dsa() || python_has_ml_dsa(&world) {
        true => (0, "4 ml-dsa-65  good      3 signature(s)\n"),
        false => (3, "4 ml-dsa-65  unchecked needs OpenSSL 3.5"),
    };
    assert_eq!(code, status, "{text}");
    for line in [
        "1 content    good      3 file(s)\n",
        "2 hmac       good      made with this key\n",
        "3 ed25519    good      3 signature(s)\n",
        ml_dsa,
        "5 keys       good      made with this key\n",
        "6 timestamp  good      2 timestamp(s), the first one of ",
        "\ncounter-signer ",
    ] {
        assert!(text.contains(line), "{line}: {text}");
    }
    // The checker's own roots and signers, and no keys.
    let show = "sealstone --json inspect alice.pub | grep -o '[0-9a-f-]\\{79\\}' | head -n 1";
    let (code, text) = world.check(&format!(
        "sh evidence/check.sh --root release --tsa-roots tsa/root.pem --signer $({show})"
    ));
    assert_eq!((code, bad(&text)), (3, String::new()), "{text}");
    assert!(text.contains("2 hmac       unchecked"), "{text}");
    let (code, text) = world.check(&format!("{CHECK} --signer {}", "0".repeat(64)));
    assert_eq!(code, 1);
    assert!(text.contains("not signed by 0000"), "{text}");
    // Another directory of temporary files; nothing is left there.
    let (_, left) = world.check(&format!(
        "mkdir tmp; TMPDIR=$PWD/tmp {CHECK} >/dev/null; ls -A tmp"
    ));
    assert_eq!(left, "");
}

#[test]
fn python_checks_ml_dsa_where_openssl_cannot() {
    let world = exported();
    // An OpenSSL without ML-DSA, and a Python that refuses each signature.
    world.line(
        "mkdir bin
         printf '#!/bin/sh\n[ \"$1\" = list ] || exec openssl \"$@\"\n' >bin/old
         printf '#!/bin/sh\n[ $# -eq 3 ]\n' >bin/refuses
         chmod +x bin/*",
    );
    let by = |python: &str| world.check(&format!("OPENSSL=$PWD/bin/old PYTHON={python} {CHECK}"));
    let (code, text) = by("$PWD/bin/none");
    assert_eq!((code, bad(&text)), (3, String::new()), "{text}");
    for part in [
        "4 ml-dsa-65  unchecked needs OpenSSL 3.5 (OPENSSL=/path), or python3 with",
        "\nNOT COMPLETE",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let (code, text) = by("$PWD/bin/refuses");
    assert_eq!((code, bad(&text).as_str()), (1, "4"), "{text}");
    assert!(text.contains("wrong: 1 2 3\n"), "{text}");
    if !python_has_ml_dsa(&world) {
        println!("skipped: this Python has no ML-DSA");
        return;
    }
    let (code, text) = by("python3");
    assert_eq!((code, bad(&text)), (0, String::new()), "{text}");
    assert!(
        text.contains("4 ml-dsa-65  good      3 signature(s)\n"),
        "{text}"
    );
    let mut signature = world.read("evidence/signature-3/ml-dsa-65.sig");
    signature[900] ^= 1;
    world.write("evidence/signature-3/ml-dsa-65.sig", &signature);
    let (code, text) = by("python3");
    assert_eq!(code, 1);
    assert!(text.contains("4 ml-dsa-65  bad       wrong: 3\n"), "{text}");
}

/// File, place of the byte that is changed (from the end if negative), layers that are bad. A
/// counter-signature and the timestamps cover the signatures before them.
type Alteration = (&'static str, i32, &'static str);

/// One of each file.
const ONE_OF_EACH: [Alteration; 16] = [
    ("release/README", 0, "1"),
    ("evidence/files.txt", 3, "1"),
    ("evidence/policy.json", 3, "1"),
    // The last byte of the policy's digest.
    ("evidence/manifest.cbor", -1, "123456"),
    ("evidence/hmac.tag", 31, "2346"),
    ("evidence/keys.confirmation", 0, "3456"),
    // Manifest.
    ("evidence/signature-2/framed", 70, "34"),
    ("evidence/signature-3/prior.cbor", 99, "34"),
    ("evidence/signature-1/fingerprint.input", 30, "346"),
    ("evidence/signature-1/ed25519.pem", 60, "346"),
    ("evidence/signature-1/ed25519.sig", 5, "346"),
    ("evidence/signature-2/ml-dsa-65.pem", 900, "346"),
    ("evidence/timestamp-1/stamped", 35, "6"),
    ("evidence/timestamp-2/response.tsr", -9, "6"),
    ("evidence/timestamp-1/response.sha3-256", 4, "6"),
    ("evidence/timestamp-2/root.pem", 200, "6"),
];

const OTHERS: [Alteration; 9] = [
    // Time, fingerprint, flags, tag, prior.
    ("evidence/signature-1/framed", 28, "346"),
    ("evidence/signature-1/framed", 40, "34"),
    ("evidence/signature-2/framed", 62, "34"),
    ("evidence/signature-3/framed", 130, "34"),
    ("evidence/signature-3/framed", 254, "34"),
    ("evidence/signature-2/ml-dsa-65.sig", 900, "346"),
    ("evidence/timestamp-1/stamped", 900, "6"),
    ("evidence/timestamp-2/stamped", -9, "6"),
    ("evidence/timestamp-1/response.tsr", 1, "6"),
];

#[test]
fn an_alteration_of_each_file_is_seen_at_its_layer() {
    each_alteration(&ONE_OF_EACH);
}

#[test]
#[ignore = "takes long: a run of the script, many times openssl, for each alteration"]
fn other_alterations_are_seen_at_their_layers() {
    each_alteration(&OTHERS);
}

fn each_alteration(alterations: &[Alteration]) {
    let world = exported();
    for &(name, place, layers) in alterations {
        let before = world.read(name);
        let mut altered = before.clone();
        let len = i32::try_from(altered.len()).unwrap();
        let place = usize::try_from((place + len) % len).unwrap();
        // A letter or digit stays a letter or digit.
        altered[place] ^= if altered[place] == b'z' { 3 } else { 1 };
        world.write(name, &altered);
        let (code, text) = world.check(CHECK_BY_OPENSSL);
        let found = (code, &*bad(&text));
        assert_eq!(found, (1, layers), "{name} at {place}:\n{text}");
        world.write(name, &before);
    }
}

#[test]
fn files_that_are_removed_or_added_are_seen() {
    let world = exported_with_one_signature();
    let check = "PYTHON=none sh evidence/check.sh --root release";
    let cases = [
        ("echo x > release/more", "1"),
        ("rm release/README", "1"),
        ("ln -sf README release/link", "1"),
        ("rm release/link; echo > release/link", "1"),
        ("mv release/docs docs; ln -s ../docs release/docs", "1"),
        ("mv release/README r; ln -s ../r release/README", "1"),
        ("mkfifo release/pipe", "1"),
        ("rm release/README; mkfifo release/README", "1"),
        ("touch $'release/x\nREADME'", "1"),
        // The target of a link looks like the line of a right file.
        (
            "h=$(sed -n 's/  README$//p' evidence/files.txt); echo 1234567 > release/README
             ln -sfn \"x\n$h ./README\n8 ./README\ny\" release/link",
            "1",
        ),
        ("cp release.package release/", ""),
    ];
    each_change(&world, check, &cases);
}

#[test]
fn evidence_that_is_removed_or_added_is_seen() {
    let cases = [
        ("rm evidence/policy.json", "1"),
        ("rm evidence/hmac.tag", "346"),
        ("rm -r evidence/signature-*", "346"),
        ("rm -r evidence/signature-2", "6"),
        ("cp evidence/signature-1/*.sig evidence/signature-2", "346"),
        (": > evidence/signature-2/framed", "346"),
        ("rm -r evidence/timestamp-?", "6"),
        ("rm -r evidence/timestamp-2", ""),
        (": > evidence/timestamp-1/stamped", "6"),
        (": > evidence/manifest.cbor", "123456"),
        ("printf x >> evidence/manifest.cbor", "123456"),
        ("truncate -s -1 evidence/manifest.cbor", "123456"),
    ];
    each_change(&exported(), CHECK_BY_OPENSSL, &cases);
}

/// Each change makes these layers bad. Without any, it is harmless.
fn each_change(world: &World, check: &str, cases: &[(&str, &str)]) {
    for (change, layers) in cases {
        world.line("rm -rf before; mkdir before; cp -a release evidence before");
        world.line(change);
        let (code, text) = world.check(check);
        assert_eq!(bad(&text), *layers, "{change}:\n{text}");
        assert_eq!(code == 1, !layers.is_empty(), "{change}:\n{text}");
        world.line("rm -rf release evidence docs r; mv before/* .");
    }
}

#[test]
fn no_key_is_an_argument_of_a_program() {
    let world = exported();
    fs::create_dir(world.path("bin")).unwrap();
    // Programs that log their arguments and environment.
    let programs = "openssl awk od cat tail tr cut sed printf";
    world.line(&format!(
        "for p in {programs}; do
           printf '#!/bin/sh\\n{{ echo \"$@\"; env; }} >>%s/log\\nexec %s \"$@\"\\n' \
             \"$PWD\" \"$(command -v -p \"$p\" || echo /usr/bin/$p)\" >bin/$p
         done
         sed -i 's|exec printf|exec /usr/bin/printf|' bin/printf
         chmod +x bin/*"
    ));
    let (code, text) = world.check(&format!("PATH=$PWD/bin:$PATH {CHECK_BY_OPENSSL}"));
    assert_eq!(bad(&text), "", "{text}");
    assert_ne!(code, 1);
    let log = String::from_utf8_lossy(&world.read("log")).into_owned();
    assert!(log.contains("hexsalt:stdin") && log.contains("key:sealstone.package.hmac.v1"));
    let (_, extracted) = world.check(
        "for f in hmac:shared keys:secret; do openssl dgst -sha3-256 -mac HMAC \
         -macopt key:sealstone.package.${f%:*}.v1 -r <${f#*:}; done",
    );
    for line in extracted.lines() {
        let key = line.split(' ').next().unwrap();
        assert_eq!(key.len(), 64);
        assert!(!log.contains(key) && !log.contains(&key[..16]));
    }
    for key in ["kkkkkkkk", "ssssssss", "6b6b6b6b", "73737373"] {
        assert!(!log.contains(key), "{key}");
    }
}

#[test]
fn embedded_files_and_other_digests() {
    let world = World::new();
    let sign = "sealstone sign -q --passphrase-file passphrase --from alice.passport";
    world.line(&format!(
        "{sign} --embed -o in.package plan.txt
         {sign} --digest skein-tree -o tree.package plan.txt
         sealstone verify -q --signer alice.pub --export evidence in.package
         sealstone verify -q --signer alice.pub --export tree tree.package"
    ));
    assert_eq!(world.read("evidence/content/plan.txt"), b"attack at dawn\n");
    let (code, text) = world.check("cd evidence; sh check.sh");
    assert!(text.contains("1 content    good      1 file(s)"), "{text}");
    assert_ne!(code, 1);
    for change in [
        "echo x > evidence/content/plan.txt",
        "rm -r evidence/content",
    ] {
        world.line(change);
        let (code, text) = world.check("sh evidence/check.sh");
        assert_eq!((code, &bad(&text)[..]), (1, "1"), "{change}: {text}");
    }
    // OpenSSL has no Skein. The script names a program that has it.
    let (code, text) = world.check("sh tree/check.sh --root .");
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("1 content    unchecked OpenSSL has no Skein: sealstone hash -c"));
    world.line("sealstone hash -c tree/files.txt");
}

#[test]
fn a_bad_package_has_evidence_too_and_nothing_is_replaced() {
    let world = World::new();
    world.line(
        "sealstone sign -q --passphrase-file passphrase --from alice.passport plan.txt
         echo x > plan.txt",
    );
    let export = [
        "verify",
        "--signer",
        "alice.pub",
        "--export",
        "evidence",
        "plan.txt.package",
    ];
    let output = world.command(&export).output().unwrap();
    assert_eq!(output.status.code(), Some(11));
    let (code, text) = world.check("sh evidence/check.sh --root .");
    assert_eq!((code, &bad(&text)[..]), (1, "1"), "{text}");
    let said = world.refused(&export, 3);
    assert!(said.contains("evidence exists"), "{said}");
    assert!(!world.names().iter().any(|name| name.ends_with(".tmp")));
    for wrong in ["--root", "--root nowhere", "--hmac-key nothing", "x"] {
        let (code, text) = world.check(&format!("sh evidence/check.sh {wrong}"));
        assert_eq!(code, 2);
        assert!(text.contains("usage: sh check.sh"), "{text}");
    }
}

/// With a Python that has ML-DSA-65, if OpenSSL does not have it (`scripts/test-interop`).
mod interop {
    use super::*;

    const SCRIPT: &str = "
import base64, pathlib, sys
from dilithium_py.ml_dsa import ML_DSA_65
for one in sorted(pathlib.Path('evidence').glob('signature-*')):
    lines = (one / 'ml-dsa-65.pem').read_text().splitlines()[1:-1]
    key = base64.b64decode(''.join(lines))[-1952:]
    right = ML_DSA_65.verify(
        key, (one / 'framed').read_bytes(), (one / 'ml-dsa-65.sig').read_bytes(),
        ctx=b'sealstone.package.v1')
    print(one.name, right)
";

    #[test]
    fn another_library_verifies_the_exported_signatures() {
        let Some(python) = std::env::var_os("SEALSTONE_INTEROP_PYTHON") else {
            println!("skipped: run scripts/test-interop");
            return;
        };
        let world = exported();
        let run = || {
            let mut command = Command::new(&python);
            command.args(["-c", SCRIPT]).current_dir(world.path("."));
            String::from_utf8(crate::world::succeed(&mut command)).unwrap()
        };
        let good = "signature-1 True\nsignature-2 True\nsignature-3 True\n";
        assert_eq!(run(), good);
        let mut signature = world.read("evidence/signature-2/ml-dsa-65.sig");
        signature[900] ^= 1;
        world.write("evidence/signature-2/ml-dsa-65.sig", &signature);
        assert_eq!(run(), good.replace("2 True", "2 False"));
    }
}

/// The names of elements that are open at the end, or a wrong end tag. Everything else is text.
fn unbalanced(html: &str) -> Vec<String> {
    let mut open = Vec::new();
    for part in html.split('<').skip(1) {
        let tag = part.split('>').next().unwrap();
        let name = tag.split([' ', '/']).find(|part| !part.is_empty()).unwrap();
        match tag {
            _ if tag.starts_with('!') || tag.ends_with('/') => {}
            _ if !tag.starts_with('/') => open.push(name.to_owned()),
            _ if open.last().is_some_and(|last| last == name) => drop(open.pop()),
            _ => open.push(format!("/{name}")),
        }
    }
    open
}

#[test]
fn a_report_for_people_escapes_what_others_write() {
    let world = World::new();
    fs::create_dir(world.path("release")).unwrap();
    let hostile = "<img src=x onerror=alert(1)>&'\"";
    world.write(&format!("release/{hostile}"), b"1");
    for number in 0..30 {
        world.write(&format!("release/{number}"), b"1");
    }
    let policy = "{\"a\": \"</pre></script><script>alert(1)</script>\", \"b\": \"\u{202e}txt\"}";
    world.write("policy.json", policy.as_bytes());
    let sign = [
        "sign",
        "-q",
        "--from=alice.passport",
        "--author=</title><script>x</script>",
        "--policy=policy.json",
        "release",
    ];
    world.done(&sign);
    let verify = ["verify", "-q", "--signer=alice.pub", "release.package"];
    world.done(&[&verify[..], &["--html=good.html"]].concat());
    world.write("release/0", b"2");
    let mut bad = world.command(&[&verify[..], &["--html=bad.html"]].concat());
    assert_eq!(bad.output().unwrap().status.code(), Some(11));
    for (name, verdict) in [("good.html", "✔ GOOD: "), ("bad.html", "✘ BAD: ")] {
        let html = String::from_utf8(world.read(name)).unwrap();
        assert_eq!(unbalanced(&html), Vec::<String>::new(), "{name}");
        assert!(html.contains(verdict) && html.contains("<details><summary>All 31</summary>"));
        for never in [
            "<script",
            "<img",
            "</script",
            "alert(1)<",
            "\u{202e}",
            "http://",
            "src=",
        ] {
            let shown = html.replace("&lt;img src=x", "");
            assert!(!shown.contains(never), "{name}: {never}");
        }
        assert!(html.contains("<code>&lt;img src=x onerror=alert(1)&gt;&amp;&#39;&quot;</code>"));
        assert!(
            html.contains("&lt;/pre&gt;&lt;/script&gt;&lt;script&gt;")
                && html.contains("\\u{202e}txt")
        );
    }
    let bad = String::from_utf8(world.read("bad.html")).unwrap();
    assert!(bad.contains("<td>altered</td><td><code>0</code></td>"));
    // It is never replaced.
    world.refused(&[&verify[..], &["--html=good.html"]].concat(), 3);
    assert!(!unbalanced("<p><b></p>").is_empty());
}

#[test]
fn a_file_that_is_no_package_has_a_report_too() {
    let world = World::new();
    let (name, page) = ("<b>&.package", "report.html");
    world.write(name, b"\x89PACK\r\n\x1a\n\x01no package");
    let verify = ["verify", "--html", page, name];
    world.refused(&verify, 4);
    let html = String::from_utf8(world.read(page)).unwrap();
    assert_eq!(unbalanced(&html), Vec::<String>::new());
    for text in [
        "✘ BAD: ",
        "malformed",
        "&lt;b&gt;&amp;.package",
        "no layer of it was checked",
    ] {
        assert!(html.contains(text), "{text}: {html}");
    }
    assert!(!html.contains("GOOD") && !html.contains("<b>"));
    // It is never replaced, and there is none of a missing file.
    world.refused(&verify, 3);
    world.refused(&["verify", "--html", "other.html", "nothing.package"], 3);
    assert!(!world.path("other.html").exists());
}

#[test]
fn a_report_shows_times_and_certificates() {
    let world = exported();
    world.line(
        "sealstone verify -q --signer alice.pub --signer bob.pub --hmac-key shared --secret-file secret \
         --roots tsa/root.pem --html report.html release.package",
    );
    let html = String::from_utf8(world.read("report.html")).unwrap();
    assert_eq!(unbalanced(&html), Vec::<String>::new());
    for text in [
        "<dd>CN=Clock</dd>",
        "<dd>CN=Root</dd>",
        "Proved to be before",
        "<dd>2</dd>",
    ] {
        assert!(html.contains(text), "{text}");
    }
    assert_eq!(html.matches("✔ good").count(), 6);
    // It names its package.
    world.line(
        "digest=$(openssl dgst -sha3-256 -r release.package | cut -d' ' -f1)
         grep -q \"<dd>$digest</dd>\" report.html",
    );
}
