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

/// Of about nine hundred wrong models, one is not noticed: `sbb rax, rax` with its result turned. All bits of that result are the
/// carry flag, so that turning it changes nothing; the formulas do not know.
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
    assert!(killed > 500, "{killed}");
    assert!(
        survivors.len() * 20 <= killed + survivors.len(),
        "more than one in twenty survives"
    );
}
