//! Services that are killed, that run out of disk, whose clock jumps. A checker replays what
//! clients saw: no token is accepted twice, nothing that was acknowledged is lost.

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
