//! Planted bugs that the campaign must notice: each is a bug of a careless command, and each is
//! caught.

use std::ffi::OsString;
use std::fs;

use crate::content::{Open, SEAL, Seal, write_pattern};
use crate::disk::{self, in_rooms};
use crate::fault::{self, Fault};
use crate::kill::at_random;
use crate::rotation::Rotation;
use crate::scale::Random;
use crate::slots::{self, NewPassport, Slot};
use crate::store::{self, Store};
use crate::victim::{End, Leftover, Victim};
use crate::world::{Checked, OLD, World};
use crate::{altered, hostile, memory, pipes};

/// A victim whose command is a shell script.
struct Fake<V> {
    victim: V,
    script: &'static str,
}

impl<V: Victim> Victim for Fake<V> {
    fn name(&self) -> &'static str {
        self.victim.name()
    }

    fn world(&self) -> &World {
        self.victim.world()
    }

    fn reset(&self) {
        self.victim.reset();
    }

    fn argv(&self) -> Vec<OsString> {
        ["sh", "-c", self.script].map(OsString::from).into()
    }

    fn check(&self, end: End) -> Checked {
        self.victim.check(end)
    }
}

const LEN: u64 = 1 << 20;

fn seal(script: &'static str) -> Fake<Seal> {
    Fake {
        victim: Seal::of_len(LEN, Leftover::Nothing),
        script,
    }
}

fn slot(script: &'static str) -> Fake<Slot> {
    Fake {
        victim: Slot::new(slots::Verb::Change, Leftover::Nothing),
        script,
    }
}

fn store(verb: store::Verb, script: &'static str) -> Fake<Store> {
    Fake {
        victim: Store::new(verb),
        script,
    }
}

/// The command was cut short after `script`.
fn caught_when_cut(victim: &dyn Victim, complaint: &str) {
    victim.reset();
    victim
        .check(End::Cut)
        .expect("the state before the command is fine");
    victim.reset();
    crate::world::finish(victim.world().command(&victim.argv()).spawn().unwrap())
        .succeeded()
        .unwrap();
    complains(victim.check(End::Cut), complaint);
}

fn complains<T: std::fmt::Debug>(checked: Checked<T>, complaint: &str) {
    let error = checked.expect_err("the planted mistake was not noticed");
    assert!(error.contains(complaint), "noticed something else: {error}");
}

/// The output is complete at the end, but visible while it is written. Only a kill in between shows
/// that.
#[test]
fn writer_without_temporary_file_is_caught_by_kills() {
    let honest = seal("");
    honest
        .world()
        .run(&[&SEAL[..], &["-o", "../keys/whole", "in"]].concat())
        .succeeded()
        .unwrap();
    let direct = Fake {
        script: "head -c 500000 ../keys/whole > out.sealed; sleep 0.2; tail -c +500001 ../keys/whole >> out.sealed",
        ..honest
    };
    complains(at_random(&direct, 20, &mut Random::new()), "failed");
}

#[test]
fn partial_and_forgotten_files_are_caught() {
    caught_when_cut(&seal("head -c 1000 in > out.sealed"), "failed");
    caught_when_cut(&seal(": > out.sealed"), "failed");
    caught_when_cut(&seal("cp in out.sealed.part"), "left behind");
    caught_when_cut(
        &seal("cp in .sealstone-0000000000000000.tmp"),
        "left behind",
    );
    caught_when_cut(&seal("cp in ../tmp/spool"), "left behind");
    let open = |script| Fake {
        victim: Open::of_len(LEN, Leftover::Nothing),
        script,
    };
    caught_when_cut(&open("head -c 524288 in > out"), "differs");
    caught_when_cut(&open("tr '\\001' '\\002' < in > out"), "differs");
    complains(seal("").check(End::Done), "there is no out.sealed");
}

#[test]
fn lost_passports_are_caught() {
    caught_when_cut(
        &slot("rm my.passport"),
        "old opens: false, new opens: false",
    );
    caught_when_cut(
        &slot("head -c 300 ../keys/my.passport > my.passport"),
        "old opens: false, new opens: false",
    );
    caught_when_cut(
        &slot("cp ../keys/bob.passport my.passport"),
        "old opens: false, new opens: false",
    );
    caught_when_cut(&slot("cp my.passport my.passport.bak"), "left behind");
    caught_when_cut(
        &slot("head -c 300 my.passport > .sealstone-0000000000000000.tmp"),
        "old opens: false",
    );
    complains(slot("").check_after_reset(End::Done), "old opens: true");
    let new = |script| Fake {
        victim: NewPassport::new(Leftover::Nothing),
        script,
    };
    caught_when_cut(&new("cp ../keys/bob.pub my.pub"), "[false, true]");
    caught_when_cut(
        &new("head -c 300 ../keys/bob.passport > my.passport"),
        "failed",
    );
}

#[test]
fn lost_default_passports_are_caught() {
    let rotate = |script| Fake {
        victim: Rotation::new(),
        script,
    };
    // The old passport is not kept.
    caught_when_cut(
        &rotate(
            "cd ~/.local/share/sealstone && cp ~/keys/bob.passport default.passport && cp ~/keys/bob.pub default.pub",
        ),
        "../keys/letter does not open",
    );
    caught_when_cut(
        &rotate("rm ~/.local/share/sealstone/default.passport"),
        "../keys/letter does not open",
    );
    caught_when_cut(
        &rotate("touch ~/.local/share/sealstone/.sealstone-0000000000000000.tmp"),
        "left behind",
    );
    complains(rotate("").check_after_reset(End::Done), "still the old one");
}

#[test]
fn damaged_stores_are_caught() {
    let approve = |script| store(store::Verb::Approve, script);
    caught_when_cut(&approve("rm -r ../trust"), "No such file");
    caught_when_cut(&approve("rm ../trust/*"), "0 records");
    caught_when_cut(&approve("rm ../trust/head"), "failed");
    caught_when_cut(&approve("truncate -s -1 ../trust/log"), "failed");
    caught_when_cut(&approve("cp ../trust/log ../trust/log.old"), "left behind");
    caught_when_cut(
        &store(store::Verb::Rekey, "head -c 37 /dev/urandom > ../trust/key"),
        "failed",
    );
    complains(
        approve("").check_after_reset(End::Done),
        "should have become approved",
    );
}

impl<V: Victim> Fake<V> {
    fn check_after_reset(&self, end: End) -> Checked {
        self.reset();
        self.check(end)
    }
}

/// A change in place is complete before and after. Only some of its steps show the bug.
#[test]
fn change_in_place_is_caught_at_its_steps() {
    let fake = slot("");
    let change = [
        "passport",
        "slot",
        "change",
        "my.passport",
        "--passphrase-file",
        OLD,
    ];
    fake.reset();
    fake.world()
        .run(&[&change[..], &["--new-passphrase-file", crate::world::NEW]].concat())
        .succeeded()
        .unwrap();
    fs::rename(
        fake.world().work("my.passport"),
        fake.world().path("keys/changed"),
    )
    .unwrap();
    let in_place = Fake {
        script: "dd bs=100 status=none if=../keys/changed of=my.passport",
        ..fake
    };
    match fault::can_trace() {
        Ok(()) => complains(
            fault::everywhere(&in_place, "write", Fault::Kill),
            "old opens: false, new opens: false",
        ),
        Err(why) => crate::scale::skip("a change in place, killed at its steps", &why),
    }
}

#[test]
fn careless_use_of_a_full_disk_is_caught() {
    let limited = |script| in_rooms(&seal(script), &[LEN / 2], disk::limit_size);
    complains(limited("cat in > out.sealed"), "ended with");
    complains(
        limited("trap '' XFSZ; cat in > out.sealed 2> /dev/null; exit 0"),
        "failed",
    );
    complains(
        limited("trap '' XFSZ; cat in > out.sealed 2> /dev/null; exit 3"),
        "no message says",
    );
    complains(
        limited(
            "trap '' XFSZ; cat in > out.sealed 2> /dev/null; echo 'sealstone: File too large' >&2; exit 3",
        ),
        "failed",
    );
}

#[test]
fn noise_about_a_closed_pipe_is_caught() {
    let world = World::new();
    let outcome = |script: &str| {
        fs::write(world.work("in"), "").unwrap();
        pipes::check(&world, &world.shell(script))
    };
    outcome("exit 3").unwrap();
    complains(outcome("exit 0"), "ended with");
    complains(
        outcome("echo thread main panicked >&2; exit 3"),
        "is not quiet",
    );
    complains(outcome("touch part; exit 3"), "left behind");
    fs::remove_file(world.work("part")).unwrap();
    complains(outcome("touch ../tmp/spool; exit 3"), "left behind");
}

#[test]
fn hunger_for_memory_is_caught() {
    let world = World::new();
    let takes = |mib: u32| {
        let script = format!("x=$(head -c {mib}M /dev/zero | tr '\\0' x); sleep 0.1");
        memory::measured(world.command(&["sh", "-c", &script].map(OsString::from))).unwrap()
    };
    let (little, much) = (takes(1), takes(30));
    complains(memory::constant(little, much), "for longer content");
    complains(memory::within_limit(takes(100)), "bytes of memory");
    complains(memory::within_limit(0), "nothing was measured");
}

/// The command uses as much memory as the file asks for. The test must notice.
#[test]
fn trust_in_what_a_file_asks_for_is_caught() {
    let world = World::new();
    fs::write(world.work("hostile"), "").unwrap();
    let generous = ["seal", "-q", "-p", "--unsigned", "--passphrase-file", OLD];
    let asks = ["--profile", "custom:m=512MiB,t=1,p=1"];
    let sealed = ["-o", "../keys/asks", "hostile"];
    let made = world.run(&[&generous[..], &asks, &sealed].concat());
    made.succeeded().unwrap();
    fs::copy(world.path("keys/asks"), world.work("hostile")).unwrap();
    let outcome = hostile::open(&world, "hostile");
    complains(
        hostile::refused(&world, &outcome, 9, "the limit is"),
        "no message says",
    );
    complains(hostile::refused(&world, &outcome, 4, ""), "ended with");
}

#[test]
fn credulous_opener_is_caught() {
    let world = World::new();
    write_pattern(&world.work("in"), LEN);
    let refused = |script: &str| altered::refused(&world, &world.shell(script));
    refused("echo 'sealstone: altered: no' >&2; exit 5").unwrap();
    complains(
        refused("echo 'sealstone: altered: no' >&2; exit 0"),
        "ended with",
    );
    complains(
        refused("echo 'sealstone: altered: no' >&2; exit 1"),
        "ended with",
    );
    complains(refused("exit 5"), "no message");
    complains(
        refused("echo 'sealstone: altered: no' >&2; echo panicked >&2; exit 5"),
        "a panic",
    );
    complains(
        refused("head -c 9 in; echo 'sealstone: altered: no' >&2; exit 5"),
        "9 bytes were released",
    );
    complains(
        refused("cp in out; echo 'sealstone: altered: no' >&2; exit 5"),
        "left behind",
    );
}

#[test]
fn trust_in_whatever_store_is_caught() {
    let world = World::new();
    complains(altered::store_is_refused(&world), "trust");
}
