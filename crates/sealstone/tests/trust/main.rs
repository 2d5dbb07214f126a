//! The trust store from outside: alterations, crashes, a model, and its specification.

mod alterations;
mod crashes;
mod example;
mod faulty;
mod fixture;
mod golden;
mod lifecycle;
mod mini;
mod model;
mod planted;
mod pruned;
mod records;
mod signed;
mod standing;
