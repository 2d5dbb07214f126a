//! Public arithmetic against aws-lc's operations in constant time, and against dalek's.

use super::{Element, Group, P256, P384, Ristretto255, Scalar};

/// The sum, one product after the other.
fn plain<E: Element>(terms: &[(E::Scalar, &E)]) -> E {
    let first = terms[0].1.mul(&terms[0].0);
    terms[1..].iter().fold(first, |sum, (scalar, element)| {
        sum.add(&element.mul(scalar))
    })
}

fn zero<S: Scalar>() -> S {
    S::decode(&vec![0; S::LEN]).expect("zero is a number")
}

fn element<G: Group>() -> G::Element {
    G::Element::mul_generator(&G::Scalar::random())
}

#[test]
fn sums_of_every_size() {
    fn check<G: Group>() {
        // One more and one less than each change of method.
        for count in [
            1, 2, 3, 7, 8, 9, 31, 32, 33, 99, 100, 101, 299, 300, 301, 1001,
        ] {
            let elements: Vec<_> = (0..count).map(|_| element::<G>()).collect();
            let terms: Vec<_> = elements
                .iter()
                .map(|element| (G::Scalar::random(), element))
                .collect();
            assert!(
                G::Element::sum_of_products_public(&terms) == plain(&terms),
                "{count} terms"
            );
        }
    }
    check::<P256>();
    check::<P384>();
    check::<Ristretto255>();
}

#[test]
fn sums_with_special_terms() {
    fn check<G: Group>() {
        let one = element::<G>();
        let scalar = G::Scalar::random();
        let negated = zero::<G::Scalar>().sub(&scalar);
        let small = zero::<G::Scalar>().add(&scalar.mul(&scalar.invert().expect("not zero")));
        for count in [2, 4, 8, 40] {
            // One element throughout: buckets are doubled instead of added to.
            let same = vec![(scalar.clone(), &one); count];
            assert!(G::Element::sum_of_products_public(&same) == plain(&same));
            // Factors that cancel each other: the sum is the identity.
            let mut opposite = same.clone();
            opposite
                .iter_mut()
                .skip(1)
                .step_by(2)
                .for_each(|term| term.0 = negated.clone());
            let sum = G::Element::sum_of_products_public(&opposite);
            assert!(sum.encode().is_err(), "the identity");
            // The identity as a term, zero and one as factors.
            let mut mixed = same.clone();
            mixed[0] = (scalar.clone(), &sum);
            mixed[1].0 = zero();
            mixed[count - 1].0 = small.clone();
            assert!(G::Element::sum_of_products_public(&mixed) == plain(&mixed));
            let nothing = vec![(zero::<G::Scalar>(), &one); count];
            assert!(
                G::Element::sum_of_products_public(&nothing)
                    .encode()
                    .is_err()
            );
        }
    }
    check::<P256>();
    check::<P384>();
    check::<Ristretto255>();
}

#[test]
fn double_products() {
    fn check<G: Group>() {
        let (a, b, element) = (G::Scalar::random(), G::Scalar::random(), element::<G>());
        let expected = G::Element::mul_generator(&a).add(&element.mul(&b));
        assert!(G::Element::double_product_public(&a, &b, &element) == expected);
    }
    check::<P256>();
    check::<P384>();
    check::<Ristretto255>();
}

#[test]
fn encodings_come_back() {
    fn check<G: Group>() {
        for _ in 0..50 {
            let element = element::<G>();
            let encoding = element.encode().expect("no identity");
            assert!(G::Element::decode(encoding.as_bytes()).expect("an element") == element);
            assert!(element.add(&element) != element);
        }
    }
    check::<P256>();
    check::<P384>();
    check::<Ristretto255>();
}

#[test]
fn products_with_their_encodings() {
    fn check<G: Group>() {
        let elements: Vec<_> = (0..5).map(|_| element::<G>()).collect();
        let scalars: Vec<_> = (0..5).map(|_| G::Scalar::random()).collect();
        let terms: Vec<_> = elements.iter().zip(&scalars).collect();
        let products = G::Element::products(&terms).expect("no identity");
        for ((product, encoding), (element, scalar)) in products.iter().zip(&terms) {
            assert!(*product == element.mul(scalar));
            assert_eq!(*encoding, product.encode().expect("no identity"));
        }
        assert!(
            G::Element::products(&[(&elements[0], &zero())]).is_err(),
            "the identity"
        );
    }
    check::<P256>();
    check::<P384>();
    check::<Ristretto255>();
}

#[test]
fn inverses() {
    fn check<G: Group>() {
        let scalars: Vec<_> = (0..7).map(|_| G::Scalar::random()).collect();
        let inverses = G::Scalar::invert_all(&scalars).expect("no zero");
        let one = scalars[0].mul(&scalars[0].invert().expect("not zero"));
        for (scalar, inverse) in scalars.iter().zip(&inverses) {
            assert!(scalar.mul(inverse) == one);
            assert!(*inverse == scalar.invert().expect("not zero"));
        }
        let with_zero = [scalars[0].clone(), zero()];
        assert!(G::Scalar::invert_all(&with_zero).is_err());
        assert!(zero::<G::Scalar>().invert().is_err());
        assert_eq!(G::Scalar::invert_all(&[]).expect("nothing").len(), 0);
    }
    check::<P256>();
    check::<P384>();
    check::<Ristretto255>();
}
