//! What the compiler says: programs that compile, and a mistake a file that does not, with the message beside it.

/// The messages of rustc change with its version; those beside the programs are of this one.
const RUSTC_OF_THE_MESSAGES: &str = "1.95.";

#[test]
fn ui() {
    let cases = trybuild::TestCases::new();
    cases.pass("ui/pass/*.rs");
    let version = std::process::Command::new(std::env::var("RUSTC").unwrap_or("rustc".to_owned()))
        .arg("--version")
        .output()
        .expect("rustc runs");
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    if version.contains(RUSTC_OF_THE_MESSAGES) {
        cases.compile_fail("ui/fail/*/*.rs");
    } else {
        println!("the messages of {version} are not compared: they are those of rustc {RUSTC_OF_THE_MESSAGES}x");
    }
}
