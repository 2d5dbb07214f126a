//! `kill -9` at random moments.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::content::{Open, Seal};
use crate::directories::Directory;
use crate::namespace::{self, Place};
use crate::rotation::Rotation;
use crate::scale::{Random, is_long, long_tests, say, scaled, skip};
use crate::slots::{self, NewPassport, Slot};
use crate::store::{self, Store};
use crate::victim::{End, Leftover, Victim};
use crate::world::{Checked, finish};

/// The results of a campaign.
#[derive(Debug)]
pub(crate) struct Tally {
    pub(crate) kills: u32,
    /// The number of kills before the command had ended.
    pub(crate) hits: u32,
}

/// The number of kills per kind of command.
fn kills() -> u32 {
    scaled(8, 200)
}

#[test]
fn seal() {
    campaign(&[&Seal::new(Leftover::Nothing)], kills());
}

#[test]
fn open() {
    campaign(&[&Open::new(Leftover::Nothing)], kills());
}

#[test]
fn directories() {
    campaign(
        &[&Directory::sealing(), &Directory::unpacking()],
        2 * kills(),
    );
}

#[test]
fn passport_slots() {
    let slot = |verb| Slot::new(verb, Leftover::Nothing);
    let (add, change, remove) = (
        slot(slots::Verb::Add),
        slot(slots::Verb::Change),
        slot(slots::Verb::Remove),
    );
    // `change` replaces the passphrase of the passport. Half of the kills are for it.
    campaign(&[&add, &change, &change, &remove], 2 * kills());
}

#[test]
fn passport_rotation() {
    campaign(&[&Rotation::new()], kills());
}

#[test]
fn trust_decisions() {
    campaign(
        &[
            &Store::new(store::Verb::Approve),
            &Store::new(store::Verb::Deny),
        ],
        kills(),
    );
}

#[test]
fn trust_rekey() {
    campaign(&[&Store::new(store::Verb::Rekey)], kills());
}

/// Without `/proc`, a file without a name cannot get a name. So the command uses hidden files, as
/// on file systems without unnamed files.
#[test]
fn with_hidden_temporary_files() {
    match namespace::enter("kill", "with_hidden_temporary_files") {
        Place::Inside => {
            namespace::limit_disk(1 << 30);
            let slot = Slot::new(slots::Verb::Change, Leftover::Hidden);
            let (seal, open) = (Seal::new(Leftover::Hidden), Open::new(Leftover::Hidden));
            let new = NewPassport::new(Leftover::Hidden);
            namespace::hide_proc();
            assert!(
                hidden_files_are_used(&seal),
                "files without names are used all the same"
            );
            campaign(&[&seal, &open, &slot, &new], scaled(8, 40));
        }
        Place::Done => {}
        Place::Refused(why) => skip("kills with hidden temporary files", &why),
    }
}

/// Spreads `kills` over the victims.
fn campaign(victims: &[&dyn Victim], kills: u32) {
    let mut random = Random::new();
    let share = kills.div_ceil(victims.len() as u32);
    for victim in victims {
        let tally = at_random(*victim, share, &mut random)
            .unwrap_or_else(|e| panic!("{}: {e}", victim.name()));
        say(&format!(
            "{}: killed {} times, {} before its end",
            victim.name(),
            tally.kills,
            tally.hits
        ));
        assert!(
            !is_long() || tally.hits * 4 >= tally.kills,
            "{}: most kills came too late",
            victim.name()
        );
    }
}

/// Kills the command at moments spread evenly over its run time, and checks after each.
pub(crate) fn at_random(victim: &dyn Victim, kills: u32, random: &mut Random) -> Checked<Tally> {
    let duration = measure(victim)?;
    let mut hits = 0;
    for _ in 0..kills {
        let after = duration.mul_f64(random.fraction());
        let end = kill_after(victim, after);
        hits += u32::from(end == End::Cut);
        victim
            .check(end)
            .map_err(|e| format!("killed after {after:?} of {duration:?}: {e}"))?;
    }
    Ok(Tally { kills, hits })
}

/// The shortest time of three runs. Each must succeed.
fn measure(victim: &dyn Victim) -> Checked<Duration> {
    let run = || {
        victim.reset();
        let start = Instant::now();
        finish(victim.world().command(&victim.argv()).spawn().unwrap()).succeeded()?;
        let taken = start.elapsed();
        victim.check(End::Done).map(|()| taken)
    };
    Ok(run()?.min(run()?).min(run()?))
}

fn kill_after(victim: &dyn Victim, after: Duration) -> End {
    victim.reset();
    let mut command = victim.world().command(&victim.argv());
    let mut child = command
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    sleep(after);
    child.kill().unwrap();
    match child.wait().unwrap().signal() {
        Some(_) => End::Cut,
        None => End::Done,
    }
}

/// Whether a hidden file can be seen while the command works.
fn hidden_files_are_used(victim: &dyn Victim) -> bool {
    victim.reset();
    let mut child = victim.world().command(&victim.argv()).spawn().unwrap();
    let mut seen = false;
    while !seen && child.try_wait().unwrap().is_none() {
        seen = victim
            .world()
            .others("work", &[])
            .unwrap()
            .iter()
            .any(|name| crate::victim::is_hidden(name));
    }
    finish(child).succeeded().unwrap();
    seen
}

long_tests!(
    seal,
    open,
    directories,
    passport_slots,
    passport_rotation,
    trust_decisions,
    trust_rekey,
    with_hidden_temporary_files,
);
