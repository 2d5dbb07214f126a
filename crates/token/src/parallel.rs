//! Work on batches: on all processors with the feature `rayon`, else on the caller's thread.
//! Results come in the order of the input.

/// Waking a second thread takes longer than the work on fewer items than this.
#[cfg(feature = "rayon")]
const MIN_ITEMS: usize = 4;

/// `work` on each chunk of `items`, the results joined in order.
///
/// # Errors
/// The first that a chunk returns.
pub(crate) fn try_chunks<T: Sync, U: Send, E: Send>(
    items: &[T],
    work: impl Fn(&[T]) -> Result<Vec<U>, E> + Sync + Send,
) -> Result<Vec<U>, E> {
    #[cfg(feature = "rayon")]
    if is_batch(items.len()) {
        use rayon::prelude::*;

        let len = chunk_len(items.len(), rayon::current_num_threads());
        let parts: Result<Vec<Vec<U>>, E> = items.par_chunks(len).map(work).collect();
        return Ok(parts?.into_iter().flatten().collect());
    }
    work(items)
}

/// `left` and `right`, at the same time if there are `items` enough.
#[cfg_attr(
    not(feature = "rayon"),
    expect(
        unused_variables,
        reason = "one thread does both, however many there are"
    )
)]
pub(crate) fn join<A: Send, B: Send>(
    items: usize,
    left: impl FnOnce() -> A + Send,
    right: impl FnOnce() -> B + Send,
) -> (A, B) {
    #[cfg(feature = "rayon")]
    if is_batch(items) {
        return rayon::join(left, right);
    }
    (left(), right())
}

/// Whether more than one thread should work on this number of items.
#[cfg(feature = "rayon")]
fn is_batch(items: usize) -> bool {
    items >= MIN_ITEMS
}

/// Four chunks a thread, so that a thread that is late delays the others by little.
#[cfg(feature = "rayon")]
fn chunk_len(items: usize, threads: usize) -> usize {
    items.div_ceil(4 * threads).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order() {
        for len in [0, 1, 3, 4, 5, 100] {
            let items: Vec<usize> = (0..len).collect();
            let doubled: Result<Vec<usize>, ()> = try_chunks(&items, |chunk| {
                Ok(chunk.iter().map(|item| item * 2).collect())
            });
            assert_eq!(doubled, Ok((0..len).map(|item| item * 2).collect()));
            assert_eq!(join(len, || 'l', || 'r'), ('l', 'r'));
        }
    }

    #[cfg(not(feature = "rayon"))]
    #[test]
    fn one_thread_does_everything() {
        use std::thread::{ThreadId, current};

        let threads: Result<Vec<ThreadId>, ()> = try_chunks(&[0; 1000], |chunk| {
            assert_eq!(chunk.len(), 1000, "one chunk");
            Ok(vec![current().id()])
        });
        assert_eq!(threads, Ok(vec![current().id()]));
        let (left, right) = join(1000, || current().id(), || current().id());
        assert_eq!((left, right), (current().id(), current().id()));
    }

    #[cfg(feature = "rayon")]
    #[test]
    fn small_batches_stay_on_one_thread() {
        assert_eq!([0, 3, 4, 5].map(is_batch), [false, false, true, true]);
        // Each of the threads gets four chunks of nearly the same length.
        let cases = [(100, 2), (100, 1), (96, 2), (4, 2), (1, 8), (1000, 8)];
        let lens = cases.map(|(items, threads)| chunk_len(items, threads));
        assert_eq!(lens, [13, 25, 12, 1, 1, 32]);
    }
}
