#include "workloads/support/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "probe/words/quantity.h"

namespace idlewave::support {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  operator int() const { return fd_; }

 private:
  int fd_;
};

}  // namespace

wire::Result<std::string> read_input_file(const std::filesystem::path& path, std::size_t most,
                                          std::string_view wanted) {
  const auto refuse = [&](std::string_view why) {
    return wire::Error{fmt::format("{}: {}; {}", path.string(), why, wanted)};
  };
  const auto too_large = [&] { return refuse(fmt::format("is larger than {}", words::format_bytes(double(most)))); };
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat about {};
  if (file < 0 || fstat(file, &about) != 0) return refuse(fmt::format("can't be read: {}", std::strerror(errno)));
  if (!S_ISREG(about.st_mode)) return refuse("is not a regular file");
  if (std::size_t(about.st_size) > most) return too_large();
  std::string text(std::size_t(about.st_size) + 1, '\0');
  std::size_t size = 0;
  for (;;) {
    const ssize_t got = read(file, text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return refuse(fmt::format("can't be read: {}", std::strerror(errno)));
    if (got == 0) break;
    size += std::size_t(got);
    if (size > most) return too_large();
    if (size == text.size()) text.resize(2 * size);  // it has grown, or is one of /proc, which say 0
  }
  text.resize(size);
  return text;
}

}  // namespace idlewave::support
