//! The shape of a tree.

/// Y_l, Y_f and Y_m (Skein 1.3, section 3.5.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    leaf: u8,
    fan_out: u8,
    height: u8,
}

impl Shape {
    /// Leaves of 2^`leaf` blocks, nodes of 2^`fan_out` children, and at most `height` levels; a
    /// node of the last level has any number of children. None if the specification does not allow
    /// the shape: leaf and fan-out are at least 1, the height at least 2.
    pub const fn new(leaf: u8, fan_out: u8, height: u8) -> Option<Self> {
        if leaf == 0 || fan_out == 0 || height < 2 {
            return None;
        }
        Some(Self {
            leaf,
            fan_out,
            height,
        })
    }

    /// Length in bytes of a full node of the level that is `above` leaves (0 for leaves), for a
    /// state of `N` words.
    pub(crate) fn node_bytes<const N: usize>(self, above: usize) -> u128 {
        let log = match above {
            0 => self.leaf,
            _ if above + 1 >= self.height.into() => return u128::MAX,
            _ => self.fan_out,
        };
        // No message has 2^96 bytes.
        (8 * N as u128) << log.min(96)
    }

    /// Y_l, Y_f and Y_m, as in the configuration string.
    pub const fn bytes(self) -> [u8; 3] {
        [self.leaf, self.fan_out, self.height]
    }
}
