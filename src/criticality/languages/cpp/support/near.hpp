// Random values that lie near what contracts and claims speak of, for that is where behaviour turns.
//
// They are drawn where they are wanted, inside of a property, and come down to whole numbers: RapidCheck shrinks those,
// and each type that it is asked about besides costs seconds of compiling.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/harness.hpp"
#include "support/values.hpp"

namespace near {

// Any whole number, both ends included; the least choice is the one nearest to nothing.
inline std::int64_t between(std::int64_t low, std::int64_t high) {
  const auto chosen = static_cast<std::int64_t>(support::choices.next()) % (high - low + 1);
  if (low > 0 || high < 0) return low + chosen;
  return chosen <= high ? chosen : high - chosen;
}

// One of the items.
template <typename T>
T one_of(const std::vector<T>& items) {
  return items.at(static_cast<std::size_t>(between(0, std::ssize(items) - 1)));
}

// Whole numbers, both ends included: small ones, that collide; constants and what is beside them; any at all.
inline std::int64_t whole(const std::vector<std::int64_t>& known, std::int64_t low, std::int64_t high) {
  const auto start = std::min(std::max(low, std::int64_t{-20}), high);
  switch (between(0, 2)) {
    case 0:
      return between(start, std::min(start + (start < 0 ? 40 : 20), high));
    case 1:
      break;
    default:
      return between(low, high);
  }
  std::set<std::int64_t> beside{low, high};
  for (const auto number : known)
    for (const auto edge : {number, -number})
      for (const auto found : {edge - 1, edge, edge + 1})
        if (low <= found && found <= high) beside.insert(found);
  return one_of(values::to_list(beside));
}

// So many items, each drawn by itself.
template <typename F>
auto list(F item, std::int64_t shortest, std::int64_t longest) {
  std::vector<decltype(item())> made;
  for (auto size = between(shortest, longest); size > 0; --size) made.push_back(item());
  return made;
}

// Texts by their length in characters: a few that collide; constants; their signs.
inline std::string text(const std::vector<std::string>& known, std::int64_t shortest, std::int64_t longest) {
  const auto fits = [&](const std::string& one) {
    return values::length(one) >= shortest && values::length(one) <= longest;
  };
  const auto pool = between(0, 2);
  if (pool < 2) {
    auto found = pool == 0 ? std::vector<std::string>{"a", "b", "c", "ab", "ba", "aa", "", "A", "abcabc"} : known;
    std::erase_if(found, [&](const std::string& one) { return !fits(one); });
    if (!found.empty()) return one_of(found);
  }
  auto signs = values::characters("0aÉ ,-Zz9.");
  for (const auto& one : known) signs = values::concat(signs, values::characters(one));
  const auto sign = [&] { return one_of(signs); };
  return values::join("", list(sign, shortest, std::min(longest, std::max(std::int64_t{8}, shortest))));
}

// Perhaps a value.
template <typename F>
auto option(F item) {
  return between(0, 2) == 0 ? std::optional<decltype(item())>() : std::optional<decltype(item())>(item());
}

// What may be refused when it is made, drawn again until it is not.
template <typename F>
auto made(F make) -> decltype(make()) {
  for (int tries = 0; tries < 100; ++tries) {
    try {
      return make();
    } catch (const std::invalid_argument&) {
      continue;
    }
  }
  throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Discard, "no value fits");
}

// Items whose keys differ: of equal ones, the first.
template <typename T, typename F>
std::vector<T> unique_by(const std::vector<T>& items, F key) {
  std::vector<T> found;
  for (const auto& item : items)
    if (std::none_of(found.begin(), found.end(), [&](const T& other) { return key(other) == key(item); }))
      found.push_back(item);
  return found;
}

}  // namespace near
