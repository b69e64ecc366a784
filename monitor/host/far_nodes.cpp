#include "monitor/host/far_nodes.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <optional>
#include <utility>

#include "monitor/link/tunnel.h"
#include "monitor/process/groups.h"
#include "monitor/process/pipe.h"
#include "monitor/process/program.h"

namespace idlewave::host {
namespace {

using WayClock = std::chrono::steady_clock;

constexpr auto kLookAtAll = std::chrono::seconds(1);
/// Between the end of its streams and that of the command; then it is asked to end.
constexpr auto kPatienceForCommand = std::chrono::milliseconds(500);
constexpr auto kPatienceAtTheEnd = std::chrono::milliseconds(500);
constexpr std::size_t kMostSaidOfWay = 4096;  // bytes of standard error
constexpr std::size_t kWaysTold = 8;

std::string last_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text.substr(text.rfind('\n') + 1);
}

}  // namespace

/// To one node.
class FarNodes::Way {
 public:
  Way(FarNode node, const std::string& session, const std::string& socket);
  ~Way();
  Way(const Way&) = delete;
  Way& operator=(const Way&) = delete;

  void watch(int poll, std::uint32_t number) const;
  void serve();
  void finish();
  void hang_up();
  void collect();
  /// Of its command; nothing if that has ended.
  std::optional<pid_t> group() const;
  bool is_over() const { return !group(); }
  bool is_done() const { return tunnel_ && tunnel_->is_done(); }
  std::string why_lost() const;
  std::vector<std::string> troubles() const { return tunnel_ ? tunnel_->troubles() : std::vector<std::string>(); }

 private:
  void start(const process::Pipe& to, const process::Pipe& from, const process::Pipe& error);
  void read_error();

  FarNode node_;
  std::optional<process::Program> program_;
  std::string not_started_;
  int in_ = -1, out_ = -1, error_ = -1;
  std::optional<link::HostsEnd> tunnel_;
  std::string said_;  ///< The last of its standard error.
  std::optional<WayClock::time_point> hung_up_at_;
  bool is_told_to_end_ = false, is_collected_ = false;
};

FarNodes::Way::Way(FarNode node, const std::string& session, const std::string& socket) : node_(std::move(node)) {
  const process::Pipe to = process::make_pipe(), from = process::make_pipe(), error = process::make_pipe();
  start(to, from, error);
  process::close_all({to.read, from.write, error.write});
  in_ = from.read, out_ = to.write, error_ = error.read;
  if (program_) {
    for (const int fd : {in_, out_, error_}) process::never_block(fd);
    tunnel_.emplace(in_, out_, session, socket);
  } else {
    hang_up();
  }
}

FarNodes::Way::~Way() {
  hang_up();
  process::close_all({error_});
}

void FarNodes::Way::start(const process::Pipe& to, const process::Pipe& from, const process::Pipe& error) {
  not_started_ = "there are no descriptors left";
  if (to.read < 0 || from.read < 0 || error.read < 0) return;
  auto started = process::Program::start(
      node_.command,
      {.environment = {}, .input_fd = to.read, .output_fd = from.write, .error_fd = error.write, .ends_with_us = true});
  if (const auto* failure = std::get_if<process::Program::NotStarted>(&started))
    not_started_ = failure->error.message;
  else
    program_ = std::get<process::Program>(started);
}

void FarNodes::Way::watch(int poll, std::uint32_t number) const {
  epoll_event event{.events = EPOLLIN, .data = {.u32 = number}};
  if (tunnel_) epoll_ctl(poll, EPOLL_CTL_ADD, tunnel_->fd(), &event);
  if (error_ >= 0) epoll_ctl(poll, EPOLL_CTL_ADD, error_, &event);
}

void FarNodes::Way::serve() {
  read_error();
  if (!tunnel_ || out_ < 0) return;
  tunnel_->serve();
  if (tunnel_->is_done() || !tunnel_->cut().empty()) hang_up();
}

void FarNodes::Way::finish() {
  if (tunnel_ && out_ >= 0) tunnel_->finish();
}

/// The other side ends by that.
void FarNodes::Way::hang_up() {
  if (!hung_up_at_) hung_up_at_ = WayClock::now();
  if (tunnel_) tunnel_->let_go();
  process::close_all({std::exchange(in_, -1), std::exchange(out_, -1)});
}

void FarNodes::Way::collect() {
  if (!program_ || is_collected_) return;
  const bool lingers = hung_up_at_ && WayClock::now() - *hung_up_at_ > kPatienceForCommand;
  if (lingers && !std::exchange(is_told_to_end_, true)) kill(-program_->pid(), SIGTERM);
  if (!program_->exit_code()) return;
  is_collected_ = true;
  kill(-program_->pid(), SIGTERM);  // What it has started and left behind.
}

std::optional<pid_t> FarNodes::Way::group() const {
  return program_ && !is_collected_ ? std::optional(program_->pid()) : std::nullopt;
}

void FarNodes::Way::read_error() {
  std::array<char, 4096> buffer;
  ssize_t count = 0;
  while (error_ >= 0 && (count = ::read(error_, buffer.data(), buffer.size())) > 0) {
    said_.append(buffer.data(), std::size_t(count));
    if (said_.size() > kMostSaidOfWay) said_.erase(0, said_.size() - kMostSaidOfWay);
  }
  if (count == 0 && error_ >= 0) process::close_all({std::exchange(error_, -1)});
}

std::string FarNodes::Way::why_lost() const {
  if (!tunnel_) return fmt::format("{}: '{}': {}", node_.name, node_.over, not_started_);
  const std::string why = !tunnel_->cut().empty() ? tunnel_->cut()
                          : tunnel_->is_up()      ? "its agents have not said their end in time"
                                                  : "nothing has come from there in time";
  const std::string said = last_line(said_.empty() ? tunnel_->last_noise() : said_);
  return fmt::format("{}: '{}': {}{}{}", node_.name, node_.over, why, said.empty() ? "" : ": ", said);
}

FarNodes::FarNodes(std::vector<FarNode> nodes, const std::string& session, const std::string& socket)
    : poll_(epoll_create1(EPOLL_CLOEXEC)) {
  for (FarNode& node : nodes) {
    ways_.push_back(std::make_unique<Way>(std::move(node), session, socket));
    ways_.back()->watch(poll_, std::uint32_t(ways_.size() - 1));
  }
}

FarNodes::~FarNodes() {
  end();
  close(poll_);
}

void FarNodes::serve() {
  std::array<epoll_event, 64> ready{};
  const int count = epoll_wait(poll_, ready.data(), int(ready.size()), 0);
  for (int i = 0; i < count; ++i) ways_[ready[std::size_t(i)].data.u32]->serve();
  if (!is_finishing_ && WayClock::now() - looked_at_ < kLookAtAll) return;
  looked_at_ = WayClock::now();
  for (const auto& way : ways_) way->serve(), way->collect();
}

void FarNodes::finish() {
  if (std::exchange(is_finishing_, true)) return;
  for (const auto& way : ways_) way->finish();
}

bool FarNodes::are_done() const {
  return std::ranges::all_of(ways_, [](const auto& way) { return way->is_over(); });
}

void FarNodes::end() {
  std::vector<pid_t> groups;
  for (const auto& way : ways_) {
    way->serve();
    way->hang_up();
    if (const auto group = way->group()) groups.push_back(-*group);
  }
  const auto collect = [this] {
    for (const auto& way : ways_) way->collect();
  };
  if (!process::gone_within(kPatienceAtTheEnd, groups, collect)) process::end_all(groups, kPatienceAtTheEnd, collect);
  for (const auto& way : ways_) way->serve();
}

std::vector<std::string> FarNodes::notes() const {
  std::vector<std::string> notes;
  std::size_t more = 0;
  for (const auto& way : ways_) {
    if (way->is_done()) continue;
    notes.size() < kWaysTold ? notes.push_back(way->why_lost()) : void(++more);
  }
  if (more > 0) notes.push_back(fmt::format("and {} more node{} in that way", more, more == 1 ? "" : "s"));
  return notes;
}

std::vector<std::string> FarNodes::troubles() const {
  std::vector<std::string> lines;
  for (const auto& way : ways_)
    for (const std::string& line : way->troubles()) lines.push_back(line);
  return lines;
}

std::string how_reached(const std::vector<FarNode>& nodes) {
  if (nodes.empty()) return "all ranks are on this node";
  constexpr std::size_t kNamed = 3;
  std::string names;
  for (std::size_t i = 0; i < std::min(nodes.size(), kNamed); ++i) names += (i == 0 ? "" : ", ") + nodes[i].name;
  const std::string more = nodes.size() > kNamed ? fmt::format(" and {} more", nodes.size() - kNamed) : "";
  return fmt::format("agents on {}{} report over '{}'{}", names, more, nodes.front().over,
                     nodes.size() > 1 ? " and the like" : "");
}

}  // namespace idlewave::host
