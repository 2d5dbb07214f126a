//! Talking to a person at a terminal.
//!
//! | to | use |
//! |---|---|
//! | show text that somebody else has written | [`text`] |
//! | write content that may be text to a terminal | [`screen`] |
//! | ask questions, for passphrases too | [`question`] |
//! | read a passphrase from wherever it is, or get a new one | [`passphrase`] |
//! | ask for the words of a passport | [`words`] |
//! | show the progress of reading and of key derivation | [`progress`] |
//! | open the inputs that a person names | [`input`] |
//! | write the output that a person names | [`output`] |
//! | show times | [`clock`] |
//! | remove temporary files and restore the terminal when a signal ends the process | [`signals`] |
//! | show messages and results, also for machines | [`console`] |
//! | show colours | [`colour`] |
//! | make pages for a browser of text that somebody else has written | [`html`] |
//! | show QR codes | [`qr`] |
//! | know who uses the program | [`user`] |
//!
//! The library decides nothing: it has no options and no exit codes.
#![forbid(unsafe_code)]

pub mod clock;
pub mod colour;
pub mod console;
pub mod html;
pub mod input;
pub mod output;
pub mod passphrase;
pub mod progress;
pub mod qr;
pub mod question;
pub mod screen;
pub mod signals;
pub mod text;
pub mod user;
pub mod words;
