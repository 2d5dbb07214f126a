//! The instructions that a function executes on the CPU.

use super::runs::NativeRuns;
use super::{Layout, Session};
use crate::contract::Contract;
use crate::features::Processor;
use crate::image::{Image, Symbol};
use crate::native::Executed;

impl Session {
    /// Runs a function on a sample input, and returns what it executed: each instruction with the
    /// general registers before it, up to and including the return. A contract of any number of
    /// elements has a trace for each of a few numbers ([`Session::run_with_few`]). Others have one.
    ///
    /// Call it only for a function that [`Session::prove`] has proved: other functions can end the
    /// process.
    ///
    /// # Errors
    /// Why there is no trace: this CPU lacks instructions of `processor`, the contract has no
    /// instances with a few elements, memory cannot be mapped, this process cannot handle traps, or
    /// the function executes more than 65,535 instructions.
    pub fn trace(
        &mut self,
        image: &Image,
        symbol: &Symbol,
        contract: &Contract,
        processor: &Processor,
    ) -> Result<Vec<Vec<Executed>>, String> {
        if !processor.is_here {
            return Err("this CPU lacks its instructions".into());
        }
        if !contract.is_by_induction() {
            return Ok(vec![self.trace_one(image, symbol, contract)?]);
        }
        let few = contract.of_few();
        if few.is_empty() {
            return Err("the contract has no instances with a few elements".into());
        }
        let traces = few
            .iter()
            .map(|few| self.trace_one(image, symbol, &few.contract));
        traces.collect()
    }

    fn trace_one(
        &mut self,
        image: &Image,
        symbol: &Symbol,
        contract: &Contract,
    ) -> Result<Vec<Executed>, String> {
        let layout = Layout::new(image, contract, |start, known| self.base(start, known))?;
        let contents = self.contents(contract, &layout);
        let place = (contract, &layout);
        let mut native = NativeRuns::new(&self.terms, image, symbol, place, &contents)?;
        let trace = native.trace();
        trace.ok_or_else(|| "too many instructions, or no handler of traps".into())
    }
}
