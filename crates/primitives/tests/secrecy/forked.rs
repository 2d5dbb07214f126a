//! In a child made by `fork` secrets are absent. Reading one ends the child, dropping one or making
//! a new one works, and the parent keeps its own.

use sealstone_primitives::aead::Aes256Gcm;
use sealstone_primitives::secret::Secret;

#[test]
fn reading_ends_the_child() {
    let secret = Secret::from_array(&mut [7; 32]);
    let status = in_child(|| {
        // The child ends without a core file and without a handler.
        // SAFETY: resets this process's own signal disposition.
        unsafe { libc::signal(libc::SIGSEGV, libc::SIG_DFL) };
        std::hint::black_box(secret.expose()[0]);
    });
    assert!(
        libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSEGV,
        "{status:x}"
    );
    assert_eq!(secret.expose(), &[7; 32]);
}

#[test]
fn dropping_and_making_new_ones_is_fine() {
    let secret = Secret::from_array(&mut [7; 32]);
    let cipher = Aes256Gcm::new(&secret);
    // The parent's thread then keeps a page for reuse, which the child does not have.
    drop(Secret::<32>::zeroed());
    let (mut dropped, mut dropped_cipher) = (Some(secret), Some(cipher));
    let status = in_child(|| {
        drop((dropped.take(), dropped_cipher.take()));
        let new = Secret::from_array(&mut [9; 32]);
        assert_eq!(new.expose(), &[9; 32]);
    });
    assert!(
        libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0,
        "{status:x}"
    );
    assert_eq!(dropped.unwrap().expose(), &[7; 32]);
}

/// Runs `work` in a forked child and returns how it ended.
fn in_child(work: impl FnOnce()) -> libc::c_int {
    // SAFETY: the child runs only `work`, which takes no lock that another thread may hold, and
    // leaves by `_exit`.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "fork failed");
    if child == 0 {
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        // SAFETY: ends the child without running the parent's exit handlers.
        unsafe { libc::_exit(panicked.into()) }
    }
    let mut status = 0;
    // SAFETY: waits for our own child; `status` is writable.
    let waited = unsafe { libc::waitpid(child, &mut status, 0) };
    assert_eq!(waited, child);
    status
}
