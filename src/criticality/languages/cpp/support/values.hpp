// What predicates say of values that the language has no single word for.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace values {

template <typename T>
using List = std::vector<T>;

// Numbers: division that rounds down, and what is left of it.
template <typename T>
T floor_divide(T left, T right) {
  if constexpr (std::is_integral_v<T>) {
    if (right == 0) throw std::domain_error("a division by nothing");
    const T whole = left / right;
    return left % right != 0 && (left % right < 0) != (right < 0) ? whole - 1 : whole;
  } else {
    return std::floor(left / right);
  }
}

template <typename T>
T modulo(T left, T right) {
  return left - right * floor_divide(left, right);
}

inline std::int64_t power(std::int64_t base, std::int64_t exponent) {
  std::int64_t made = 1;
  for (; exponent > 0; --exponent) made *= base;
  return made;
}

inline double power(double base, double exponent) { return std::pow(base, exponent); }

template <typename T>
T absolute(T value) {
  if constexpr (requires { value.abs(); }) {
    return value.abs();
  } else {
    return value < 0 ? -value : value;
  }
}

// Texts are UTF-8; their characters are code points.
inline List<std::string> characters(const std::string& text) {
  List<std::string> found;
  for (const char byte : text) {
    if ((static_cast<unsigned char>(byte) & 0xC0U) == 0x80U && !found.empty()) {
      found.back() += byte;
    } else {
      found.emplace_back(1, byte);
    }
  }
  return found;
}

inline std::string join(const std::string& between, const List<std::string>& parts) {
  std::string made;
  for (std::size_t place = 0; place < parts.size(); ++place) made += (place == 0 ? "" : between) + parts[place];
  return made;
}

inline List<std::string> split(const std::string& text, const std::string& at) {
  List<std::string> found;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = text.find(at, begin)) != std::string::npos; begin = end + at.size())
    found.push_back(text.substr(begin, end - begin));
  found.push_back(text.substr(begin));
  return found;
}

inline std::string substitute(const std::string& text, const std::string& old, const std::string& made) {
  return join(made, split(text, old));
}

template <typename F>
std::string each_byte(std::string text, F change) {
  for (char& byte : text) byte = static_cast<char>(change(static_cast<unsigned char>(byte)));
  return text;
}

inline std::string lower(const std::string& text) { return each_byte(text, [](int byte) { return std::tolower(byte); }); }
inline std::string upper(const std::string& text) { return each_byte(text, [](int byte) { return std::toupper(byte); }); }

inline std::string trim(const std::string& text) {
  const auto begin = text.find_first_not_of(" \t\r\n\v\f");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n\v\f") - begin + 1);
}

template <typename F>
bool all_bytes(const std::string& text, F kind) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](unsigned char byte) { return kind(byte) != 0; });
}

// Anything with a size.
template <typename C>
std::int64_t length(const C& items) {
  return static_cast<std::int64_t>(items.size());
}
inline std::int64_t length(const std::string& text) { return length(characters(text)); }

template <typename C, typename T>
bool contains(const C& items, const T& item) {
  if constexpr (requires { items.contains(item); }) {
    return items.contains(item);
  } else {
    return std::find(items.begin(), items.end(), item) != items.end();
  }
}
inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

template <typename T>
T index(const List<T>& items, std::int64_t place) {
  return items.at(static_cast<std::size_t>(place < 0 ? place + length(items) : place));
}
inline std::string index(const std::string& text, std::int64_t place) { return index(characters(text), place); }

template <typename T>
List<T> slice(const List<T>& items, std::int64_t start, std::int64_t stop) {
  const auto clamped = [&](std::int64_t place) {
    return std::clamp(place < 0 ? place + length(items) : place, std::int64_t{0}, length(items));
  };
  const auto begin = clamped(start);
  return List<T>(items.begin() + begin, items.begin() + std::max(begin, clamped(stop)));
}
inline std::string slice(const std::string& text, std::int64_t start, std::int64_t stop) {
  return join("", slice(characters(text), start, stop));
}

template <typename T>
List<T> concat(List<T> left, const List<T>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}
inline std::string concat(const std::string& left, const std::string& right) { return left + right; }

// Lists.
template <typename T>
List<T> reversed(List<T> items) {
  std::reverse(items.begin(), items.end());
  return items;
}

template <typename T>
List<T> sorted(List<T> items) {
  std::stable_sort(items.begin(), items.end());
  return items;
}

template <typename T, typename F>
List<T> sorted_by_key(List<T> items, F key) {
  std::stable_sort(items.begin(), items.end(), [&](const T& left, const T& right) { return key(left) < key(right); });
  return items;
}

template <typename T, typename F>
T minimum_by_key(const List<T>& items, F key) {
  if (items.empty()) throw std::out_of_range("the least of an empty list");
  return *std::min_element(items.begin(), items.end(), [&](const T& l, const T& r) { return key(l) < key(r); });
}

template <typename T, typename F>
T maximum_by_key(const List<T>& items, F key) {
  if (items.empty()) throw std::out_of_range("the greatest of an empty list");
  return *std::max_element(items.begin(), items.end(), [&](const T& l, const T& r) { return key(l) < key(r); });
}

template <typename T>
T minimum(const List<T>& items) {
  return minimum_by_key(items, [](const T& item) { return item; });
}

template <typename T>
T maximum(const List<T>& items) {
  return maximum_by_key(items, [](const T& item) { return item; });
}

template <typename T>
T sum(const List<T>& items) {
  return std::accumulate(items.begin(), items.end(), T{});
}

template <typename A, typename B>
List<std::tuple<A, B>> zip(const List<A>& left, const List<B>& right) {
  List<std::tuple<A, B>> made;
  for (std::size_t place = 0; place < std::min(left.size(), right.size()); ++place)
    made.emplace_back(left[place], right[place]);
  return made;
}

inline List<std::int64_t> range(std::int64_t start, std::int64_t stop) {
  List<std::int64_t> made;
  for (; start < stop; ++start) made.push_back(start);
  return made;
}

template <typename T>
List<std::tuple<std::int64_t, T>> enumerate(const List<T>& items, std::int64_t first) {
  return zip(range(first, first + length(items)), items);
}

template <typename T>
std::int64_t occurrences(const List<T>& items, const T& wanted) {
  return std::count(items.begin(), items.end(), wanted);
}

template <typename T>
std::int64_t position(const List<T>& items, const T& wanted) {
  const auto found = std::find(items.begin(), items.end(), wanted);
  if (found == items.end()) throw std::out_of_range("an item that is not in the list");
  return found - items.begin();
}

template <typename T>
std::set<T> to_set(const List<T>& items) {
  return std::set<T>(items.begin(), items.end());
}

template <typename T>
List<T> to_list(const std::set<T>& items) {
  return List<T>(items.begin(), items.end());
}

template <typename T>
List<T> distinct(const List<T>& items) {
  List<T> made;
  for (const auto& item : items)
    if (!contains(made, item)) made.push_back(item);
  return made;
}

// Maps.
template <typename K, typename V>
List<std::tuple<K, V>> entries(const std::map<K, V>& items) {
  List<std::tuple<K, V>> made;
  for (const auto& [key, value] : items) made.emplace_back(key, value);
  return made;
}

template <typename K, typename V>
std::map<K, V> to_map(const List<std::tuple<K, V>>& items) {
  std::map<K, V> made;
  for (const auto& [key, value] : items) made.insert_or_assign(key, value);
  return made;
}

template <typename K, typename V>
List<K> keys(const std::map<K, V>& items) {
  List<K> made;
  for (const auto& item : items) made.push_back(item.first);
  return made;
}

template <typename K, typename V>
List<V> held(const std::map<K, V>& items) {
  List<V> made;
  for (const auto& item : items) made.push_back(item.second);
  return made;
}

// Sets.
template <typename T>
std::set<T> united(std::set<T> left, const std::set<T>& right) {
  left.insert(right.begin(), right.end());
  return left;
}

template <typename T>
std::set<T> kept(std::set<T> left, const std::set<T>& right, bool common) {
  std::erase_if(left, [&](const T& item) { return right.contains(item) != common; });
  return left;
}

template <typename T>
bool subset(const std::set<T>& left, const std::set<T>& right) {
  return std::includes(right.begin(), right.end(), left.begin(), left.end());
}

// Conditions over lists.
template <typename T, typename F>
bool all(const List<T>& items, F condition) {
  return std::all_of(items.begin(), items.end(), condition);
}

template <typename T, typename F>
bool any(const List<T>& items, F condition) {
  return std::any_of(items.begin(), items.end(), condition);
}

template <typename T, typename S, typename F>
S reduced(const List<T>& items, S state, F body) {
  for (const auto& item : items) state = body(state, item);
  return state;
}

}  // namespace values
