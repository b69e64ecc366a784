// What a fuzzer calls.

#include "tests/fuzz/road.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  idlewave::fuzz::Bytes in(data, size);
  idlewave::fuzz::run_road(in);
  return 0;
}
