//! TSTInfo, the signed content of a token (RFC 3161 section 2.4.2).

use std::time::Duration;

use der::asn1::ObjectIdentifier;
use der::{DateTime, Tag};
use x509_cert::ext::Extension;

use super::asn1::{self, Value, context, context_primitive, ensure, malformed};
use super::request::RawImprint;

/// The statement of a TSA.
pub(super) struct Info<'a> {
    pub(super) policy: ObjectIdentifier,
    pub(super) imprint: RawImprint<'a>,
    /// The content of the INTEGER.
    pub(super) serial: &'a [u8],
    /// Since 1970.
    pub(super) time: Duration,
    pub(super) accuracy: Option<Duration>,
    pub(super) nonce: Option<&'a [u8]>,
    pub(super) has_critical_extension: bool,
}

impl<'a> Info<'a> {
    pub(super) fn parse(bytes: &'a [u8]) -> asn1::Result<Self> {
        Value::parse(bytes)?.fields(Tag::Sequence, |fields| {
            ensure(fields.next()?.small()? == 1)?;
            let policy = fields.next()?.oid()?;
            let imprint = RawImprint::parse(fields.next()?)?;
            let serial = fields.next()?.integer()?;
            let time = time(fields.next()?)?;
            let accuracy = fields.next_if(Tag::Sequence)?;
            // Whether the order of timestamps is that of their times: not used.
            fields.next_if(Tag::Boolean)?;
            let nonce = fields.next_if(Tag::Integer)?;
            // The name of the TSA: a hint. The certificate says who signed.
            fields.next_if(context(0))?;
            let extensions = fields.next_implicit(1)?;
            Ok(Self {
                policy,
                imprint,
                serial,
                time,
                accuracy: accuracy.map(parse_accuracy).transpose()?,
                nonce: nonce.map(|value| value.integer()).transpose()?,
                has_critical_extension: extensions.is_some_and(has_critical),
            })
        })
    }
}

/// GeneralizedTime in UTC with whole seconds or a decimal fraction, of which microseconds are kept.
fn time(value: Value<'_>) -> asn1::Result<Duration> {
    let text = value.expect(Tag::GeneralizedTime)?.content();
    let text = text.strip_suffix(b"Z").ok_or_else(malformed)?;
    let (date, fraction) = text.split_first_chunk::<14>().ok_or_else(malformed)?;
    let number = |range: std::ops::Range<usize>| decimal(&date[range]);
    let year = number(0..4)?;
    let rest = [2, 4, 6, 8, 10].map(|at| number(2 + at..4 + at));
    let [month, day, hour, minute, second] = rest;
    let small = |number: asn1::Result<u32>| u8::try_from(number?).map_err(|_| malformed());
    let whole = DateTime::new(
        u16::try_from(year).map_err(|_| malformed())?,
        small(month)?,
        small(day)?,
        small(hour)?,
        small(minute)?,
        small(second)?,
    )?;
    Ok(whole.unix_duration() + Duration::from_micros(micros(fraction)?))
}

/// `.5` is half a second.
fn micros(fraction: &[u8]) -> asn1::Result<u64> {
    let Some((point, digits)) = fraction.split_first() else {
        return Ok(0);
    };
    let is_fraction = *point == b'.' && (1..=20).contains(&digits.len());
    ensure(is_fraction && digits.iter().all(u8::is_ascii_digit))?;
    let digit = |place: usize| u64::from(digits.get(place).map_or(0, |digit| digit - b'0'));
    Ok((0..6).fold(0, |sum, place| 10 * sum + digit(place)))
}

fn decimal(digits: &[u8]) -> asn1::Result<u32> {
    digits.iter().try_fold(0, |sum, digit| {
        ensure(digit.is_ascii_digit())?;
        Ok(10 * sum + u32::from(digit - b'0'))
    })
}

/// Accuracy: seconds, milliseconds and microseconds, all optional.
fn parse_accuracy(value: Value<'_>) -> asn1::Result<Duration> {
    value.fields(Tag::Sequence, |fields| {
        let seconds = fields.next_if(Tag::Integer)?;
        let millis = fields.next_if(context_primitive(0))?;
        let micros = fields.next_if(context_primitive(1))?;
        let seconds = seconds.map_or(Ok(0), |value| value.decode::<u32>())?;
        let millis = millis.map_or(Ok(0), thousandths)?;
        let micros = micros.map_or(Ok(0), thousandths)?;
        Ok(Duration::from_secs(seconds.into())
            + Duration::from_millis(millis)
            + Duration::from_micros(micros))
    })
}

/// INTEGER (1..999) under an implicit tag.
fn thousandths(value: Value<'_>) -> asn1::Result<u64> {
    let number = match *value.content() {
        [low @ 1..0x80] => u64::from(low),
        [0, low @ 0x80..=0xff] => u64::from(low),
        [high @ 1..=3, low] => u64::from(high) << 8 | u64::from(low),
        _ => return Err(malformed()),
    };
    ensure(number <= 999)?;
    Ok(number)
}

/// Whether one of the extensions is critical, or they cannot be read.
fn has_critical(extensions: Value<'_>) -> bool {
    let parsed = extensions.elements(context(1)).and_then(|elements| {
        let parse = |element: &Value<'_>| element.decode::<Extension>();
        elements.iter().map(parse).collect::<asn1::Result<Vec<_>>>()
    });
    parsed.map_or(true, |all| all.iter().any(|extension| extension.critical))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Option<Duration> {
        let bytes = [&[0x18, text.len() as u8], text.as_bytes()].concat();
        time(Value::parse(&bytes).ok()?).ok()
    }

    #[test]
    fn times_have_seconds_and_fractions() {
        let micros = |text| read(text).map(|time| time.as_micros());
        // date -u -d '2025-05-09 11:58:55' +%s
        assert_eq!(micros("20250509115855Z"), Some(1_746_791_935_000_000));
        assert_eq!(micros("20250509115855.5Z"), Some(1_746_791_935_500_000));
        assert_eq!(
            micros("20250509115855.0000019Z"),
            Some(1_746_791_935_000_001)
        );
        for text in [
            "",
            "Z",
            "20250509115855",
            "202505091158Z",
            "20250509115855.Z",
            "20250509115855,5Z",
            "20250509115855.5aZ",
            "20250509115855.000000000000000000000Z",
            "20250509115855+0000",
            "20250509115860Z",
            "20250229115855Z",
            "20251309115855Z",
            "2025050911585aZ",
            "19690509115855Z",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn accuracy_is_a_sum() {
        let parse = |bytes: &[u8]| parse_accuracy(Value::parse(bytes).unwrap()).ok();
        let sum = [0x30, 11, 2, 1, 1, 0x80, 2, 1, 0xf4, 0x81, 2, 3, 0xe7];
        assert_eq!(parse(&sum), Some(Duration::from_micros(1_500_999)));
        assert_eq!(parse(&[0x30, 0]), Some(Duration::ZERO));
        for wrong in [
            &[0x30, 3, 0x80, 1, 0][..],
            &[0x30, 4, 0x80, 2, 0, 1],
            &[0x30, 4, 0x80, 2, 3, 0xe8],
            &[0x30, 3, 2, 1, 0x80],
            &[0x30, 6, 0x81, 1, 1, 0x80, 1, 1],
        ] {
            assert_eq!(parse(wrong), None, "{wrong:?}");
        }
    }
}
