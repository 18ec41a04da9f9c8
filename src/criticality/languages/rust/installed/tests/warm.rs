use proptest::prelude::*;

proptest! {
    #[test]
    fn warm(_n in 0..9) {}
}
