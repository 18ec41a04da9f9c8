// Decimal numbers with six places, exact for sums and differences.
#pragma once

#include <compare>
#include <cstdint>
#include <stdexcept>
#include <string>

class Decimal {
 public:
  constexpr Decimal() = default;
  constexpr Decimal(std::int64_t whole) : units_(whole * kUnit) {}

  // units / 10^places: of(1250, 2) is 12.50. There are 0 to 6 places.
  static constexpr Decimal of(std::int64_t units, int places) {
    Decimal made;
    made.units_ = units;
    for (int place = places; place < 6; ++place) made.units_ *= 10;
    return made;
  }

  [[nodiscard]] constexpr std::int64_t trunc() const { return units_ / kUnit; }
  [[nodiscard]] constexpr Decimal abs() const { return units_ < 0 ? -*this : *this; }

  [[nodiscard]] std::string text() const {
    const auto size = units_ < 0 ? -units_ : units_;
    auto places = std::to_string(kUnit + size % kUnit).substr(1);
    while (!places.empty() && places.back() == '0') places.pop_back();
    return (units_ < 0 ? "-" : "") + std::to_string(size / kUnit) + (places.empty() ? "" : "." + places);
  }

  constexpr Decimal operator-() const { return raw(-units_); }
  constexpr Decimal& operator+=(Decimal other) { return *this = *this + other; }
  constexpr Decimal& operator-=(Decimal other) { return *this = *this - other; }
  friend constexpr Decimal operator+(Decimal left, Decimal right) { return raw(left.units_ + right.units_); }
  friend constexpr Decimal operator-(Decimal left, Decimal right) { return raw(left.units_ - right.units_); }
  friend constexpr Decimal operator*(Decimal left, Decimal right) {
    return raw(static_cast<std::int64_t>(static_cast<Wide>(left.units_) * right.units_ / kUnit));
  }
  friend constexpr Decimal operator/(Decimal left, Decimal right) {
    if (right.units_ == 0) throw std::domain_error("a division by nothing");
    return raw(static_cast<std::int64_t>(static_cast<Wide>(left.units_) * kUnit / right.units_));
  }
  constexpr auto operator<=>(const Decimal&) const = default;

 private:
  __extension__ using Wide = __int128;
  static constexpr std::int64_t kUnit = 1'000'000;
  static constexpr Decimal raw(std::int64_t units) {
    Decimal made;
    made.units_ = units;
    return made;
  }
  std::int64_t units_ = 0;
};
