//! The instructions that a processor has: sets of CPUID features.

use iced_x86::{CpuidFeature, Instruction};
use std::collections::BTreeSet;
use std::fmt;

/// A set of CPUID features. An instruction is within it if all features that it needs are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features(BTreeSet<CpuidFeature>);

use CpuidFeature::*;

/// The features of every x86-64 processor. `endbr64` does nothing on processors without CET.
const X86_64: [CpuidFeature; 11] = [
    INTEL8086,
    INTEL186,
    INTEL286,
    INTEL386,
    INTEL486,
    X64,
    CMOV,
    MULTIBYTENOP,
    SSE,
    SSE2,
    CET_IBT,
];
/// The features that SSSE3 implies.
const WITH_SSSE3: [CpuidFeature; 2] = [SSE3, SSSE3];
/// The features that AVX implies beyond those.
const WITH_AVX: [CpuidFeature; 3] = [SSE4_1, SSE4_2, AVX];
/// The other features of x86-64-v3, by the psABI.
const LEVEL_3: [CpuidFeature; 7] = [BMI1, BMI2, F16C, FMA, LZCNT, MOVBE, POPCNT];
/// The additional features of x86-64-v4.
const LEVEL_4: [CpuidFeature; 5] = [AVX512F, AVX512BW, AVX512CD, AVX512DQ, AVX512VL];

impl Features {
    /// The features of every x86-64 processor.
    pub fn baseline() -> Self {
        Self(X86_64.into())
    }

    /// The baseline and SSSE3.
    pub fn ssse3() -> Self {
        Self::baseline().with(&WITH_SSSE3)
    }

    /// The baseline and SSE4.1.
    pub fn sse41() -> Self {
        Self::ssse3().with(&[SSE4_1])
    }

    /// The baseline and AVX.
    pub fn avx() -> Self {
        Self::ssse3().with(&WITH_AVX)
    }

    /// The baseline, SSSE3, SSE4.1 and the instructions for SHA-1 and SHA-256.
    pub fn sha() -> Self {
        Self::ssse3().with(&[SSE4_1, SHA])
    }

    /// The baseline, SSSE3, SSE4.1 and the instructions for AES.
    pub fn aes() -> Self {
        Self::ssse3().with(&[SSE4_1, AES])
    }

    /// The baseline, SSSE3 and PCLMULQDQ.
    pub fn pclmulqdq() -> Self {
        Self::ssse3().with(&[PCLMULQDQ])
    }

    /// The baseline, AVX and PCLMULQDQ.
    pub fn avx_pclmulqdq() -> Self {
        Self::avx().with(&[PCLMULQDQ])
    }

    /// The baseline, AVX2, and the parts of AVX-512 that VPCLMULQDQ on its registers comes with: F,
    /// VL, DQ, BW.
    pub fn vpclmulqdq() -> Self {
        Self::avx512().with(&[AVX512DQ, AVX512BW, PCLMULQDQ, VPCLMULQDQ])
    }

    /// The baseline and AVX2. `is_x86_feature_detected!("avx2")` implies AVX.
    pub fn avx2() -> Self {
        Self::avx().with(&[AVX2])
    }

    /// The baseline, AVX2 and BMI2.
    pub fn avx2_bmi2() -> Self {
        Self::avx2().with(&[BMI2])
    }

    /// The baseline, AVX2, AVX-512F and AVX-512VL: nothing else of AVX-512.
    pub fn avx512() -> Self {
        Self::avx2().with(&[AVX512F, AVX512VL])
    }

    /// The features that a program for this target needs; `None` if there is no such target.
    pub fn of_target(target: &str) -> Option<Self> {
        let level_3 = || Self::avx2().with(&LEVEL_3);
        match target {
            "x86-64" => Some(Self::baseline()),
            "x86-64-v3" => Some(level_3()),
            "x86-64-v4" => Some(level_3().with(&LEVEL_4)),
            _ => None,
        }
    }

    /// The union with others.
    pub fn or(&self, others: &Self) -> Self {
        Self(self.0.union(&others.0).copied().collect())
    }

    /// Adds the features that instructions need.
    pub fn add_all<'a>(&mut self, instructions: impl Iterator<Item = &'a Instruction>) {
        for instruction in instructions {
            self.0.extend(instruction.cpuid_features());
        }
    }

    /// A feature that an instruction needs and that this set lacks.
    pub fn missing(&self, instruction: &Instruction) -> Option<CpuidFeature> {
        let needed = instruction.cpuid_features().iter();
        needed.copied().find(|feature| !self.0.contains(feature))
    }

    /// The names, without those of the baseline.
    pub fn names(&self) -> Vec<String> {
        let others = self
            .0
            .iter()
            .filter(|feature| !X86_64.contains(feature) || matches!(feature, SSE | SSE2));
        others.map(|feature| format!("{feature:?}")).collect()
    }

    fn with(mut self, features: &[CpuidFeature]) -> Self {
        self.0.extend(features);
        self
    }
}

impl fmt::Display for Features {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.names().join(" "))
    }
}

/// The processor of a row: the features that its code may use, and whether the CPU that runs the
/// prover has them, so that the code can be run here.
#[derive(Clone, Debug)]
pub struct Processor {
    /// The features.
    pub features: Features,
    /// Whether this CPU has them.
    pub is_here: bool,
}

impl Processor {
    /// Any x86-64 processor, so also this one.
    pub fn baseline() -> Self {
        Self {
            features: Features::baseline(),
            is_here: true,
        }
    }

    /// Any processor of this level, by the psABI; `None` if there is no such level.
    pub fn of_target(target: &str) -> Option<Self> {
        use std::arch::is_x86_feature_detected as has;
        let level_3 = || {
            let vectors = has!("avx2") && has!("f16c") && has!("fma");
            let bits = has!("bmi1") && has!("bmi2") && has!("lzcnt") && has!("popcnt");
            vectors && bits && has!("movbe")
        };
        let level_4 = || {
            let lengths = has!("avx512f") && has!("avx512vl") && has!("avx512bw");
            lengths && has!("avx512cd") && has!("avx512dq")
        };
        Some(Self {
            features: Features::of_target(target)?,
            is_here: match target {
                "x86-64" => true,
                "x86-64-v3" => level_3(),
                _ => level_3() && level_4(),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use iced_x86::{Decoder, DecoderOptions};

    fn missing(features: &Features, bytes: &[u8]) -> Option<CpuidFeature> {
        let instruction = Decoder::new(64, bytes, DecoderOptions::NONE).decode();
        assert!(!instruction.is_invalid());
        features.missing(&instruction)
    }

    #[test]
    fn each_set_has_its_own_instructions_and_no_others() {
        let sets =
            ["x86-64", "x86-64-v3", "x86-64-v4"].map(|name| Features::of_target(name).unwrap());
        let (avx2, avx512) = (Features::avx2(), Features::avx512());
        for (bytes, without, with) in [
            // tzcnt eax, edi: `bsf` on old processors, another result for zero.
            (&[0xf3, 0x0f, 0xbc, 0xc7][..], &avx512, &sets[1]),
            // pshufb xmm0, xmm1
            (&[0x66, 0x0f, 0x38, 0x00, 0xc1], &sets[0], &avx2),
            // vpxor ymm0, ymm1, ymm2
            (&[0xc5, 0xf5, 0xef, 0xc2], &sets[0], &avx2),
            // vpxorq ymm16, ymm1, ymm2
            (&[0x62, 0xe1, 0xf5, 0x28, 0xef, 0xc2], &sets[1], &avx512),
            // aesenc xmm0, xmm1
            (&[0x66, 0x0f, 0x38, 0xdc, 0xc1], &sets[1], &Features::aes()),
            // pclmulqdq xmm0, xmm1, 0
            (
                &[0x66, 0x0f, 0x3a, 0x44, 0xc1, 0x00],
                &Features::aes(),
                &Features::pclmulqdq(),
            ),
            // vpclmulqdq xmm0, xmm1, xmm2, 0
            (
                &[0xc4, 0xe3, 0x71, 0x44, 0xc2, 0x00],
                &Features::pclmulqdq(),
                &Features::avx_pclmulqdq(),
            ),
            // vpclmulqdq zmm0, zmm1, zmm2, 0
            (
                &[0x62, 0xf3, 0x75, 0x48, 0x44, 0xc2, 0x00],
                &Features::avx512(),
                &Features::vpclmulqdq(),
            ),
            // vpmullq zmm0, zmm1, zmm2: AVX512DQ
            (&[0x62, 0xf2, 0xf5, 0x48, 0x40, 0xc2], &avx512, &sets[2]),
        ] {
            assert!(missing(without, bytes).is_some(), "{bytes:x?}");
            assert_eq!(missing(with, bytes), None, "{bytes:x?}");
        }
    }

    #[test]
    fn names_leave_out_what_every_processor_has() {
        assert_eq!(
            Features::avx2().names().join(" "),
            "AVX AVX2 SSE SSE2 SSE3 SSE4_1 SSE4_2 SSSE3"
        );
        assert_eq!(Features::of_target("x86-64-v2"), None);
    }
}
