//! What transcripts cannot show: pipes, permissions, terminals, signals, what is left behind.

mod authority;
mod careful;
mod durable;
mod evidence;
mod files;
mod flow;
mod hash;
mod hints;
mod impostor;
mod inputs;
mod keys;
mod monitor;
mod package;
mod passport;
mod password;
mod pipes;
mod progress;
mod readme;
mod rotation;
mod terminal;
mod timestamp;
mod token;
mod token_directory;
mod trust;
mod tsa_server;
mod world;
