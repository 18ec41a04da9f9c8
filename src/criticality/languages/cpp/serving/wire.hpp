// MessagePack, and how the values of a specification stand in it.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace serving {

using Bytes = std::vector<std::uint8_t>;

constexpr int kDecimal = 2, kMoment = 3, kTable = 5;

// An argument that cannot be made: why.
struct Unfit : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Takes one value after another off the bytes of a frame.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  std::string_view take(std::size_t count) {
    if (count > rest_.size()) throw Unfit("the frame ends too early");
    const auto taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  int byte() { return static_cast<std::uint8_t>(take(1)[0]); }

  std::uint64_t number(std::size_t size) {
    std::uint64_t whole = 0;
    for (const char part : take(size)) whole = whole << 8 | static_cast<std::uint8_t>(part);
    return whole;
  }

  // A length: in the marker itself, or in the bytes that a marker from `first` on says.
  std::size_t sized(int fixed, int mask, int first, std::vector<std::size_t> sizes) {
    const int marker = byte();
    if (mask > 0 && (marker & ~mask) == fixed) return static_cast<std::size_t>(marker & mask);
    if (marker < first || marker >= first + static_cast<int>(sizes.size())) throw Unfit("another value was expected");
    return number(sizes[static_cast<std::size_t>(marker - first)]);
  }

  std::size_t list() { return sized(0x90, 0x0f, 0xdc, {2, 4}); }

  void items(std::size_t count) {
    if (list() != count) throw Unfit(std::to_string(count) + " values were expected");
  }

  std::string_view extension(int kind) {
    const int marker = byte();
    const auto size = marker >= 0xd4 ? std::size_t{1} << (marker - 0xd4) : number(std::size_t{1} << (marker - 0xc7));
    if (byte() != kind) throw Unfit("another extension was expected");
    return take(size);
  }

  bool at(int marker) const { return !rest_.empty() && static_cast<std::uint8_t>(rest_[0]) == marker; }

 private:
  std::string_view rest_;
};

// Grows as values are written.
struct Writer {
  std::string bytes;

  Writer& byte(int value) {
    bytes.push_back(static_cast<char>(value));
    return *this;
  }
  Writer& number(std::uint64_t value, int size) {
    for (int shift = 8 * (size - 1); shift >= 0; shift -= 8) byte(static_cast<int>(value >> shift & 0xff));
    return *this;
  }
  Writer& whole(std::int64_t value) { return byte(0xd3).number(static_cast<std::uint64_t>(value), 8); }
  Writer& list(std::size_t count) { return byte(0xdd).number(count, 4); }
  Writer& nothing() { return byte(0xc0); }
  Writer& put(std::string_view raw) {
    bytes += raw;
    return *this;
  }
  Writer& text(std::string_view value) { return byte(0xdb).number(value.size(), 4).put(value); }
  Writer& extension(int kind, std::string_view value) {
    return byte(0xc9).number(value.size(), 4).byte(kind).put(value);
  }
};

// How a type is read and written; every type of a specification has one.
template <typename T>
struct Wire;

template <typename T>
T get(Reader& in) {
  return Wire<T>::read(in);
}

template <typename T>
void put(Writer& out, const T& value) {
  Wire<T>::write(out, value);
}

template <>
struct Wire<std::int64_t> {
  static std::int64_t read(Reader& in) {
    const int marker = in.byte();
    if (marker < 0x80) return marker;
    if (marker >= 0xe0) return marker - 0x100;
    if (marker < 0xcc || marker > 0xd3) throw Unfit("a whole number of 64 bits was expected");
    const auto size = std::size_t{1} << (marker & 3);
    const auto whole = in.number(size);
    if (marker == 0xcf && whole >> 63 != 0) throw Unfit("a whole number of 64 bits was expected");
    const int shift = marker >= 0xd0 ? 64 - 8 * static_cast<int>(size) : 0;
    return static_cast<std::int64_t>(whole << shift) >> shift;
  }
  static void write(Writer& out, std::int64_t value) { out.whole(value); }
};

template <>
struct Wire<double> {
  static double read(Reader& in) {
    if (!in.at(0xcb)) return static_cast<double>(get<std::int64_t>(in));
    in.byte();
    return std::bit_cast<double>(in.number(8));
  }
  static void write(Writer& out, double value) { out.byte(0xcb).number(std::bit_cast<std::uint64_t>(value), 8); }
};

template <>
struct Wire<bool> {
  static bool read(Reader& in) { return in.byte() == 0xc3; }
  static void write(Writer& out, bool value) { out.byte(value ? 0xc3 : 0xc2); }
};

template <>
struct Wire<std::string> {
  static std::string read(Reader& in) { return std::string(in.take(in.sized(0xa0, 0x1f, 0xd9, {1, 2, 4}))); }
  static void write(Writer& out, const std::string& value) { out.text(value); }
};

template <>
struct Wire<Bytes> {
  static Bytes read(Reader& in) {
    const auto bytes = in.take(in.sized(0, 0, 0xc4, {1, 2, 4}));
    return {bytes.begin(), bytes.end()};
  }
  static void write(Writer& out, const Bytes& value) {
    out.byte(0xc6).number(value.size(), 4).put({reinterpret_cast<const char*>(value.data()), value.size()});
  }
};

template <typename T>
struct Wire<std::vector<T>> {
  static std::vector<T> read(Reader& in) {
    std::vector<T> made;
    for (auto left = in.list(); left > 0; --left) made.push_back(get<T>(in));
    return made;
  }
  static void write(Writer& out, const std::vector<T>& values) {
    out.list(values.size());
    for (const T& value : values) put<T>(out, value);
  }
};

template <typename T>
struct Wire<std::set<T>> {
  static std::set<T> read(Reader& in) {
    std::set<T> made;
    for (auto left = in.list(); left > 0; --left) made.insert(get<T>(in));
    return made;
  }
  static void write(Writer& out, const std::set<T>& values) {
    out.list(values.size());
    for (const T& value : values) put<T>(out, value);
  }
};

template <typename K, typename V>
struct Wire<std::map<K, V>> {
  static std::map<K, V> read(Reader& in) {
    Reader inner(in.extension(kTable));
    std::map<K, V> made;
    for (auto left = inner.list(); left > 0; --left) {
      inner.items(2);
      auto key = get<K>(inner);
      made.insert_or_assign(std::move(key), get<V>(inner));
    }
    return made;
  }
  static void write(Writer& out, const std::map<K, V>& values) {
    Writer inner;
    inner.list(values.size());
    for (const auto& [key, value] : values) {
      put<K>(inner.list(2), key);
      put<V>(inner, value);
    }
    out.extension(kTable, inner.bytes);
  }
};

template <typename T>
struct Wire<std::optional<T>> {
  static std::optional<T> read(Reader& in) {
    if (!in.at(0xc0)) return get<T>(in);
    in.byte();
    return std::nullopt;
  }
  static void write(Writer& out, const std::optional<T>& value) { value ? put<T>(out, *value) : void(out.nothing()); }
};

template <typename... T>
struct Wire<std::tuple<T...>> {
  static std::tuple<T...> read(Reader& in) {
    in.items(sizeof...(T));
    return std::tuple<T...>{get<T>(in)...};
  }
  static void write(Writer& out, const std::tuple<T...>& values) {
    out.list(sizeof...(T));
    std::apply([&out](const T&... value) { (put<T>(out, value), ...); }, values);
  }
};

// A type around another.
template <typename T, typename Base>
struct Newtype {
  static T read(Reader& in) { return T(get<Base>(in)); }
  static void write(Writer& out, const T& value) { put<Base>(out, value.get()); }
};

}  // namespace serving
