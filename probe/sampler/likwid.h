#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// What LIKWID's memory counters say, read by a program of its own (idlewave-likwid-reader, which says why and what it
/// prints). A reader that says nothing for 5 s is killed. No process is left behind, whichever side dies first.
class Likwid : public Source {
 public:
  /// `group`: of LIKWID, to count by; empty: what counts memory bandwidth on this processor.
  explicit Likwid(std::string reader_path, std::string group = {})
      : reader_path_(std::move(reader_path)), group_(std::move(group)) {}
  ~Likwid() override;
  Likwid(const Likwid&) = delete;
  Likwid& operator=(const Likwid&) = delete;

  wire::BandwidthSource kind() const override { return wire::BandwidthSource::kLikwid; }
  /// Starts the reader; it reads a domain's memory counters on the domain's first processor.
  void meet(const std::vector<MachineDomain>& machine, Nanoseconds now) override;
  /// Takes in what the reader has said.
  Standing standing(const Domain& domain, Nanoseconds now) override;
  void begin(DomainId domain, Nanoseconds now) override;
  std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) override;

 private:
  struct Count {
    double rate = 0;  ///< Bytes per second, in the reader's last interval.
    bool fresh = false;
    Nanoseconds told_at{};
  };
  void start(const std::vector<MachineDomain>& machine);
  void poll(Nanoseconds now);
  void read_lines(Nanoseconds now);
  void obey(std::string_view line);
  void fail(std::string reason);
  void end_reader();

  std::string reader_path_;
  std::string group_;
  pid_t reader_ = -1;
  int pipe_ = -1;
  std::string unread_;
  Nanoseconds heard_at_{};
  std::map<DomainId, Count> counts_;
  std::string failure_;  ///< Why there are no figures, and what to ask for; empty while there are, or may be.
};

}  // namespace idlewave::sampler
