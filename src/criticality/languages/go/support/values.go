package values

import (
	"fmt"
	"reflect"
	"sort"
	"time"
)

// failed is what must panics with: a call that was to succeed returned an error.
type failed struct{ err error }

func (f failed) Error() string { return fmt.Sprintf("a call failed: %v", f.err) }

func must[T any](value T, err error) T {
	if err != nil {
		panic(failed{err})
	}
	return value
}

func pick[T any](test bool, yes, no func() T) T {
	if test {
		return yes()
	}
	return no()
}

func with[T, R any](value T, change func(T) R) R { return change(value) }

func pointer[T any](value T) *T { return &value }

func taken[T any](value *T) T {
	if value == nil {
		panic(failed{fmt.Errorf("there is no value")})
	}
	return *value
}

func itself[T any](value T) any { return value }

// same compares by value, all the way down; an empty list is an empty list, made or not.
func same(a, b any) bool { return equal(reflect.ValueOf(a), reflect.ValueOf(b)) }

func equal(a, b reflect.Value) bool {
	if !a.IsValid() || !b.IsValid() {
		return a.IsValid() == b.IsValid()
	}
	if a.Type() != b.Type() {
		return false
	}
	switch a.Kind() {
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() {
			return false
		}
		for i := range a.Len() {
			if !equal(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() {
			return false
		}
		for _, key := range a.MapKeys() {
			if !b.MapIndex(key).IsValid() || !equal(a.MapIndex(key), b.MapIndex(key)) {
				return false
			}
		}
		return true
	case reflect.Struct:
		for i := range a.NumField() {
			if !equal(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() == b.IsNil()
		}
		return equal(a.Elem(), b.Elem())
	default:
		return a.Equal(b)
	}
}

// compare orders numbers, texts, times, and lists and tuples of them: -1, 0 or 1.
func compare(a, b any) int {
	if first, ok := a.(time.Time); ok {
		return first.Compare(b.(time.Time))
	}
	if first := reflect.ValueOf(a).MethodByName("Cmp"); first.IsValid() {
		return int(first.Call([]reflect.Value{reflect.ValueOf(b)})[0].Int())
	}
	first, second := reflect.ValueOf(a), reflect.ValueOf(b)
	switch first.Kind() {
	case reflect.Int:
		return sign(first.Int() < second.Int(), first.Int() > second.Int())
	case reflect.Float64:
		return sign(first.Float() < second.Float(), first.Float() > second.Float())
	case reflect.String:
		return sign(first.String() < second.String(), first.String() > second.String())
	case reflect.Bool:
		return sign(!first.Bool() && second.Bool(), first.Bool() && !second.Bool())
	case reflect.Slice:
		for i := range min(first.Len(), second.Len()) {
			if found := compare(first.Index(i).Interface(), second.Index(i).Interface()); found != 0 {
				return found
			}
		}
		return sign(first.Len() < second.Len(), first.Len() > second.Len())
	case reflect.Struct:
		for i := range first.NumField() {
			if found := compare(first.Field(i).Interface(), second.Field(i).Interface()); found != 0 {
				return found
			}
		}
		return 0
	default:
		panic(failed{fmt.Errorf("values of %T have no order", a)})
	}
}

func sign(less, greater bool) int {
	switch {
	case less:
		return -1
	case greater:
		return 1
	default:
		return 0
	}
}

func sortedBy[T any](items []T, key func(T) any) []T {
	made := append([]T{}, items...)
	sort.SliceStable(made, func(i, j int) bool { return compare(key(made[i]), key(made[j])) < 0 })
	return made
}

func least[T any](items []T, key func(T) any) T { return extreme(items, key, -1) }

func greatest[T any](items []T, key func(T) any) T { return extreme(items, key, 1) }

func extreme[T any](items []T, key func(T) any, wanted int) T {
	if len(items) == 0 {
		panic(failed{fmt.Errorf("an empty list has neither a least nor a greatest")})
	}
	found := items[0]
	for _, item := range items[1:] {
		if compare(key(item), key(found)) == wanted {
			found = item
		}
	}
	return found
}

func folded[T, S any](items []T, start S, step func(S, T) S) S {
	for _, item := range items {
		start = step(start, item)
	}
	return start
}

func every[T any](items []T, test func(T) bool) bool {
	return !some(items, func(item T) bool { return !test(item) })
}

func some[T any](items []T, test func(T) bool) bool {
	for _, item := range items {
		if test(item) {
			return true
		}
	}
	return false
}

func where[T any](items []T, test func(T) bool) []T {
	made := []T{}
	for _, item := range items {
		if test(item) {
			made = append(made, item)
		}
	}
	return made
}

func each[T, R any](items []T, change func(T) R) []R {
	made := []R{}
	for _, item := range items {
		made = append(made, change(item))
	}
	return made
}

func flat[T, R any](items []T, change func(T) []R) []R {
	made := []R{}
	for _, item := range items {
		made = append(made, change(item)...)
	}
	return made
}

func sum[T int | float64](items []T) T {
	var total T
	for _, item := range items {
		total += item
	}
	return total
}

func truncated(value float64) int { return int(value) }

func absolute(value int) int { return max(value, -value) }

func floorDivide(a, b int) int {
	quotient := a / b
	if a%b != 0 && (a < 0) != (b < 0) {
		quotient--
	}
	return quotient
}

func modulo(a, b int) int { return a - b*floorDivide(a, b) }

func power(base, exponent int) int {
	made := 1
	for range exponent {
		made *= base
	}
	return made
}

func place(length, position int) int {
	if position < 0 {
		return length + position
	}
	return position
}

func at[T any](items []T, position int) T { return items[place(len(items), position)] }

func part[T any](items []T, start, stop int) []T {
	from := min(max(place(len(items), start), 0), len(items))
	to := min(max(place(len(items), stop), from), len(items))
	return append([]T{}, items[from:to]...)
}

func within[T any](items []T, wanted T) bool { return occurrences(items, wanted) > 0 }

func occurrences[T any](items []T, wanted T) int {
	count := 0
	for _, item := range items {
		if same(item, wanted) {
			count++
		}
	}
	return count
}

func position[T any](items []T, wanted T) int {
	for i, item := range items {
		if same(item, wanted) {
			return i
		}
	}
	panic(failed{fmt.Errorf("the list has no such item")})
}

func joined[T any](first, second []T) []T { return append(append([]T{}, first...), second...) }

func reversed[T any](items []T) []T {
	made := make([]T, len(items))
	for i, item := range items {
		made[len(items)-1-i] = item
	}
	return made
}

func distinct[T any](items []T) []T {
	made := []T{}
	for _, item := range items {
		if !within(made, item) {
			made = append(made, item)
		}
	}
	return made
}

func zip[A, B any](first []A, second []B) []Tuple2[A, B] {
	made := []Tuple2[A, B]{}
	for i := range min(len(first), len(second)) {
		made = append(made, Tuple2[A, B]{Item1: first[i], Item2: second[i]})
	}
	return made
}

func enumerate[T any](items []T, first int) []Tuple2[int, T] {
	made := []Tuple2[int, T]{}
	for i, item := range items {
		made = append(made, Tuple2[int, T]{Item1: first + i, Item2: item})
	}
	return made
}

func numbers(from, to int) []int {
	made := []int{}
	for number := from; number < to; number++ {
		made = append(made, number)
	}
	return made
}

func setOf[T comparable](items []T) map[T]struct{} {
	made := map[T]struct{}{}
	for _, item := range items {
		made[item] = struct{}{}
	}
	return made
}

func mapOf[K comparable, V any](pairs []Tuple2[K, V]) map[K]V {
	made := map[K]V{}
	for _, pair := range pairs {
		made[pair.Item1] = pair.Item2
	}
	return made
}

func has[K comparable, V any](items map[K]V, key K) bool {
	_, there := items[key]
	return there
}

func found[K comparable, V any](items map[K]V, key K) V {
	value, there := items[key]
	if !there {
		panic(failed{fmt.Errorf("the map has no such key")})
	}
	return value
}

func keysOf[K comparable, V any](items map[K]V) []K {
	made := make([]K, 0, len(items))
	for key := range items {
		made = append(made, key)
	}
	return sortedBy(made, func(key K) any { return fmt.Sprint(key) })
}

func valuesOf[K comparable, V any](items map[K]V) []V {
	made := make([]V, 0, len(items))
	for _, key := range keysOf(items) {
		made = append(made, items[key])
	}
	return made
}

func entriesOf[K comparable, V any](items map[K]V) []Tuple2[K, V] {
	return zip(keysOf(items), valuesOf(items))
}

func union[T comparable](first, second map[T]struct{}) map[T]struct{} {
	return setOf(joined(keysOf(first), keysOf(second)))
}

func difference[T comparable](first, second map[T]struct{}) map[T]struct{} {
	made := map[T]struct{}{}
	for item := range first {
		if !has(second, item) {
			made[item] = struct{}{}
		}
	}
	return made
}

func intersection[T comparable](first, second map[T]struct{}) map[T]struct{} {
	return difference(first, difference(first, second))
}

func subset[T comparable](first, second map[T]struct{}) bool {
	return len(difference(first, second)) == 0
}

func characters(text string) []string {
	made := []string{}
	for _, char := range text {
		made = append(made, string(char))
	}
	return made
}

func allOf(text string, is func(rune) bool) bool {
	for _, char := range text {
		if !is(char) {
			return false
		}
	}
	return text != ""
}

func isASCII(text string) bool {
	for _, char := range text {
		if char > 127 {
			return false
		}
	}
	return true
}
