package warm

import (
	"testing"

	"pgregory.net/rapid"
)

func TestWarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { rapid.Int().Draw(t, "n") })
}
