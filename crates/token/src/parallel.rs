//! Work on batches: on all processors with the feature `rayon`, else on the caller's thread.
//! Results come in the order of the input.

/// Fewer items than this are not worth waking a second thread for.
#[cfg(feature = "rayon")]
const MIN_ITEMS: usize = 4;

/// `work` on each chunk of `items`, the results joined in order.
///
/// # Errors
/// The first that a chunk returns.
#[cfg(feature = "rayon")]
pub(crate) fn try_chunks<T: Sync, U: Send, E: Send>(
    items: &[T],
    work: impl Fn(&[T]) -> Result<Vec<U>, E> + Sync + Send,
) -> Result<Vec<U>, E> {
    use rayon::prelude::*;

    if items.len() < MIN_ITEMS {
        return work(items);
    }
    let parts: Result<Vec<Vec<U>>, E> =
        items.par_chunks(chunk_len(items.len())).map(work).collect();
    Ok(parts?.into_iter().flatten().collect())
}

/// `work` on all of `items`.
///
/// # Errors
/// The one that it returns.
#[cfg(not(feature = "rayon"))]
pub(crate) fn try_chunks<T, U, E>(
    items: &[T],
    work: impl Fn(&[T]) -> Result<Vec<U>, E>,
) -> Result<Vec<U>, E> {
    work(items)
}

/// `left` and `right`, at the same time if there are `items` enough.
#[cfg(feature = "rayon")]
pub(crate) fn join<A: Send, B: Send>(
    items: usize,
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    if items < MIN_ITEMS {
        (left(), right())
    } else {
        rayon::join(left, right)
    }
}

/// `left`, then `right`.
#[cfg(not(feature = "rayon"))]
pub(crate) fn join<A, B>(
    _items: usize,
    left: impl FnOnce() -> A,
    right: impl FnOnce() -> B,
) -> (A, B) {
    (left(), right())
}

/// Four chunks a thread, so that a thread that is late delays the others by little.
#[cfg(feature = "rayon")]
fn chunk_len(items: usize) -> usize {
    items.div_ceil(4 * rayon::current_num_threads()).max(1)
}
