//! Durability: a crash of the system loses no result. `strace` shows the order of system calls.

use crate::world::{World, refuse, succeed};

/// Calls that write, sync, name or remove files, with the paths of descriptors.
const TRACE: &str = "strace -f -y -s 0 -o calls \
     -e trace=write,pwrite64,fsync,fdatasync,syncfs,?link,linkat,?rename,?renameat,renameat2,\
     ?unlink,unlinkat";

/// The calls of a command line. `None` if tracing is not possible here.
fn calls(world: &World, line: &str) -> Option<Vec<String>> {
    if !world.bash("strace true").output().unwrap().status.success() {
        println!("skipped: strace is not installed, or may not trace");
        return None;
    }
    succeed(&mut world.bash(&format!("{TRACE} {line}")));
    let calls = String::from_utf8(world.read("calls")).unwrap();
    Some(calls.lines().map(str::to_owned).collect())
}

/// The commands that write a file or a directory `out`. It exists already if they have `--force`.
fn commands(world: &World) -> Vec<String> {
    world.done(&["seal", "-q", "-r", "bob.pub", "--unsigned", "plan.txt"]);
    std::fs::create_dir(world.path("tree")).unwrap();
    world.write("tree/a", b"in a directory");
    world.done(&["seal", "-q", "-r", "bob.pub", "--unsigned", "tree"]);
    let lines = [
        "seal -q -r bob.pub --unsigned -o out plan.txt",
        "open -q -i bob.passport -o out plan.txt.sealed",
        OPEN_TREE,
        "reseal -q -i bob.passport --unsigned -o out plan.txt.sealed",
    ];
    let both = lines.map(|line| {
        [
            format!("sealstone {line}"),
            format!("sealstone {line} --force"),
        ]
    });
    both.concat()
}

const OPEN_TREE: &str = "open -q -i bob.passport -o out tree.sealed";

/// Commands that cannot do without.
const ALWAYS: [&str; 2] = [
    "sealstone sign -q --from bob.passport -o out plan.txt",
    "sealstone passport backup -q bob.passport -o out",
];

fn prepare(world: &World, line: &str) {
    for name in std::fs::read_dir(world.path("")).unwrap() {
        let path = name.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name == "out" || name.starts_with("out.") {
            let _ = std::fs::remove_file(&path);
            let _ = std::fs::remove_dir_all(&path);
        }
    }
    match line.contains("--force") {
        true if line.contains("tree") => std::fs::create_dir(world.path("out")).unwrap(),
        true => world.write("out", b"old"),
        false => {}
    }
}

#[test]
fn content_is_on_the_disk_before_its_name_and_the_name_before_the_end() {
    let world = World::new();
    let directory = format!("<{}>", world.path("").canonicalize().unwrap().display());
    let directory = directory.replace("/>", ">");
    let always = ALWAYS.map(str::to_owned);
    for line in commands(&world).into_iter().chain(always) {
        prepare(&world, &line);
        let Some(calls) = calls(&world, &line) else {
            return;
        };
        let last = |wanted: &dyn Fn(&str) -> bool| calls.iter().rposition(|call| wanted(call));
        let in_file = |call: &str| call.contains("/#") || call.contains("/.sealstone-");
        let written = last(&|call| call.contains("write") && in_file(call)).unwrap();
        let synced = last(&|call| call.contains("sync") && in_file(call));
        let names = |call: &str| {
            (call.contains("link") || call.contains("rename")) && call.contains("out\"")
        };
        let named = last(&names).unwrap();
        // Before the old one is moved aside, too.
        let first = calls.iter().position(|call| names(call));
        let settled = last(&|call| call.contains("sync(") && call.contains(&directory));
        let calls = calls.join("\n");
        assert!(Some(written) < synced, "{line}: content\n{calls}");
        assert!(synced < first, "{line}: order\n{calls}");
        assert!(Some(named) < settled, "{line}: directory\n{calls}");
    }
}

#[test]
fn without_sync_nothing_waits_for_the_disk() {
    let world = World::new();
    for line in commands(&world) {
        prepare(&world, &line);
        let Some(calls) = calls(&world, &format!("{line} --no-sync")) else {
            return;
        };
        let syncs = calls.iter().any(|call| call.contains("sync"));
        assert!(!syncs, "{line}: {calls:?}");
    }
}

/// A crash after that does not turn the monitor on again.
#[test]
fn a_monitor_is_turned_off_durably() {
    let world = World::new();
    world.done(&["monitor", "on"]);
    let Some(calls) = calls(&world, "sealstone monitor off") else {
        return;
    };
    let place = |wanted: &dyn Fn(&str) -> bool| calls.iter().position(|call| wanted(call));
    let removed = place(&|call| call.contains("unlink") && call.contains("monitor/state\""));
    let settled = place(&|call| call.contains("sync(") && call.contains("/monitor>"));
    let calls = calls.join("\n");
    assert!(removed.is_some() && removed < settled, "{calls}");
}

/// A crash after that loses neither the damaged state nor the fresh one.
#[test]
fn a_damaged_state_of_the_monitor_is_kept_durably() {
    let world = World::new();
    world.done(&["monitor", "on"]);
    world.write("data/sealstone/monitor/state", b"damaged");
    let Some(calls) = calls(&world, "sealstone monitor report") else {
        return;
    };
    let place = |wanted: &dyn Fn(&str) -> bool| calls.iter().position(|call| wanted(call));
    let aside = place(&|call| call.contains("rename") && call.contains("state.damaged-1\""));
    let settled = place(&|call| call.contains("sync(") && call.contains("/monitor>"));
    let fresh = place(&|call| call.contains("rename") && call.contains("/state\") "));
    let calls = calls.join("\n");
    assert!(aside.is_some() && aside < settled, "aside\n{calls}");
    assert!(settled < fresh, "fresh\n{calls}");
}

/// The old directory was moved aside, the new one gets no name, and the old one cannot come back.
#[test]
fn a_directory_that_stays_aside_is_named() {
    let world = World::new();
    commands(&world);
    let line = format!("sealstone {OPEN_TREE} --force");
    prepare(&world, &line);
    if !world.bash("strace true").output().unwrap().status.success() {
        println!("skipped: strace is not installed, or may not trace");
        return;
    }
    let fail = |which: &str| {
        let inject = format!("-e trace=renameat2 -e inject=renameat2:error=EIO:when={which}");
        let mut command = world.bash(&format!("strace -f -qq -o calls {inject} {line}"));
        refuse(&mut command, 3)
    };
    let said = fail("2");
    assert!(!said.contains("moved back"), "{said}");
    assert!(world.path("out").is_dir() && !world.path("out.~1~").exists());
    let said = fail("2+");
    assert!(
        said.contains("the replaced file or directory is now out.~1~, and could not be moved back"),
        "{said}"
    );
    assert!(!world.path("out").exists() && world.path("out.~1~").is_dir());
}
