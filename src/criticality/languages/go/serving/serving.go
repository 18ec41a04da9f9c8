// Package serving answers calls of a project's functions over pipes; the process is sealed before the first one.
//
// A frame is a length (32 bits, big-endian) and a MessagePack value: [id, name, arguments] comes in, and
// [id, status, value, trace] goes out. A name before "#work" asks for nanoseconds: the least of five runs.
package serving

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	returned = 0
	raised   = 1 // the value is the error's name and its words
	changed  = 2 // an argument; the value says which
	unfit    = 3 // an argument cannot be made in this language; the value says why
	maxFrame = 8 << 20
	maxTrace = 1 << 20
	maxStack = 256 << 20
	runs     = 5
)

// Table is what a program serves.
type Table struct {
	Functions map[string]any   // by id
	Newtypes  []any            // their constructors
	Records   []any            // the constructors of those that are made by nothing else
	Errors    map[string]error // by name
}

var (
	newtypes, records map[reflect.Type]reflect.Value
	failures          map[string]error
	calls             [][]byte // that the body made itself, of other functions of the project
	traced, depth     int
)

// Variant is the number of the bodies that are served.
var Variant, _ = strconv.Atoi(os.Args[len(os.Args)-1])

// Serve answers until there are no more calls.
func Serve(table Table) {
	newtypes, records, failures = made(table.Newtypes), made(table.Records), table.Errors
	in, out := bufio.NewReaderSize(os.Stdin, 1<<16), bufio.NewWriterSize(os.Stdout, 1<<16)
	time.Local = time.UTC // what a place's own time is stands in a file
	os.Stdout = os.Stderr // answers alone go out
	debug.SetMaxStack(maxStack)
	send(out, append(text(whole(whole(head(nil, 0xdd, 4), 0), 0), seal()), 0xc0))
	out.Flush()
	var size [4]byte
	for {
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(in, frame); err != nil {
			return
		}
		send(out, answered(&reader{frame}, table.Functions))
		if in.Buffered() == 0 {
			out.Flush()
		}
	}
}

func send(out *bufio.Writer, frame []byte) {
	if len(frame) > maxFrame {
		os.Exit(3)
	}
	out.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame))))
	out.Write(frame)
}

func made(constructors []any) map[reflect.Type]reflect.Value {
	by := map[reflect.Type]reflect.Value{}
	for _, one := range constructors {
		by[reflect.TypeOf(one).Out(0)] = reflect.ValueOf(one)
	}
	return by
}

func answered(in *reader, functions map[string]any) []byte {
	in.items(3)
	id := in.integer()
	name, timed := strings.CutSuffix(in.text(), "#work")
	function := reflect.ValueOf(functions[name])
	calls, traced = nil, 0
	arguments, why := taken(in, function.Type())
	status, value := unfit, text(nil, why)
	if why == "" {
		before := listed(arguments)
		begun := time.Now()
		status, value = called(function, arguments)
		spent := time.Since(begun)
		if after := listed(arguments); !slices.Equal(before, after) {
			status, value = changed, text(nil, "an argument")
		}
		if timed && status == returned {
			for range runs - 1 {
				begun = time.Now()
				called(function, arguments)
				spent = min(spent, time.Since(begun))
			}
			calls, value = nil, whole(nil, spent.Nanoseconds())
		}
	}
	out := append(whole(whole(head(nil, 0xdd, 4), id), int64(status)), value...)
	if traced > maxTrace {
		return append(out, 0xc0)
	}
	return slices.Concat(append([][]byte{head(out, 0xdd, len(calls))}, calls...)...)
}

// taken makes the arguments of a call, or says why it cannot.
func taken(in *reader, function reflect.Type) (arguments []reflect.Value, why string) {
	defer func() {
		if thrown := recover(); thrown != nil {
			why = fmt.Sprint(thrown)
		}
	}()
	in.items(function.NumIn())
	for place := range function.NumIn() {
		arguments = append(arguments, in.value(function.In(place)))
	}
	return arguments, ""
}

func called(function reflect.Value, arguments []reflect.Value) (status int, value []byte) {
	depth = -1 // the call itself is none that a body made
	defer func() {
		if thrown := recover(); thrown != nil {
			status, value = raised, words("panic", fmt.Sprint(thrown))
		}
	}()
	return outcome(function.Call(arguments))
}

// outcome is what a function returned: its value, or its error.
func outcome(results []reflect.Value) (int, []byte) {
	for _, result := range results {
		if err, ok := result.Interface().(error); ok && result.Type() == reflect.TypeFor[error]() {
			for name, failure := range failures {
				if errors.Is(err, failure) {
					return raised, words(name, err.Error())
				}
			}
			return raised, words("error", err.Error())
		}
	}
	if len(results) == 0 || results[0].Type() == reflect.TypeFor[error]() {
		return returned, []byte{0xc0}
	}
	return returned, value(nil, results[0])
}

// Traced calls another function of the project, and notes with what, and what came of it.
func Traced(name string, arguments []any, call func() []any) {
	depth++
	defer func() { depth-- }()
	if depth != 1 || traced > maxTrace {
		call()
		return
	}
	before := listed(values(arguments))
	note := func(status int, value []byte) {
		entry := append(whole(append(text(head(nil, 0xdd, 4), name), before...), int64(status)), value...)
		if traced += len(entry); traced <= maxTrace {
			calls = append(calls, entry)
		}
	}
	defer func() {
		if thrown := recover(); thrown != nil {
			note(raised, words("panic", fmt.Sprint(thrown)))
			panic(thrown)
		}
	}()
	note(outcome(values(call())))
}

// values are what is in a list; an error in it stays an error, and so does none.
func values(items []any) []reflect.Value {
	made := make([]reflect.Value, len(items))
	for place, item := range items {
		if err, ok := item.(error); ok || item == nil {
			made[place] = reflect.ValueOf(&err).Elem()
		} else {
			made[place] = reflect.ValueOf(item)
		}
	}
	return made
}
