//! Manifests at random: each has one encoding, and no other manifest has it.
