package serving

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// Extension types of the wire.
const (
	decimal = 2
	moment  = 3
	table   = 5
)

// places of a decimal number that has no end.
const places = 30

var timeType = reflect.TypeFor[time.Time]()

// reader takes one MessagePack value after another off the bytes of a frame; it panics where there is another.
type reader struct{ rest []byte }

func (r *reader) take(count int) []byte {
	if count > len(r.rest) {
		panic("the frame ends too early")
	}
	taken := r.rest[:count]
	r.rest = r.rest[count:]
	return taken
}

func (r *reader) number(size int) uint64 {
	var whole uint64
	for _, part := range r.take(size) {
		whole = whole<<8 | uint64(part)
	}
	return whole
}

// sized is a length: in the marker itself, or in the 1, 2 or 4 bytes that a marker from first on says.
func (r *reader) sized(what string, fixed, mask, first byte, sizes ...int) int {
	marker := r.take(1)[0]
	if mask != 0 && marker&^mask == fixed {
		return int(marker & mask)
	}
	if place := int(marker) - int(first); place >= 0 && place < len(sizes) {
		return int(r.number(sizes[place]))
	}
	panic(fmt.Sprintf("%s was expected, and the marker is %#x", what, marker))
}

func (r *reader) list() int { return r.sized("a list", 0x90, 0x0f, 0xdc, 2, 4) }

func (r *reader) items(count int) {
	if found := r.list(); found != count {
		panic(fmt.Sprintf("%d values were expected, and there are %d", count, found))
	}
}

func (r *reader) text() string { return string(r.take(r.sized("a text", 0xa0, 0x1f, 0xd9, 1, 2, 4))) }

func (r *reader) extension(kind byte) []byte {
	marker, size := r.take(1)[0], 0
	switch {
	case marker >= 0xd4 && marker <= 0xd8:
		size = 1 << (marker - 0xd4)
	case marker >= 0xc7 && marker <= 0xc9:
		size = int(r.number(1 << (marker - 0xc7)))
	}
	if size == 0 || r.take(1)[0] != kind {
		panic(fmt.Sprintf("an extension of type %d was expected", kind))
	}
	return r.take(size)
}

func (r *reader) integer() int64 {
	marker := r.take(1)[0]
	switch {
	case marker < 0x80 || marker >= 0xe0:
		return int64(int8(marker))
	case marker >= 0xcc && marker <= 0xcf:
		if whole := r.number(1 << (marker - 0xcc)); whole <= math.MaxInt64 {
			return int64(whole)
		}
	case marker >= 0xd0 && marker <= 0xd3:
		size := 1 << (marker - 0xd0)
		shift := 64 - 8*size
		return int64(r.number(size)<<shift) >> shift
	}
	panic("no whole number of 64 bits")
}

// value makes a value of a type; those that only a constructor makes are made by it.
func (r *reader) value(kind reflect.Type) reflect.Value {
	made := reflect.New(kind).Elem()
	if exact(kind) {
		return built(newtypes[kind], reflect.ValueOf(string(r.extension(decimal))))
	}
	if maker, ok := newtypes[kind]; ok {
		return built(maker, r.value(maker.Type().In(0)))
	}
	if maker, ok := records[kind]; ok {
		r.items(maker.Type().NumIn())
		var fields []reflect.Value
		for place := range maker.Type().NumIn() {
			fields = append(fields, r.value(maker.Type().In(place)))
		}
		return built(maker, fields...)
	}
	switch kind.Kind() {
	case reflect.Bool:
		made.SetBool(r.take(1)[0] == 0xc3)
	case reflect.Int:
		made.SetInt(r.integer())
	case reflect.Float64:
		if r.rest[0] == 0xcb {
			made.SetFloat(math.Float64frombits(binary.BigEndian.Uint64(r.take(9)[1:])))
		} else {
			made.SetFloat(float64(r.integer()))
		}
	case reflect.String:
		made.SetString(r.text())
	case reflect.Pointer:
		if r.rest[0] == 0xc0 {
			r.take(1)
			break
		}
		made.Set(reflect.New(kind.Elem()))
		made.Elem().Set(r.value(kind.Elem()))
	case reflect.Slice:
		if kind.Elem().Kind() == reflect.Uint8 {
			made.SetBytes(slices.Clone(r.take(r.sized("bytes", 0, 0, 0xc4, 1, 2, 4))))
			break
		}
		count := r.list()
		made.Set(reflect.MakeSlice(kind, count, count))
		for place := range count {
			made.Index(place).Set(r.value(kind.Elem()))
		}
	case reflect.Map:
		made.Set(reflect.MakeMap(kind))
		of := r
		if kind.Elem().Size() > 0 {
			of = &reader{r.extension(table)}
		}
		for range of.list() {
			if of == r {
				made.SetMapIndex(r.value(kind.Key()), reflect.Zero(kind.Elem()))
				continue
			}
			of.items(2)
			key := of.value(kind.Key())
			made.SetMapIndex(key, of.value(kind.Elem()))
		}
	case reflect.Struct:
		r.fields(kind, made)
	}
	return made
}

func (r *reader) fields(kind reflect.Type, made reflect.Value) {
	switch {
	case kind == timeType:
		written := string(r.extension(moment))
		if !strings.Contains(written, "T") {
			written += "T00:00:00"
		}
		if len(written) == len("2006-01-02T15:04:05") {
			written += "Z"
		}
		read, err := time.Parse(time.RFC3339Nano, written)
		if err != nil {
			panic(err)
		}
		made.Set(reflect.ValueOf(read.UTC()))
	case kind.NumField() == 0:
		r.take(1)
	default:
		r.items(kind.NumField())
		for place := range kind.NumField() {
			made.Field(place).Set(r.value(kind.Field(place).Type))
		}
	}
}

func built(maker reflect.Value, arguments ...reflect.Value) reflect.Value {
	results := maker.Call(arguments)
	if len(results) == 2 && !results[1].IsNil() {
		panic(results[1].Interface())
	}
	return results[0]
}

func head(out []byte, marker byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(out, marker), uint32(size))
}

func whole(out []byte, value int64) []byte {
	return binary.BigEndian.AppendUint64(append(out, 0xd3), uint64(value))
}

func text(out []byte, value string) []byte { return append(head(out, 0xdb, len(value)), value...) }

func extended(out []byte, kind byte, value []byte) []byte {
	return append(append(head(out, 0xc9, len(value)), kind), value...)
}

func words(name, message string) []byte {
	return text(text(head(nil, 0xdd, 2), name), strings.ToValidUTF8(message, "?"))
}

func listed(items []reflect.Value) []byte {
	out := head(nil, 0xdd, len(items))
	for _, item := range items {
		out = value(out, item)
	}
	return out
}

// value writes a value; the elements of sets and maps stand in the order of their bytes.
func value(out []byte, item reflect.Value) []byte {
	switch kind := item.Type(); kind.Kind() {
	case reflect.Bool:
		if item.Bool() {
			return append(out, 0xc3)
		}
		return append(out, 0xc2)
	case reflect.Int:
		return whole(out, item.Int())
	case reflect.Float64:
		return binary.BigEndian.AppendUint64(append(out, 0xcb), math.Float64bits(item.Float()))
	case reflect.String:
		return text(out, item.String())
	case reflect.Pointer:
		if item.IsNil() {
			return append(out, 0xc0)
		}
		return value(out, item.Elem())
	case reflect.Slice:
		if kind.Elem().Kind() == reflect.Uint8 {
			return append(head(out, 0xc6, item.Len()), item.Bytes()...)
		}
		out = head(out, 0xdd, item.Len())
		for place := range item.Len() {
			out = value(out, item.Index(place))
		}
		return out
	case reflect.Map:
		entries := make([][]byte, 0, item.Len())
		for _, key := range item.MapKeys() {
			if kind.Elem().Size() == 0 {
				entries = append(entries, value(nil, key))
			} else {
				entries = append(entries, listed([]reflect.Value{key, item.MapIndex(key)}))
			}
		}
		slices.SortFunc(entries, slices.Compare[[]byte])
		whole := slices.Concat(append([][]byte{head(nil, 0xdd, len(entries))}, entries...)...)
		if kind.Elem().Size() == 0 {
			return append(out, whole...)
		}
		return extended(out, table, whole)
	case reflect.Struct:
		return structure(out, kind, item)
	default:
		panic(fmt.Sprintf("a %s has no form on the wire", kind))
	}
}

func structure(out []byte, kind reflect.Type, item reflect.Value) []byte {
	switch {
	case kind == timeType:
		return extended(out, moment, []byte(item.Interface().(time.Time).UTC().Format(time.RFC3339Nano)))
	case kind.NumField() == 0:
		return append(out, 0xc0)
	case exact(kind):
		number := new(big.Rat)
		if written := opened(item, 0).String(); written != "" {
			number.SetString(written)
		}
		return extended(out, decimal, []byte(strings.TrimRight(number.FloatString(places), "0")+"0"))
	case newtypes[kind].IsValid():
		return value(out, opened(item, 0))
	default:
		out = head(out, 0xdd, kind.NumField())
		for place := range kind.NumField() {
			out = value(out, opened(item, place))
		}
		return out
	}
}

// exact tells whether a type is the domain's decimal number.
func exact(kind reflect.Type) bool { return kind.Name() == "Decimal" && newtypes[kind].IsValid() }

// opened is a field of a struct, to be read even where it is not exported.
func opened(item reflect.Value, place int) reflect.Value {
	copied := reflect.New(item.Type()).Elem()
	copied.Set(item)
	field := copied.Field(place)
	return reflect.NewAt(field.Type(), unsafe.Pointer(field.UnsafeAddr())).Elem()
}
