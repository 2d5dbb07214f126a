//! The features of the CPU.

/// Whether the CPU has a feature.
macro_rules! has {
    ($feature:tt) => {{
        #[cfg(all(feature = "std", target_arch = "x86_64"))]
        let has = std::arch::is_x86_feature_detected!($feature);
        #[cfg(all(feature = "std", target_arch = "aarch64"))]
        let has = std::arch::is_aarch64_feature_detected!($feature);
        #[cfg(not(feature = "std"))]
        let has = cfg!(target_feature = $feature);
        has
    }};
}
pub(crate) use has;

/// Whether an environment variable disables a level.
pub(crate) fn disabled(level: &str) -> bool {
    #[cfg(feature = "std")]
    let disabled = std::env::var_os(format!("SEALSTONE_CPU_DISABLE_{level}")).is_some();
    #[cfg(not(feature = "std"))]
    let disabled = level.is_empty();
    disabled
}
