//! `sign`, `verify` and `policy`: packages.

mod export;
mod files;
mod html;
mod inspect;
mod policy;
mod show;
mod sign;
mod verify;

pub(super) use inspect::run as inspect;
pub(super) use policy::run as policy;
pub(super) use sign::run as sign;
pub(super) use verify::run as verify;
