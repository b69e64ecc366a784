#include "monitor/cli/simulation/schedule_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "workloads/sim/network/goal_reader.h"
#include "workloads/sim/network/goal_writer.h"
#include "workloads/support/memory_limit.h"

namespace idlewave::cli::simulation {
namespace {

/// A file's bytes, without a copy of them; for its life.
class MappedFile {
 public:
  static wire::Result<MappedFile> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat about {};
    if (fd < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) {
      const std::string why = fd < 0 ? std::strerror(errno) : "is not a regular file; give the path of a GOAL schedule";
      if (fd >= 0) close(fd);
      return wire::Error{fmt::format("{}: {}", path, why)};
    }
    const auto size = std::size_t(about.st_size);
    void* bytes = size == 0 ? nullptr : mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED) return wire::Error{fmt::format("{}: {}", path, std::strerror(errno))};
    return MappedFile(bytes, size);
  }
  MappedFile(MappedFile&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() {
    if (bytes_ != nullptr) munmap(bytes_, size_);
  }
  std::string_view text() const { return {static_cast<const char*>(bytes_), size_}; }

 private:
  MappedFile(void* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  void* bytes_;
  std::size_t size_;
};

}  // namespace

wire::Result<sim::network::GoalSchedule> read_schedule(const std::filesystem::path& path) {
  const auto file = MappedFile::open(path);
  if (!file) return file.error();
  if (const auto room = support::check_memory(file->text().size(), "take a smaller schedule"); !room)
    return room.error();
  return sim::network::read_goal(file->text(), path.string());
}

wire::Status write_schedule(const sim::network::GoalSchedule& schedule, const std::filesystem::path& path) {
  FILE* const file = std::fopen(path.c_str(), "wxe");
  if (!file) return wire::Error{fmt::format("{}: {}", path.string(), std::strerror(errno))};
  sim::network::GoalWriter writer(schedule);
  std::string text = goal_head(schedule);
  const auto put = [&] { return std::fwrite(text.data(), 1, text.size(), file) == text.size(); };
  bool whole = put();
  while (whole && !writer.is_done()) {
    text.clear();
    writer.write_rank(text);
    whole = put();
  }
  const int failed = errno;
  if (std::fclose(file) == 0 && whole) return wire::ok();
  unlink(path.c_str());
  return wire::Error{fmt::format("{}: {}", path.string(), std::strerror(whole ? errno : failed))};
}

}  // namespace idlewave::cli::simulation
