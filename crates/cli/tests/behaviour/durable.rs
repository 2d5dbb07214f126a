//! Durability: a crash of the system loses no result. `strace` shows the order of system calls.

use crate::world::{World, succeed};

/// Calls that write, sync or name files, with the paths of descriptors.
const TRACE: &str = "strace -f -y -s 0 -o calls \
     -e trace=write,pwrite64,fsync,fdatasync,?link,linkat,?rename,?renameat,renameat2";

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

/// The commands that write a file `out`. It exists already if they have `--force`.
fn commands(world: &World) -> [String; 4] {
    world.done(&["seal", "-q", "-r", "bob.pub", "--unsigned", "plan.txt"]);
    let seal = "sealstone seal -q -r bob.pub --unsigned -o out plan.txt";
    let open = "sealstone open -q -i bob.passport -o out plan.txt.sealed";
    [seal, open]
        .map(|line| [line.to_owned(), format!("{line} --force")])
        .concat()
        .try_into()
        .unwrap()
}

fn prepare(world: &World, line: &str) {
    let _ = std::fs::remove_file(world.path("out"));
    if line.contains("--force") {
        world.write("out", b"old");
    }
}

#[test]
fn content_is_on_the_disk_before_its_name_and_the_name_before_the_end() {
    let world = World::new();
    let directory = format!("<{}>", world.path("").canonicalize().unwrap().display());
    let directory = directory.replace("/>", ">");
    for line in commands(&world) {
        prepare(&world, &line);
        let Some(calls) = calls(&world, &line) else {
            return;
        };
        let last = |wanted: &dyn Fn(&str) -> bool| calls.iter().rposition(|call| wanted(call));
        let in_file = |call: &str| call.contains("/#") || call.contains("/.sealstone-");
        let written = last(&|call| call.contains("write") && in_file(call)).unwrap();
        let synced = last(&|call| call.contains("sync(") && in_file(call));
        let named = last(&|call| call.contains("link") || call.contains("rename")).unwrap();
        let settled = last(&|call| call.contains("sync(") && call.contains(&directory));
        let calls = calls.join("\n");
        assert!(Some(written) < synced, "{line}: content\n{calls}");
        assert!(synced < Some(named), "{line}: order\n{calls}");
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
        assert!(!calls.concat().contains("sync("), "{line}: {calls:?}");
    }
}
