//! Native runs with a few elements, for contracts of any number of them.

use super::runs::NativeRuns;
use super::{Layout, Session, compare_natively};
use crate::contract::Contract;
use crate::features::Processor;
use crate::image::{Image, Symbol};
use crate::verdict::Verdict;

impl Session {
    /// Runs the function with a few elements, on samples, and compares the outputs with the
    /// specification on numbers. A proof for any number of elements says what these runs compute,
    /// but no run is part of it.
    ///
    /// The verdict is that of the runs alone. It is `None` if nothing runs:
    ///
    /// - The contract has a fixed number of elements.
    /// - It has no instances with a few elements. That is so if the input and the output are the
    ///   same memory.
    /// - This CPU lacks instructions of `processor`.
    pub fn run_with_few(
        &mut self,
        image: &Image,
        symbol: &Symbol,
        contract: &Contract,
        processor: &Processor,
    ) -> Option<Verdict> {
        let few = contract.of_few();
        if few.is_empty() || !processor.is_here {
            return None;
        }
        let mut verdicts = few
            .iter()
            .map(|few| self.run_natively(image, symbol, &few.contract));
        let failed = verdicts.find(|verdict| !verdict.is_proof());
        Some(failed.unwrap_or(Verdict::Proved))
    }

    fn run_natively(&mut self, image: &Image, symbol: &Symbol, contract: &Contract) -> Verdict {
        let unsupported = |why| Verdict::Unsupported(format!("native run: {why}"));
        let layout = match Layout::new(image, contract, |start, known| self.base(start, known)) {
            Ok(layout) => layout,
            Err(why) => return unsupported(why),
        };
        let contents = self.contents(contract, &layout);
        let place = (contract, &layout);
        match NativeRuns::new(&self.terms, image, symbol, place, &contents) {
            Ok(native) => {
                let mut verdict = Verdict::Proved;
                compare_natively(native, &mut verdict);
                verdict
            }
            Err(why) => unsupported(why),
        }
    }
}
