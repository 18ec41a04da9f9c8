// Decimal numbers on the wire.
#pragma once

#include <charconv>

#include "wire.hpp"

namespace serving {

template <>
struct Wire<Decimal> {
  static constexpr std::size_t kPlaces = 6;

  static Decimal read(Reader& in) {
    const std::string text(in.extension(kDecimal));
    const auto point = std::min(text.find('.'), text.size());
    std::string digits = text.substr(0, point) + (point < text.size() ? text.substr(point + 1) : "");
    const auto places = text.size() - std::min(point + 1, text.size());
    digits.append(places < kPlaces ? kPlaces - places : 0, '0');
    std::int64_t units = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), units);
    if (places > kPlaces || fault != std::errc{} || *end != 0) throw Unfit("decimals have six places here: " + text);
    return Decimal::of(units, static_cast<int>(kPlaces));
  }
  static void write(Writer& out, Decimal value) { out.extension(kDecimal, value.text()); }
};

}  // namespace serving
