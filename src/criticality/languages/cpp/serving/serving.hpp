// Answers calls of a project's functions over pipes; the process is sealed before the first one.
//
// A frame is a length (32 bits, big-endian) and a MessagePack value: [id, name, arguments] comes in, and
// [id, status, value, trace] goes out. A name before "#work" asks for nanoseconds: the least of five runs.
#pragma once

#include <cxxabi.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <type_traits>
#include <typeinfo>

#include "wire.hpp"

namespace serving {

constexpr int kReturned = 0, kRaised = 1, kUnfit = 3, kRuns = 5;
constexpr std::size_t kMaxFrame = 8 << 20, kMaxTrace = 1 << 20;

// The number of the bodies that are served.
inline std::size_t variant = 0;

// Calls that the body made itself, of other functions of the project.
inline Writer calls;
inline std::size_t count = 0;
inline int depth = 0;

inline void raised(Writer& out, const std::exception& error) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(typeid(error).name(), nullptr, nullptr, &status), std::free);
  const std::string whole = name ? name.get() : "exception";
  const auto last = whole.rfind("::");
  out.whole(kRaised).list(2).text(last == whole.npos ? whole : whole.substr(last + 2)).text(error.what());
}

// Calls, and writes what comes of it.
template <typename Call>
auto noted(Writer& out, const Call& call) {
  using Result = std::decay_t<std::invoke_result_t<Call>>;
  try {
    if constexpr (std::is_void_v<Result>) {
      call();
      out.whole(kReturned).nothing();
    } else {
      Result result = call();
      put<Result>(out.whole(kReturned), result);
      return result;
    }
  } catch (const std::exception& error) {
    raised(out, error);
    throw;
  } catch (...) {
    raised(out, std::runtime_error("something that is no exception was thrown"));
    throw;
  }
}

// Calls another function of the project, and notes with what, and what came of it.
template <typename Call, typename... T>
std::decay_t<std::invoke_result_t<Call>> traced(const char* name, const Call& call, const T&... arguments) {
  struct Level {
    Level() { ++depth; }
    ~Level() { --depth; }
  } level;
  if (depth != 1 || calls.bytes.size() > kMaxTrace) return call();
  struct Entry {
    Writer out;
    ~Entry() {
      calls.put(out.bytes);
      ++count;
    }
  } entry;
  entry.out.list(4).text(name).list(sizeof...(T));
  (put<T>(entry.out, arguments), ...);
  return noted(entry.out, call);
}

// Writes what comes of a call: its result, or how long it takes.
template <typename Call>
void answer(Writer& out, bool timed, const Call& call) {
  auto spent = std::chrono::nanoseconds::max();
  calls.bytes.clear();
  count = 0;
  for (int run = 0; run < (timed ? kRuns : 1); ++run) {
    Writer outcome;
    depth = -1;  // the call itself is none that a body made
    const auto begun = std::chrono::steady_clock::now();
    try {
      noted(outcome, call);
    } catch (...) {
    }
    spent = std::min(spent, std::chrono::nanoseconds(std::chrono::steady_clock::now() - begun));
    if (!timed) out.put(outcome.bytes);
  }
  if (timed) {
    out.whole(kReturned).whole(spent.count()).nothing();
  } else if (calls.bytes.size() > kMaxTrace) {
    out.nothing();
  } else {
    out.list(count).put(calls.bytes);
  }
}

inline void send(const Writer& frame) {
  if (frame.bytes.size() > kMaxFrame) std::_Exit(3);
  Writer size;
  size.number(frame.bytes.size(), 4).put(frame.bytes);
  std::fwrite(size.bytes.data(), 1, size.bytes.size(), stdout);
  std::fflush(stdout);
}

inline bool received(std::string& frame, std::size_t size) {
  frame.resize(size);
  return std::fread(frame.data(), 1, size, stdin) == size;
}

// Puts a filter of system calls, in hexadecimal, over the process, and says so; an empty one is none.
inline const char* seal(const std::string& filter) {
  if (filter.empty()) return "";
  try {  // the first exception makes the runtime read files
    throw std::runtime_error("");
  } catch (const std::exception&) {
  }
  std::string bytes;
  for (std::size_t at = 0; at < filter.size(); at += 2) {
    bytes.push_back(static_cast<char>(std::stoi(filter.substr(at, 2), nullptr, 16)));
  }
  const struct {
    unsigned short count;
    const char* first;
  } program{static_cast<unsigned short>(bytes.size() / 8), bytes.data()};
  const bool sealed = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_seccomp, 1, 1, &program) == 0;
  if (!sealed) std::_Exit(4);
  return "seccomp";
}

// Takes the arguments of a function off a frame, and writes what comes of it.
using Dispatch = void (*)(std::string_view name, bool timed, Reader& in, Writer& out);

// Answers until there are no more calls.
inline int serve(int argc, char** argv, Dispatch dispatch) {
  variant = static_cast<std::size_t>(std::atoi(argv[argc - 1]));
  static std::array<char, 1 << 16> in_buffer, out_buffer;
  std::setvbuf(stdin, in_buffer.data(), _IOFBF, in_buffer.size());
  std::setvbuf(stdout, out_buffer.data(), _IOFBF, out_buffer.size());
  send(Writer{}.list(4).whole(0).whole(0).text(seal(argv[1])).nothing());
  std::string frame;
  while (received(frame, 4)) {
    if (!received(frame, Reader(frame).number(4))) break;
    Reader in(frame);
    in.items(3);
    Writer out;
    out.list(4).whole(get<std::int64_t>(in));
    const auto asked = get<std::string>(in);
    const bool timed = asked.ends_with("#work");
    const auto head = out.bytes.size();
    try {
      dispatch(std::string_view(asked).substr(0, asked.find('#')), timed, in, out);
    } catch (const std::exception& unfit) {
      out.bytes.resize(head);
      out.whole(kUnfit).text(unfit.what()).list(0);
    }
    send(out);
  }
  return 0;
}

}  // namespace serving
