package domain

// Tuple1 is a value on its own.
type Tuple1[A any] struct{ Item1 A }

// Tuple2 is two values that belong together.
type Tuple2[A, B any] struct {
	Item1 A
	Item2 B
}

// Tuple3 is three values that belong together.
type Tuple3[A, B, C any] struct {
	Item1 A
	Item2 B
	Item3 C
}

// Tuple4 is four values that belong together.
type Tuple4[A, B, C, D any] struct {
	Item1 A
	Item2 B
	Item3 C
	Item4 D
}
