// Points in time and identifiers.
#pragma once

#include <compare>
#include <cstdint>

// Seconds since the beginning of 1970, UTC.
struct Timestamp {
  std::int64_t seconds = 0;
  auto operator<=>(const Timestamp&) const = default;
};

// Days since the beginning of 1970.
struct Date {
  std::int64_t days = 0;
  auto operator<=>(const Date&) const = default;
};

// 128 bits that name something.
struct Uuid {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  auto operator<=>(const Uuid&) const = default;
};
