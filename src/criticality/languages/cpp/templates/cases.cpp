#include "{{ name }}/{{ module }}.hpp"

#include <cstdint>
#include <cstdio>

using namespace {{ name }};

static int faults = 0;

static void check(bool holds, int line) {
  if (holds) return;
  ++faults;
  std::printf("line %d: another result than it was\n", line);
}

template <typename Error, typename Call>
[[maybe_unused]] static bool raises(const Call& call) {
  try {
    call();
  } catch (const Error&) {
    return true;
  }
  return false;
}

int main() {
{{ tests }}
  return faults == 0 ? 0 : 1;
}
