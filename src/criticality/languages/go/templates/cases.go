package {{ name }}

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
)

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

func pointer[T any](value T) *T { return &value }

func setOf[T comparable](items []T) map[T]struct{} {
	made := map[T]struct{}{}
	for _, item := range items {
		made[item] = struct{}{}
	}
	return made
}

// equal compares by value; an empty list is an empty list, made or not.
func equal(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) && fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
		t.Errorf("the result is %+v, and it was %+v", got, want)
	}
}

func fails(t *testing.T, got, want error) {
	t.Helper()
	if !errors.Is(got, want) {
		t.Errorf("the error is %v, and it was %v", got, want)
	}
}
