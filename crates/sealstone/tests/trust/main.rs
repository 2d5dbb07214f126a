//! The trust store from outside: alterations, crashes, a model, real files, and the page that
//! specifies it.

mod alterations;
mod crashes;
mod example;
mod faulty;
mod files;
mod fixture;
mod golden;
mod mini;
mod model;
mod planted;
mod records;
/// The command's own: there it has no test binary that could reach it.
#[path = "../../../cli/src/trust_storage.rs"]
mod trust_storage;
