#pragma once

#include <sys/types.h>

#include <istream>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "probe/sampler/source.h"

namespace idlewave::sampler {

/// What LIKWID's counters say of memory traffic, and of whatever else the group counts that was chosen, read by a program
/// of its own (idlewave-likwid-reader, which says why and what it prints). A reader that says nothing for 5 s is killed.
/// No process is left behind, whichever side dies first.
class Likwid : public Source {
 public:
  /// `group`: of LIKWID, to count by; empty: what counts memory bandwidth on this processor, and nothing else; "none": no
  /// counter is touched.
  explicit Likwid(std::string reader_path, std::string group = {})
      : reader_path_(std::move(reader_path)), group_(std::move(group)) {}
  ~Likwid() override;
  Likwid(const Likwid&) = delete;
  Likwid& operator=(const Likwid&) = delete;

  wire::BandwidthSource kind() const override { return wire::BandwidthSource::kLikwid; }
  /// Starts the reader; it reads a domain's memory counters on the domain's first processor, what a chosen group counts
  /// beside on all.
  void meet(const std::vector<MachineDomain>& machine, Nanoseconds now) override;
  void rest() override;
  /// Takes in what the reader has said.
  Standing standing(const Domain& domain, Nanoseconds now) override;
  void begin(DomainId domain, Nanoseconds now) override;
  std::optional<std::uint64_t> sample(DomainId domain, Nanoseconds now) override;
  void read_meters(Nanoseconds now, std::vector<MeterReading>& readings) override;

 private:
  struct Count {
    double rate = 0;  ///< Bytes per second, in the reader's last interval.
    bool fresh = false;
    Nanoseconds told_at{};
  };
  struct Metric {
    wire::MeterInfo meter;
    std::optional<double> value;  ///< In the reader's last interval.
    bool fresh = false;
    std::optional<Nanoseconds> told_at;  ///< Nothing: not counting.
  };
  void start(const std::vector<MachineDomain>& machine);
  void poll(Nanoseconds now);
  void read_lines(Nanoseconds now);
  void obey(std::string_view line);
  bool take_sample(std::istream& words);
  bool take_meter(std::istream& words);
  bool take_reading(std::istream& words);
  void fail(std::string reason);
  void end_reader();

  std::string reader_path_;
  std::string group_;
  pid_t reader_ = -1;
  int pipe_ = -1;
  std::string unread_;
  Nanoseconds heard_at_{};
  std::map<DomainId, Count> counts_;
  std::map<std::pair<DomainId, int>, Metric> metrics_;  ///< By domain and place in the group.
  std::string no_memory_;                               ///< Why memory traffic is not counted, though the reader reads.
  std::string failure_;  ///< Why there are no figures, and what to ask for; empty while there are, or may be.
};

}  // namespace idlewave::sampler
