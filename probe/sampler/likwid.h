#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "probe/sampler/sampler.h"

namespace idlewave::sampler {

/// One processor of each domain, by the system's number; LIKWID reads a domain's memory counters from there.
struct CounterPlace {
  DomainId domain = wire::kNoDomain;
  int processor = 0;
};

/// What LIKWID's memory counters say, read by a program of its own (idlewave-likwid-reader, which says why and what it
/// prints). A reader that says nothing for 5 s is killed. No process is left behind, whichever side dies first.
class Likwid : public Sampler {
 public:
  Likwid(const std::string& reader_path, const std::vector<CounterPlace>& places, Nanoseconds now);
  ~Likwid() override;
  Likwid(const Likwid&) = delete;
  Likwid& operator=(const Likwid&) = delete;

  /// Takes in what the reader has said.
  void poll(Nanoseconds now);
  /// Why there are no figures, and what to ask for; empty while there are, or may be.
  const std::string& failure() const { return failure_; }

  wire::BandwidthSource source() const override { return wire::BandwidthSource::kLikwid; }
  bool covers(DomainId domain) const override { return failure_.empty() && counts_.contains(domain); }
  void begin(DomainId domain, Nanoseconds now) override;
  std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) override;

 private:
  struct Count {
    double rate = 0;  ///< Bytes per second, in the reader's last interval.
    bool fresh = false;
    Nanoseconds told_at{};
  };
  void start(const std::string& reader_path, const std::vector<CounterPlace>& places);
  void read_lines(Nanoseconds now);
  void obey(std::string_view line);
  void fail(std::string reason);
  void end_reader();

  pid_t reader_ = -1;
  int pipe_ = -1;
  std::string unread_;
  Nanoseconds heard_at_{};
  std::map<DomainId, Count> counts_;
  std::string failure_;
};

}  // namespace idlewave::sampler
