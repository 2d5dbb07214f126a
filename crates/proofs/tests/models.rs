//! The models of the instructions that the proofs met, against this CPU.

use iced_x86::Instruction;
use sealstone_proofs::cosim;
use sealstone_proofs::image::Image;
use sealstone_proofs::report::prove_all;
use std::sync::Mutex;

/// Native runs use memory at fixed addresses: one test at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn instructions() -> Vec<Instruction> {
    sealstone_proofs::selftest::call_every_kernel();
    let own = Image::load(&std::env::current_exe().unwrap()).unwrap();
    prove_all(&[own], "").instructions.into_values().collect()
}

#[test]
fn models_agree_with_the_cpu() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let comparison = match cosim::compare(instructions().iter()) {
        Ok(comparison) => comparison,
        Err(why) => return println!("skipped: {why}"),
    };
    let right = comparison.is_right();
    let cosim::Comparison {
        agree,
        forms,
        skipped,
        disagree,
    } = comparison;
    println!("{agree} instructions of {forms} forms agree; not executed: {skipped:?}");
    assert!(right, "{disagree:#?}");
    assert!(agree > 300 && forms > 80, "{agree} of {forms} forms");
}

/// The wrong models that are not noticed, as form and place, and why:
/// - all bits of `sbb r, r` are the carry flag, so that turning the result changes nothing; the formulas do not know;
/// - the upper half of rdx is zero in every state that `div` of 32 bits is tried on, so that keeping it changes nothing.
const SURVIVORS: [(&str, &str); 2] = [("sbb ", " Turned 0"), ("div ", " Upper 1")];

#[test]
fn wrong_models_are_noticed() {
    let _alone = ONE_AT_A_TIME.lock().unwrap();
    let mutants = match cosim::mutate(instructions().iter()) {
        Ok(mutants) => mutants,
        Err(why) => return println!("skipped: {why}"),
    };
    let (killed, survivors) = (mutants.killed, mutants.survivors);
    println!(
        "{killed} wrong models noticed, {} not: {survivors:#?}; {} places change nothing",
        survivors.len(),
        mutants.no_change
    );
    assert!(killed > 1000, "{killed}");
    for survivor in survivors {
        let is_known =
            |(form, place): &(&str, &str)| survivor.starts_with(form) && survivor.ends_with(place);
        assert!(SURVIVORS.iter().any(is_known), "{survivor}");
    }
}
