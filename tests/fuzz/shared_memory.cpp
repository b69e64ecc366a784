// What a rank may have written into its slot and its ring, byte for byte, before and between the agent's looks at it.
// The rank is always on a virtual socket: the machine's own topology takes too long to read for each input.

#include <cstring>

#include "probe/agent/domains.h"
#include "probe/agent/event_frames.h"
#include "probe/agent/resident.h"
#include "probe/agent/segment.h"
#include "probe/wire/codec.h"
#include "probe/wire/frame.h"
#include "tests/fuzz/road.h"

namespace idlewave::fuzz {
namespace {

constexpr std::uint32_t kRingEvents = 64;

/// From any place on, as a stray pointer would.
void scribble(Bytes& in, void* memory, std::size_t size) {
  const std::size_t at = std::size_t(std::uint64_t(in.number()) % size);
  const auto bytes = in.take(std::min<std::size_t>(in.below(512), size - at));
  std::memcpy(static_cast<std::byte*>(memory) + at, bytes.data(), bytes.size());
}

class Agent {
 public:
  explicit Agent(Bytes& in)
      : in_(in),
        segment_(std::move(*agent::Segment::make(1, kRingEvents, {}))),
        domains_({.likwid_reader = "", .resctrl = ""}) {
    scribble_all();
    const auto who = agent::Newcomer::in(segment_->slot(0));
    if (!who.is_plausible()) return;
    resident_ =
        std::make_unique<agent::Resident>(*segment_, 0, who, now_, wire::Nanoseconds(0), wire::Nanoseconds(0), names_);
  }

  void work() {
    for (int sweeps = 0; resident_ && !in_.empty() && sweeps < 50; ++sweeps) sweep();
    if (!resident_) return;
    resident_->append_end(now_, frames_, read_);
    check(frames_.take(now_));
    resident_->free_slot();
  }

 private:
  void scribble_all() {
    const std::uint8_t kind = in_.byte();
    // Few, so that kept inputs go on meaning what they meant.
    if (kind >= 240) say_partners(segment_->slot(0).partners);
    for (int strokes = kind % 6; strokes > 0; --strokes) {
      if (in_.flag())
        scribble(in_, &segment_->slot(0), sizeof(shm::Slot));
      else
        scribble(in_, const_cast<wire::Event*>(segment_->ring(0)), kRingEvents * sizeof(wire::Event));
    }
    shm::Slot& slot = segment_->slot(0);
    slot.domain_virtual.store(1);
    slot.domain.store(slot.domain.load() & 0x7fffffff);
    slot.pid = std::abs(slot.pid % 100);
    if (in_.flag()) slot.head.fetch_add(in_.below(80));
    if (slot.world_size < 1) slot.world_size = 4;
    slot.rank = std::abs(slot.rank % slot.world_size);
    if (slot.pid == 0) slot.pid = 1;
  }

  /// Nearly sound, which scribbling seldom is.
  void say_partners(shm::PartnerBook& book) {
    for (int count = in_.byte() % 8; count > 0; --count)
      book.patterns[in_.below(8)] = {in_.flag(), in_.byte(), in_.below(32), in_.below(16),
                                     in_.below(16) == 0 ? std::uint32_t(in_.number()) : in_.below(16)};
    for (int count = in_.byte() % 32; count > 0; --count) book.ranks[count] = wire::Rank(in_.number());
    for (int count = in_.byte() % 8; count > 0; --count)
      book.cycles[in_.below(8)] = {in_.below(32), in_.below(16) == 0 ? std::uint32_t(in_.number()) : in_.below(32)};
    for (int count = in_.byte() % 64; count > 0; --count)
      book.symbols[count] = std::uint8_t(in_.flag() ? shm::kEndOfStep : in_.below(8));
    book.followed = in_.below(10);
    for (std::uint32_t i = 0; i < kRingEvents; i += 1 + in_.below(16))
      const_cast<wire::Event*>(segment_->ring(0))[i] = {now_, in_.below(10), wire::EventKind::kPartners, {}};
  }

  void sweep() {
    now_ += std::chrono::milliseconds(in_.byte());
    scribble_all();
    (void)resident_->has_news();
    (void)domains_.place(*resident_, now_);
    domains_.observe_model(*resident_);
    (void)resident_->drain(resident_->published(), names_, frames_, read_);
    domains_.observe(resident_->rank(), read_);
    (void)resident_->catch_up(now_, names_, frames_, read_);
    for (std::uint32_t place = 0; place < resident_->thread_places(); ++place) {
      (void)resident_->drain_thread(place, resident_->published(place), names_, frames_, read_);
      (void)resident_->catch_up_thread(place, now_, names_, frames_, read_);
    }
    (void)domains_.sample(now_, frames_);
    wire::Events events = frames_.take(now_);
    if (auto calls = resident_->new_calls()) events.calls.push_back(std::move(*calls));
    check(events);
    check(domains_.describe());
  }

  /// What leaves the node is sound, whatever a rank wrote.
  void check(const wire::Events& events) {
    require(bool(decoder_.decode(events.blob)));
    require(events.threads.empty() || bool(decoder_.decode(events.threads)));
    require(events.meters.empty() || bool(decoder_.decode(events.meters)));
    require(bool(wire::decode(wire::encode({"s", "n", 1, events}))));
  }

  void check(const std::vector<wire::DomainInfo>& domains) {
    wire::Roster roster;
    roster.domains = domains;
    roster.phases = names_.phases.all();
    roster.patterns = names_.partners.patterns();
    roster.cycles = names_.partners.cycles();
    roster.world_size = wire::kMaxRanks;
    roster.ranks = {{resident_->rank(), resident_->pid(), wire::kNoDomain, resident_->cycle()}};
    const auto decoded = wire::decode(wire::encode({"s", "n", 1, roster}));
    require(bool(decoded));
  }

  Bytes& in_;
  std::unique_ptr<agent::Segment> segment_;
  agent::Domains domains_;
  agent::Names names_;
  agent::EventFrames frames_;
  wire::EventDecoder decoder_;
  std::vector<wire::Event> read_;
  wire::Nanoseconds now_{1'000'000'000};
  std::unique_ptr<agent::Resident> resident_;
};

}  // namespace

void run_road(Bytes& in) { Agent(in).work(); }

}  // namespace idlewave::fuzz
