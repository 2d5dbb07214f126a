//! Paths from the signer's certificate to a trust anchor (`spec/timestamp.md`, "Path").

use super::certificate::{Certificate, name};
use super::refusal::Refusal;
use super::roots::Roots;

/// The most certificates above the signer's.
const MAX_ISSUERS: usize = 8;

/// A certificate that was reached, and the place of the one below it.
struct Step<'a> {
    certificate: &'a Certificate,
    below: Option<usize>,
    depth: usize,
}

/// A shortest path from `signer` to an anchor of `roots`, through certificates of `pool` and of
/// `roots`, all valid at all `times`.
///
/// Each certificate is reached once, at its smallest depth, so the work is bounded by the number of
/// pairs of certificates, whatever a response holds.
pub(super) fn find<'a>(
    signer: &'a Certificate,
    pool: &'a [Certificate],
    roots: &'a Roots,
    times: &[u64],
) -> Result<Vec<&'a Certificate>, Refusal> {
    signer.check(times)?;
    if roots.anchors.contains(signer) {
        return Ok(vec![signer]);
    }
    let mut steps = vec![Step {
        certificate: signer,
        below: None,
        depth: 0,
    }];
    let mut first_failure = None;
    let mut at = 0;
    while let Some(step) = steps.get(at) {
        let (child, depth) = (step.certificate, step.depth);
        for (issuer, is_anchor) in issuers(child, pool, roots) {
            let reached = |step: &Step<'_>| step.certificate == issuer;
            if depth == MAX_ISSUERS || steps.iter().any(reached) {
                continue;
            }
            match check(child, issuer, depth, is_anchor, times) {
                Err(failure) => {
                    first_failure.get_or_insert(failure);
                }
                Ok(()) => {
                    steps.push(Step {
                        certificate: issuer,
                        below: Some(at),
                        depth: depth + 1,
                    });
                    if is_anchor {
                        return Ok(walk(&steps));
                    }
                }
            }
        }
        at += 1;
    }
    let last = steps.last().map_or(signer, |step| step.certificate);
    Err(first_failure.unwrap_or_else(|| Refusal::NoPath(name(&last.issuer))))
}

/// The certificates that may have issued `child`, and whether they are anchors: these come first.
fn issuers<'a>(
    child: &Certificate,
    pool: &'a [Certificate],
    roots: &'a Roots,
) -> Vec<(&'a Certificate, bool)> {
    let anchors = roots.anchors.iter().map(|anchor| (anchor, true));
    let others = pool.iter().chain(&roots.candidates);
    anchors
        .chain(others.map(|other| (other, false)))
        .filter(|(issuer, _)| issuer.subject == child.issuer)
        .collect()
}

fn check(
    child: &Certificate,
    issuer: &Certificate,
    below: usize,
    is_anchor: bool,
    times: &[u64],
) -> Result<(), Refusal> {
    issuer.check(times)?;
    issuer.check_issuer(below, is_anchor)?;
    child.check_signature(issuer)
}

/// The path that ends with the last step, the signer's certificate first.
fn walk<'a>(steps: &[Step<'a>]) -> Vec<&'a Certificate> {
    let last = steps.len().checked_sub(1);
    let down = std::iter::successors(last, |at| steps[*at].below);
    let mut path: Vec<_> = down.map(|at| steps[at].certificate).collect();
    path.reverse();
    path
}
