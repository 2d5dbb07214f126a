//! Services that are killed, run out of disk, or have jumping clocks. A checker replays the
//! clients' history: no token is accepted twice, and no acknowledged spend is lost.

mod clock;
mod crowd;
mod disk;
mod durable;
mod history;
mod keys;
mod kill;
mod load;
mod replicas;
mod victim;
