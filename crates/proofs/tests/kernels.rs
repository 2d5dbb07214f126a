//! Every kernel of the catalog, in this test's own program.

use sealstone_proofs::catalog::kernels;
use sealstone_proofs::image::Image;
use sealstone_proofs::report::prove_all;

#[test]
fn every_kernel_is_proved() {
    sealstone_proofs::selftest::call_every_kernel();
    let own = Image::load(&std::env::current_exe().unwrap()).unwrap();
    let report = prove_all(&[own], "");
    assert!(report.is_proof(), "{}", report.table());
    let json = report.json();
    let rows = json["kernels"].as_array().unwrap();
    assert_eq!(rows.len(), report.rows.len());
    assert!(rows.iter().all(|row| row["verdict"] == "PROVED"));
    // Everything that this CPU has was run as well.
    for (row, kernel) in report.rows.iter().zip(kernels()) {
        assert_eq!(row.ran_natively, kernel.set.is_here(), "{}", row.name);
    }
}

#[test]
fn no_kernel_is_no_proof() {
    assert!(!prove_all(&[], "there is no kernel of this name").is_proof());
}
