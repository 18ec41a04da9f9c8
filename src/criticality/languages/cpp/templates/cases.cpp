#include "{{ name }}/{{ module }}.hpp"

#include <cstdint>
#include <cstdio>

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

// Within the namespace a module may be called as the project is.
namespace {{ name }} {
static void every_case_() {
{{ tests }}
}
}  // namespace {{ name }}

int main() {
  {{ name }}::every_case_();
  return faults == 0 ? 0 : 1;
}
