package values

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"time"

	"pgregory.net/rapid"
)

// undone is what a body panics with that is still to do.
const undone = "not implemented"

// The same examples every time: a result is a property of the code, not of the day.
func init() {
	examples := os.Getenv("CRITICALITY_EXAMPLES")
	if examples == "" {
		examples = "100"
	}
	for name, value := range map[string]string{"checks": examples, "seed": "1", "nofailfile": "true", "shrinktime": "2s"} {
		if err := flag.Set("rapid."+name, value); err != nil {
			panic(err)
		}
	}
}

// ended is how a call ended: with a result or with an error.
type ended[T any] struct {
	result T
	err    error
}

func (e ended[T]) raises(err error) bool { return errors.Is(e.err, err) }

func (e ended[T]) String() string {
	if e.err != nil {
		return fmt.Sprintf("the error was %q", e.err)
	}
	return "the result was " + shown(e.result)
}

// call calls it; a panic is an error too, but that of a body which is still to do.
func call[T any](function func() (T, error)) (outcome ended[T]) {
	defer func() {
		if thrown := recover(); thrown != nil {
			if thrown == undone {
				panic(thrown)
			}
			outcome.err = fmt.Errorf("panic: %v", thrown)
		}
	}()
	result, err := function()
	return ended[T]{result, err}
}

// given is a name and a value, for messages.
func given(name string, value any) string { return name + "=" + shown(value) }

func shown(value any) string {
	text := fmt.Sprintf("%+v", value)
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return strings.ReplaceAll(text, "\n", " ")
}

// holds fails with the promise and the values for which it does not hold.
func holds(t rapid.TB, promise string, condition func() bool, outcome fmt.Stringer, values ...string) {
	t.Helper()
	kept, err := evaluated(condition)
	tail := strings.Join(values, ", ")
	if outcome != nil {
		tail += "; " + outcome.String()
	}
	if err != nil {
		t.Fatalf("%s cannot be evaluated (%v) for %s", promise, err, tail)
	}
	if !kept {
		t.Fatalf("%s does not hold for %s", promise, tail)
	}
}

// assume draws values anew where a promise says nothing about them.
func assume(t rapid.TB, condition bool) {
	t.Helper()
	if !condition {
		t.Skip("the promise is not about these values")
	}
}

func evaluated(condition func() bool) (kept bool, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			if thrown == undone {
				panic(thrown)
			}
			err = fmt.Errorf("%v", thrown)
		}
	}()
	return condition(), nil
}

// step computes a value that a claim speaks of; where that fails, the claim does not hold.
func step[T any](t rapid.TB, promise string, function func() T, values ...string) T {
	t.Helper()
	outcome := call(func() (T, error) { return function(), nil })
	if outcome.err != nil {
		t.Fatalf("%s does not hold for %s: %v", promise, strings.Join(values, ", "), outcome.err)
	}
	return outcome.result
}

// fails demands that a value cannot be computed, for this reason.
func fails[T any](t rapid.TB, promise string, reason error, function func() T, values ...string) {
	t.Helper()
	defer func() {
		thrown := recover()
		if thrown == undone {
			panic(thrown)
		}
		if found, ok := thrown.(failed); ok && errors.Is(found.err, reason) {
			return
		}
		t.Fatalf("%s does not hold for %s: %v was wanted, and it ended with %v",
			promise, strings.Join(values, ", "), reason, thrown)
	}()
	function()
}

// fakeClock stands still until it is moved.
type fakeClock struct{ seconds int }

func (c *fakeClock) now() int { return c.seconds }

func (c *fakeClock) advance(seconds int) int {
	c.seconds += seconds
	return c.seconds
}

// lanes takes the same steps several times at once; all must hold, and all must come to the same.
func lanes(t rapid.TB, promise string, steps func() ([]any, bool), values ...string) {
	t.Helper()
	const count, rounds = 8, 3
	results, faults := make([][]any, count), make([]error, count)
	begin := make(chan struct{})
	var running sync.WaitGroup
	for lane := range count {
		running.Add(1)
		go func() {
			defer running.Done()
			defer func() {
				if thrown := recover(); thrown != nil {
					faults[lane] = fmt.Errorf("%v", thrown)
				}
			}()
			<-begin
			for range rounds {
				found, kept := steps()
				if !kept {
					faults[lane] = errors.New("a lane's check failed")
					return
				}
				results[lane] = found
			}
		}()
	}
	close(begin)
	running.Wait()
	tail := strings.Join(values, ", ")
	for lane := range count {
		if faults[lane] != nil {
			t.Fatalf("%s does not hold for %s: %v", promise, tail, faults[lane])
		}
		if !same(results[lane], results[0]) {
			t.Fatalf("%s does not hold for %s: two lanes come to different ends", promise, tail)
		}
	}
}

// grows compares how time grows with size, on a logarithmic scale, with what is promised.
func grows(t rapid.TB, promise string, slope float64, prepare func(size int) func()) {
	t.Helper()
	sizes := []int{500, 1000, 2000, 4000, 8000}
	var xs, ys []float64
	for _, size := range sizes {
		run := prepare(size)
		run()
		xs, ys = append(xs, math.Log(float64(size))), append(ys, math.Log(quickest(run)))
	}
	if found := slopeOf(xs, ys); found > slope+0.5 {
		t.Fatalf("%s does not hold: time grows with the power %.2f of the size", promise, found)
	}
}

// quickest is the least time of a run, in seconds, of several that last long enough to be measured.
func quickest(run func()) float64 {
	best := math.Inf(1)
	for range 7 {
		count, begun := 0, time.Now()
		for time.Since(begun) < 2*time.Millisecond {
			run()
			count++
		}
		best = min(best, time.Since(begun).Seconds()/float64(count))
	}
	return best
}

func slopeOf(xs, ys []float64) float64 {
	var x, y, xx, xy float64
	n := float64(len(xs))
	for i := range xs {
		x, y, xx, xy = x+xs[i], y+ys[i], xx+xs[i]*xs[i], xy+xs[i]*ys[i]
	}
	return (n*xy - x*y) / (n*xx - x*x)
}

// drawn makes a value whose parts must fit together: parts are drawn again until they do.
func drawn[T any](t *rapid.T, make func() (T, error)) T {
	for range 100 {
		if value, err := make(); err == nil {
			return value
		}
	}
	t.Skip("no parts were found that fit together")
	panic("unreachable")
}

// many draws that many items, no two of which have the same key.
func many[T any, K comparable](items *rapid.Generator[T], size int, key func(int, T) K) []T {
	made, seen := []T{}, map[K]struct{}{}
	for seed := 0; len(made) < size && seed < 20*size; seed++ {
		item := items.Example(seed)
		if identity := key(seed, item); !has(seen, identity) {
			seen[identity] = struct{}{}
			made = append(made, item)
		}
	}
	return made
}
