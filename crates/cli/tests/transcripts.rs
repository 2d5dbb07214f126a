//! Transcripts of commands with exact messages and exit codes, in `tests/cmd`.

#[test]
fn transcripts() {
    trycmd::TestCases::new()
        .env("SEALSTONE_PASSPHRASE", "correct horse battery staple")
        .env("SEALSTONE_TRUST_DIR", "trust")
        .env("XDG_DATA_HOME", "/nonexistent/data")
        .env("HOME", "/nonexistent")
        .env("USER", "tester")
        .env("COLUMNS", "100")
        .case("tests/cmd/*.trycmd");
}
