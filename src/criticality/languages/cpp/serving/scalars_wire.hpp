// Days, moments and identifiers on the wire.
#pragma once

#include <charconv>
#include <chrono>
#include <cstdio>

#include "wire.hpp"

namespace serving {

// The whole numbers in a text, whatever stands between them.
inline std::vector<int> numbers(std::string_view text) {
  std::vector<int> found;
  for (const char* at = text.data(); at < text.data() + text.size();) {
    int number = 0;
    const auto [end, fault] = std::from_chars(at, text.data() + text.size(), number);
    if (fault == std::errc{}) found.push_back(number < 0 ? -number : number);
    at = fault == std::errc{} ? end : at + 1;
  }
  return found;
}

inline std::int64_t days(const std::vector<int>& parts) {
  using namespace std::chrono;
  const auto month_ = static_cast<unsigned>(parts.at(1)), day_ = static_cast<unsigned>(parts.at(2));
  return sys_days{year{parts.at(0)} / month{month_} / day{day_}}.time_since_epoch().count();
}

inline std::string written(std::int64_t day, std::int64_t second, bool whole) {
  const std::chrono::year_month_day at{std::chrono::sys_days{std::chrono::days{day}}};
  std::array<char, 80> text{};
  const int length = std::snprintf(
      text.data(), text.size(), whole ? "%04d-%02u-%02uT%02d:%02d:%02d+00:00" : "%04d-%02u-%02u",
      static_cast<int>(at.year()), static_cast<unsigned>(at.month()), static_cast<unsigned>(at.day()),
      static_cast<int>(second / 3600), static_cast<int>(second / 60 % 60), static_cast<int>(second % 60));
  return {text.data(), static_cast<std::size_t>(length)};
}

template <>
struct Wire<Date> {
  static Date read(Reader& in) { return {days(numbers(in.extension(kMoment)))}; }
  static void write(Writer& out, Date value) { out.extension(kMoment, written(value.days, 0, false)); }
};

template <>
struct Wire<Timestamp> {
  static Timestamp read(Reader& in) {
    const auto text = in.extension(kMoment);
    if (text.find('.') != text.npos) throw Unfit("moments are whole seconds here");
    const auto parts = numbers(text);
    return {days(parts) * 86'400 + parts.at(3) * 3600 + parts.at(4) * 60 + parts.at(5)};
  }
  static void write(Writer& out, Timestamp value) {
    const auto day = value.seconds >= 0 ? value.seconds / 86'400 : -((-value.seconds + 86'399) / 86'400);
    out.extension(kMoment, written(day, value.seconds - day * 86'400, true));
  }
};

template <>
struct Wire<Uuid> {
  static Uuid read(Reader& in) {
    std::string digits = get<std::string>(in);
    std::erase(digits, '-');
    return {std::stoull(digits.substr(0, 16), nullptr, 16), std::stoull(digits.substr(16), nullptr, 16)};
  }
  static void write(Writer& out, Uuid value) {
    std::array<char, 40> text{};
    const auto high = static_cast<unsigned long long>(value.high), low = static_cast<unsigned long long>(value.low);
    std::snprintf(text.data(), text.size(), "%08llx-%04llx-%04llx-%04llx-%012llx", high >> 32, high >> 16 & 0xffff,
                  high & 0xffff, low >> 48, low & 0xffff'ffff'ffff);
    out.text(text.data());
  }
};

}  // namespace serving
