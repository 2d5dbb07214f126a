//! A program that hashes with the crate `blake3` as published: section 7 of the tutorial
//! (`src/tutorial.md`) proves a function of that crate in it.

fn main() {
    let words = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    println!("{}", blake3::hash(words.as_bytes()));
}
