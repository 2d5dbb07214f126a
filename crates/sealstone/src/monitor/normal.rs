//! Quantiles of the normal distribution.

/// The value below which this part of a standard normal distribution lies: Peter Acklam's rational
/// approximation, whose relative error is below 1.2e-9. `part` lies between 0 and 1.
pub(super) fn quantile(part: f64) -> f64 {
    const EDGE: f64 = 0.02425;
    if part < EDGE {
        tail((-2.0 * part.ln()).sqrt())
    } else if part > 1.0 - EDGE {
        -tail((-2.0 * (1.0 - part).ln()).sqrt())
    } else {
        centre(part - 0.5)
    }
}

fn centre(q: f64) -> f64 {
    const NUMERATOR: [f64; 6] = [
        -3.969_683_028_665_376e1,
        2.209_460_984_245_205e2,
        -2.759_285_104_469_687e2,
        1.383_577_518_672_69e2,
        -3.066_479_806_614_716e1,
        2.506_628_277_459_239,
    ];
    const DENOMINATOR: [f64; 6] = [
        -5.447_609_879_822_406e1,
        1.615_858_368_580_409e2,
        -1.556_989_798_598_866e2,
        6.680_131_188_771_972e1,
        -1.328_068_155_288_572e1,
        1.0,
    ];
    let r = q * q;
    polynomial(&NUMERATOR, r) * q / polynomial(&DENOMINATOR, r)
}

fn tail(q: f64) -> f64 {
    const NUMERATOR: [f64; 6] = [
        -7.784_894_002_430_293e-3,
        -3.223_964_580_411_365e-1,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const DENOMINATOR: [f64; 5] = [
        7.784_695_709_041_462e-3,
        3.224_671_290_700_398e-1,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    polynomial(&NUMERATOR, q) / polynomial(&DENOMINATOR, q)
}

/// Highest power first.
fn polynomial(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().fold(0.0, |sum, c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::quantile;

    #[test]
    fn quantiles_are_those_of_the_table() {
        // Python: statistics.NormalDist().inv_cdf(p)
        for (part, value) in [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.975, 1.959_963_984_540_053_6),
            (0.001, -3.090_232_306_167_813),
            (0.999, 3.090_232_306_167_813),
            (0.02, -2.053_748_910_631_823),
        ] {
            assert!((quantile(part) - value).abs() < 1e-8, "{part}");
        }
    }
}
