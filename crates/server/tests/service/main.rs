//! The programs as operators run them and clients use them.

mod admin;
mod audit;
mod forms;
mod gates;
mod hostile;
mod interop;
mod origin;
mod trust;
mod world;
