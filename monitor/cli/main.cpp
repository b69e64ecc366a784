#include <clocale>

#include "monitor/cli/arguments.h"

int main(int argc, char** argv) {
  std::setlocale(LC_CTYPE, "");
  return idlewave::cli::dispatch(argc, argv);
}
