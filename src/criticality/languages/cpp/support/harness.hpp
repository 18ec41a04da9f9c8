// What the tests stand on: one call with its outcome, and a message that says which promise broke.
#pragma once

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace support {

// A value in words; `shown` of its own namespace says how a named type looks.
template <typename T>
std::string show(const T& value) {
  const auto listed = [](const auto& items) {
    std::string made;
    for (const auto& item : items) made += (made.empty() ? "" : ", ") + show(item);
    return made;
  };
  if constexpr (requires { shown(value); }) {
    return shown(value);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else if constexpr (std::is_arithmetic_v<T>) {
    return std::to_string(value);
  } else if constexpr (std::is_convertible_v<T, std::string>) {
    return "\"" + value + "\"";
  } else if constexpr (std::is_same_v<T, std::monostate>) {
    return "nothing";
  } else if constexpr (requires { value.has_value(); }) {
    return value.has_value() ? show(*value) : "nothing";
  } else if constexpr (requires { value.text(); }) {
    return value.text();
  } else if constexpr (requires { value.begin(); }) {
    return "[" + listed(value) + "]";
  } else if constexpr (requires { std::tuple_size<T>::value; }) {
    return std::apply([](const auto&... part) { return "(" + (... + (show(part) + " ")) + ")"; }, value);
  } else {
    return "a value";
  }
}

inline std::string told(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const rc::detail::CaseResult& result) {
    return result.description;
  } catch (const std::exception& found) {
    return found.what();
  } catch (...) {
    return "something that is no exception";
  }
}

[[noreturn]] inline void fail(const std::string& words) {
  throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Failure, words);
}

// How a call ended: a result, or an exception.
template <typename T>
struct Outcome {
  std::optional<T> result;
  std::exception_ptr error;

  template <typename E>
  [[nodiscard]] bool raises() const {
    try {
      if (error) std::rethrow_exception(error);
      return false;
    } catch (const E&) {
      return true;
    } catch (...) {
      return false;
    }
  }

  [[nodiscard]] std::string words() const {
    return result ? "the result was " + show(*result) : "it threw: " + told(error);
  }
};

// Call it; a body that is still to do is no outcome.
template <typename F>
auto call(F function) {
  using Result = decltype(function());
  using Held = std::conditional_t<std::is_void_v<Result>, std::monostate, Result>;
  Outcome<Held> outcome;
  try {
    if constexpr (std::is_void_v<Result>) {
      function();
      outcome.result.emplace();
    } else {
      outcome.result.emplace(function());
    }
  } catch (...) {
    outcome.error = std::current_exception();
    if (told(outcome.error) == "not implemented") fail("not implemented");
  }
  return outcome;
}

// Fail with the promise and the values for which it does not hold.
inline void holds(
    const std::string& promise, const std::function<std::string()>& values, const std::function<bool()>& condition) {
  bool kept = false;
  try {
    kept = condition();
  } catch (...) {
    fail(promise + " cannot be evaluated (" + told(std::current_exception()) + ") for " + values());
  }
  if (!kept) fail(promise + " does not hold for " + values());
}

// One step of a claim's test; one that does not come to an end breaks the promise.
template <typename F>
auto step(const std::string& promise, const std::string& name, F make) {
  try {
    return make();
  } catch (...) {
    fail(promise + " does not hold: " + name + " threw: " + told(std::current_exception()));
  }
}

// What drawn values are made from: whole numbers, of which RapidCheck makes few and small ones once a test has failed.
// Where they are used up, the least value is chosen; an endless supply goes on at random.
class Choices {
 public:
  explicit Choices(std::vector<std::uint32_t> given = {}, bool endless = false)
      : given_(std::move(given)), endless_(endless) {}

  std::uint32_t next() {
    if (at_ < given_.size()) return given_[at_++];
    return endless_ ? static_cast<std::uint32_t>(more_()) : 0;
  }

 private:
  std::vector<std::uint32_t> given_;
  std::size_t at_ = 0;
  bool endless_;
  std::mt19937 more_{1};
};

inline Choices choices;

// Draw again unless it holds.
inline void assume(bool condition) {
  if (!condition) throw rc::detail::CaseResult(rc::detail::CaseResult::Type::Discard, "it assumes otherwise");
}

inline void judge(const rc::detail::TestResult& result, const std::string& broken) {
  if (result.is<rc::detail::SuccessResult>()) return;
  if (!broken.empty()) {
    FAIL() << broken;
  } else if (!result.is<rc::detail::GaveUpResult>()) {
    FAIL() << "a property cannot be tested";
  } else if (result.get<rc::detail::GaveUpResult>().numSuccess == 0) {
    FAIL() << "no drawn values fulfil what it assumes";
  }
}

// The same cases every time: a result is a property of the code, not of the day.
// Each type that RapidCheck is asked about costs seconds of compiling: it sees one.
inline void property(const std::function<void()>& test) {
  auto params = rc::detail::configuration().testParams;
  const char* examples = std::getenv("CRITICALITY_EXAMPLES");
  params.seed = 1;
  params.maxSuccess = examples == nullptr ? 100 : std::atoi(examples);
  params.maxDiscardRatio = 100;
  const auto number = rc::gen::inRange<std::uint32_t>(0, std::numeric_limits<std::uint32_t>::max());
  const auto numbers = rc::gen::scale(2.0, rc::gen::container<std::vector<std::uint32_t>>(number));
  // After a failure only so many smaller values are tried: the search for the smallest has no end of its own.
  std::string broken;
  int left = 300;
  const auto bounded = [&] {
    choices = Choices(*numbers);
    if (!broken.empty() && left-- <= 0) return;
    try {
      test();
    } catch (const rc::detail::CaseResult& result) {
      if (result.type == rc::detail::CaseResult::Type::Failure) broken = result.description;
      throw;
    } catch (...) {
      broken = told(std::current_exception());
      throw;
    }
  };
  judge(rc::detail::checkTestable(bounded, rc::detail::TestMetadata(), params), broken);
}

// One case without drawn values.
inline void example(const std::function<void()>& test) {
  try {
    test();
  } catch (...) {
    FAIL() << told(std::current_exception());
  }
}

// The mocked clock of temporal claims: whole seconds since 1970, moved by hand.
class Clock {
 public:
  [[nodiscard]] std::int64_t now() const { return seconds_; }
  std::int64_t advance(std::int64_t seconds) { return seconds_ += seconds; }

 private:
  std::int64_t seconds_ = 1'000'000;
};

// The same steps in several threads at once: each must hold, and all must come to the same.
template <typename F>
void in_lanes(const std::string& promise, F lane) {
  constexpr std::size_t kLanes = 4;
  std::barrier together(kLanes);
  std::array<std::optional<decltype(lane())>, kLanes> results;
  std::array<std::exception_ptr, kLanes> errors;
  std::vector<std::thread> threads;
  for (std::size_t place = 0; place < kLanes; ++place) {
    threads.emplace_back([&, place] {
      together.arrive_and_wait();
      try {
        results[place] = lane();
      } catch (...) {
        errors[place] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors)
    if (error) fail(told(error));
  for (const auto& result : results)
    if (result != results.front()) fail(promise + " does not hold: lanes came to different values");
}

using Duration = std::chrono::duration<double>;

// How long three calls take.
template <typename F>
Duration timed(F function) {
  const auto started = std::chrono::steady_clock::now();
  for (int round = 0; round < 3; ++round) static_cast<void>(function());
  return std::chrono::steady_clock::now() - started;
}

// Time grows no faster than `slope` on a scale of logarithms, from the best of several runs at each size.
template <typename P>
void grows(const std::string& promise, const std::string& named, double slope, std::vector<std::int64_t> sizes, P prepare) {
  std::vector<std::pair<double, double>> points;
  double x = 0;
  double y = 0;
  const auto count = static_cast<double>(sizes.size());
  for (const auto size : sizes) {
    const auto run = prepare(size);
    Duration best = run();
    for (int again = 0; again < 3; ++again) best = std::min(best, run());
    points.emplace_back(std::log(static_cast<double>(size)), std::log(best.count() + 1e-7));
    x += points.back().first / count;
    y += points.back().second / count;
  }
  double rise = 0;
  double spread = 0;
  for (const auto& [size, time] : points) {
    rise += (size - x) * (time - y);
    spread += (size - x) * (size - x);
  }
  if (rise / spread >= slope + 0.5)
    FAIL() << promise << " does not hold: slope " << rise / spread << " is not " << named;
}

// One drawn value, outside of a property.
template <typename F>
auto sample(F draw) {
  choices = Choices({}, true);
  return draw();
}

}  // namespace support
