//! CBOR items that can be decomposed and recombined, even against the rules.

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Item {
    Uint(u64),
    Bytes(Vec<u8>),
    Text(Vec<u8>),
    Array(Vec<Item>),
    /// Alternating keys and values.
    Map(Vec<Item>),
}

impl Item {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let mut rest = bytes;
        let item = Self::take(&mut rest);
        assert!(rest.is_empty());
        item
    }

    fn take(rest: &mut &[u8]) -> Self {
        let mut bytes = |len: usize| rest.split_off(..len).unwrap();
        let first = bytes(1)[0];
        let number = match first & 31 {
            short @ 0..24 => u64::from(short),
            long => {
                let bytes = bytes(1 << (long - 24));
                bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte))
            }
        };
        let len = number as usize;
        let mut items = |count| (0..count).map(|_| Self::take(rest)).collect();
        match first >> 5 {
            0 => Self::Uint(number),
            2 => Self::Bytes(rest.split_off(..len).unwrap().to_vec()),
            3 => Self::Text(rest.split_off(..len).unwrap().to_vec()),
            4 => Self::Array(items(len)),
            5 => Self::Map(items(2 * len)),
            major => panic!("major type {major}"),
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let (major, number) = match self {
            Self::Uint(number) => (0, *number),
            Self::Bytes(bytes) => (2, bytes.len() as u64),
            Self::Text(text) => (3, text.len() as u64),
            Self::Array(items) => (4, items.len() as u64),
            Self::Map(items) => (5, items.len() as u64 / 2),
        };
        let mut encoded = head(major << 5, number);
        match self {
            Self::Uint(_) => {}
            Self::Bytes(bytes) | Self::Text(bytes) => encoded.extend(bytes),
            Self::Array(items) | Self::Map(items) => {
                encoded.extend(items.iter().flat_map(Self::encode));
            }
        }
        encoded
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn items(&mut self) -> &mut Vec<Self> {
        match self {
            Self::Array(items) | Self::Map(items) => items,
            other => panic!("{other:?}"),
        }
    }

    /// The index of the value of a key in a map.
    fn place(&mut self, key: u64) -> usize {
        let mut keys = self.items().iter().step_by(2);
        2 * keys.position(|it| *it == Self::Uint(key)).unwrap() + 1
    }

    pub(crate) fn field(&mut self, key: u64) -> &mut Self {
        let place = self.place(key);
        &mut self.items()[place]
    }

    pub(crate) fn remove(&mut self, key: u64) {
        let place = self.place(key);
        self.items().drain(place - 1..=place);
    }

    /// Duplicates a field.
    pub(crate) fn double(&mut self, key: u64) {
        let place = self.place(key);
        let pair = self.items()[place - 1..=place].to_vec();
        self.items().splice(place + 1..place + 1, pair);
    }

    /// Exchanges the places of two fields.
    pub(crate) fn swap(&mut self, a: u64, b: u64) {
        let (a, b) = (self.place(a), self.place(b));
        self.items().swap(a - 1, b - 1);
        self.items().swap(a, b);
    }

    /// Exchanges the values of two fields.
    pub(crate) fn exchange(&mut self, a: u64, b: u64) {
        let (a, b) = (self.place(a), self.place(b));
        self.items().swap(a, b);
    }

    /// The number of parts at all depths.
    pub(crate) fn count(&self) -> usize {
        match self {
            Self::Array(items) | Self::Map(items) => items.iter().map(|it| 1 + it.count()).sum(),
            _ => 0,
        }
    }

    /// Calls `change` with the list that contains part `number`, and its index there.
    pub(crate) fn edit(
        &mut self,
        mut number: usize,
        change: &mut dyn FnMut(&mut Vec<Self>, usize),
    ) {
        for at in 0..self.items().len() {
            let inside = self.items()[at].count();
            if number == 0 {
                return change(self.items(), at);
            }
            if number <= inside {
                return self.items()[at].edit(number - 1, change);
            }
            number -= 1 + inside;
        }
        panic!("there are fewer parts")
    }

    /// Swaps two parts at any depth. If one contains the other, the inner part replaces the outer
    /// one.
    pub(crate) fn exchange_parts(&mut self, a: usize, b: usize) {
        let part = |number| {
            let mut found = None;
            self.clone()
                .edit(number, &mut |items, at| found = Some(items[at].clone()));
            found.unwrap()
        };
        let (first, second) = (part(a.min(b)), part(a.max(b)));
        // The later part first, so that it does not move.
        self.edit(a.max(b), &mut |items, at| items[at] = first.clone());
        self.edit(a.min(b), &mut |items, at| items[at] = second.clone());
    }
}

fn head(major: u8, number: u64) -> Vec<u8> {
    let bytes = number.to_be_bytes();
    match number {
        0..24 => vec![major | number as u8],
        24..0x100 => [&[major | 24], &bytes[7..]].concat(),
        0x100..0x1_0000 => [&[major | 25], &bytes[6..]].concat(),
        0x1_0000..0x1_0000_0000 => [&[major | 26], &bytes[4..]].concat(),
        _ => [&[major | 27], &bytes[..]].concat(),
    }
}
