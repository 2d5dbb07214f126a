//! Functions of the C library that compilers call. The machine describes and does not execute them.
//!
//! The proof trusts that `memcpy`, `memmove` and `memset` behave as the C standard says. Afterwards
//! everything that the ABI lets them change is junk: registers, flags, and all of the stack below
//! the caller's stack pointer, including its red zone. Their memory must not be there. Nobody knows
//! what they leave in registers and on the stack, so a function that calls one cannot be shown to
//! wipe what it leaves.

use super::control::UNALIGNED_CALL;
use super::place::Place;
use super::{CALLER_SAVED, Flags, Machine, Outcome};
use crate::term::Word;

const BELOW: &str = "a call with memory on the stack that the called function may overwrite";

impl Machine<'_> {
    /// Applies the imported function at the next address, and returns from it. False if no imported
    /// function has this address.
    pub(super) fn hook(&mut self) -> Outcome<bool> {
        let image = self.image;
        let Some(name) = image.import_at(self.at) else {
            return Ok(false);
        };
        // A jump gets here, too. The word on the stack is the return address.
        let mut before = self.stack_pointer()?;
        before.address += 8;
        if !self.is_aligned(before, 16) {
            return self.wrong(UNALIGNED_CALL);
        }
        if self.wipes {
            return self.unsupported(format!("a call of `{name}` in a function that wipes"));
        }
        let destination = self.general[7].clone();
        let to = self.place(&destination, "an address")?;
        let length = self.public(&self.general[2].clone(), "a string length")?;
        let is_lost = |machine: &Self, place: Place| {
            machine.memory.is_stack(place.address) && place.address < before.address
        };
        let word = match name {
            "memcpy" | "memmove" => {
                let from = self.general[6].clone();
                let from = self.place(&from, "an address")?;
                let (a, b) = (from.address, to.address);
                if length > 0 && is_lost(self, from) {
                    return self.wrong(BELOW);
                }
                if name == "memcpy" && a < b + length && b < a + length && a != b {
                    return self.wrong("memcpy of memory that overlaps");
                }
                self.load(from, length)?
            }
            "memset" => self.general[6][..8].repeat(length as usize),
            _ => return self.unsupported(format!("a call of `{name}`")),
        };
        if length > 0 {
            if is_lost(self, to) {
                return self.wrong(BELOW);
            }
            self.store(to, &word)?;
        }
        self.forget();
        self.general[0] = destination;
        let address = self.pop(8)?;
        self.next = self.place(&address, "a return address")?.address;
        let stack = self.stack_pointer()?.address;
        self.memory.give_up_stack(stack);
        Ok(true)
    }

    /// Makes junk of everything that a called function may change.
    fn forget(&mut self) {
        for register in CALLER_SAVED {
            self.general[register] = self.terms.junk(64);
        }
        let junk: Vec<Word> = (0..32).map(|_| self.terms.junk(512)).collect();
        self.vectors = junk;
        self.masks = (0..8).map(|_| self.terms.junk(64)).collect();
        self.flags = Flags::undefined();
    }
}
