//! The directory of a package's files: no read outside of it, and no blocking.

use std::fs;
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::fs::symlink;
use std::path::Path;

use sealstone::package::{Object, RelativePath, Source};
use sealstone_files::Tree;

/// `inside/{a, d/b, link -> a, up -> .., pipe, socket}` and `outside`.
fn scratch() -> tempfile::TempDir {
    let scratch = tempfile::tempdir().unwrap();
    let inside = scratch.path().join("inside");
    fs::create_dir_all(inside.join("d/empty")).unwrap();
    fs::write(inside.join("a"), "content of a").unwrap();
    fs::write(inside.join("d/b"), "content of b").unwrap();
    fs::write(scratch.path().join("outside"), "secret").unwrap();
    symlink("a", inside.join("link")).unwrap();
    symlink("..", inside.join("up")).unwrap();
    symlink("d", inside.join("alias")).unwrap();
    let pipe = inside.join("pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    drop(std::os::unix::net::UnixListener::bind(inside.join("socket")).unwrap());
    scratch
}

fn tree(scratch: &Path) -> Tree {
    Tree::open(&scratch.join("inside")).unwrap()
}

/// The content, the target, or the kind of the entry.
fn look(tree: &Tree, path: &str) -> String {
    match tree.open(&RelativePath::new(path).unwrap()).unwrap() {
        Object::Missing => "missing".to_owned(),
        Object::Other => "other".to_owned(),
        Object::Link(target) => format!("-> {target}"),
        Object::File(mut reader) => {
            let mut text = String::new();
            reader.read_to_string(&mut text).unwrap();
            text
        }
    }
}

#[test]
fn links_are_not_followed_and_nothing_blocks() {
    let scratch = scratch();
    let tree = tree(scratch.path());
    let expected = [
        ("a", "content of a"),
        ("d/b", "content of b"),
        ("link", "-> a"),
        ("up", "-> .."),
        ("up/outside", "missing"),
        ("alias/b", "missing"),
        ("a/b", "missing"),
        ("d", "other"),
        ("pipe", "other"),
        ("socket", "other"),
        ("none", "missing"),
        ("none/none", "missing"),
    ];
    for (path, found) in expected {
        assert_eq!(look(&tree, path), found, "{path}");
    }
}

#[test]
fn everything_but_directories_is_listed() {
    let scratch = scratch();
    let mut paths = Vec::new();
    let tree = tree(scratch.path());
    tree.list(&mut |path| paths.push(path.to_owned())).unwrap();
    paths.sort();
    assert_eq!(paths, ["a", "alias", "d/b", "link", "pipe", "socket", "up"]);
    let mut found = Vec::new();
    tree.scan(&mut |it| found.push((it.path.into_string().unwrap(), it.is_content, it.size)))
        .unwrap();
    found.sort();
    assert_eq!(found[0], ("a".to_owned(), true, 12));
    let special: Vec<&str> = found
        .iter()
        .filter(|it| !it.1)
        .map(|it| &it.0[..])
        .collect();
    assert_eq!(special, ["pipe", "socket"]);
}

#[test]
fn a_walk_ends_where_the_caller_breaks() {
    let scratch = scratch();
    let tree = tree(scratch.path());
    for end in 1..=7 {
        let (mut scanned, mut listed) = (0, 0);
        tree.scan_until(&mut |_| until(&mut scanned, end)).unwrap();
        tree.list_until(&mut |_| until(&mut listed, end)).unwrap();
        assert_eq!((scanned, listed), (end, end));
    }
}

/// Counts, and breaks at the end.
fn until(count: &mut u32, end: u32) -> ControlFlow<()> {
    *count += 1;
    match *count == end {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    }
}

#[test]
fn the_excepted_file_is_left_out_wherever_it_stands() {
    let scratch = scratch();
    let inside = scratch.path().join("inside");
    fs::hard_link(inside.join("d/b"), inside.join("d/other-name")).unwrap();
    let excepted = tree(scratch.path()).except(&fs::metadata(inside.join("d/b")).unwrap());
    let mut paths = Vec::new();
    excepted
        .list(&mut |path| paths.push(path.to_owned()))
        .unwrap();
    paths.sort();
    assert_eq!(paths, ["a", "alias", "link", "pipe", "socket", "up"]);
}

#[test]
fn deep_directories_need_no_stack_and_few_descriptors() {
    let scratch = tempfile::tempdir().unwrap();
    let mut path = scratch.path().to_owned();
    for _ in 0..600 {
        path.push("d");
    }
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join("f"), "deep").unwrap();
    let tree = Tree::open(scratch.path()).unwrap();
    let mut paths = Vec::new();
    tree.list(&mut |path| paths.push(path.to_owned())).unwrap();
    assert_eq!(paths, [format!("{}f", "d/".repeat(600))]);
    assert_eq!(look(&tree, &paths[0]), "deep");
}

#[test]
fn a_file_that_changes_while_it_is_read_is_refused() {
    use std::io::Write;
    let scratch = scratch();
    let tree = tree(scratch.path());
    let name = RelativePath::new("a").unwrap();
    let file = scratch.path().join("inside/a");
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    // More bytes, or other bytes of the same length.
    for append in [true, false] {
        fs::File::options()
            .write(true)
            .open(&file)
            .unwrap()
            .set_modified(long_ago)
            .unwrap();
        let Object::File(mut reader) = tree.open(&name).unwrap() else {
            panic!("not a file")
        };
        reader.read_exact(&mut [0; 3]).unwrap();
        let mut writer = fs::File::options()
            .write(true)
            .append(append)
            .open(&file)
            .unwrap();
        writer.write_all(b"other").unwrap();
        let error = reader.read_to_end(&mut Vec::new()).unwrap_err();
        assert_eq!(error.to_string(), "changed while it was read");
    }
    assert_eq!(look(&tree, "a"), "othernt of aother");
}
