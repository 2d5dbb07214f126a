//! One allocation of many blocks, in one file for each kind of system.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod other;

#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub(crate) use linux::{Getter, Pages};
#[cfg(not(target_os = "linux"))]
pub(crate) use other::{Getter, Pages};
