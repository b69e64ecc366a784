#pragma once
// A run: short phases of one rank that are not told one by one but as sums. What a rank has summed and not told yet lies
// in its slot, so that the agent knows where the rank is, however long it stays there. One rank thread, one agent thread;
// neither waits for the other. In the ring a run is told by a kRunTime for each of its phases and a kRunEnd behind them.

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <tuple>

#include "probe/wire/vocabulary.h"

namespace idlewave::shm {

inline constexpr std::uint32_t kRunPhases = 4;  ///< Different ones in a run.

// In the ring alone, above all kinds of events.
/// time: the run's end. phase: one of the run. value: how long the rank was in it, in ns.
inline constexpr auto kRunTime = static_cast<wire::EventKind>(0x80);
/// time: the run's end. phase: the one that goes on. value: how many phases there were.
inline constexpr auto kRunEnd = static_cast<wire::EventKind>(0x81);

/// Phases that followed one another from the event before `position` on; the one that goes on is not among them.
struct Run {
  static constexpr std::uint64_t kNowhere = UINT64_MAX;
  std::uint64_t position = kNowhere;  ///< Of the ring, where the run is to be told. kNowhere: nothing is being summed.
  std::int64_t end_ns = 0;            ///< When the phase began that goes on.
  std::uint64_t count = 0;
  std::int64_t ns[kRunPhases] = {};  ///< By phase.
  /// A byte for each phase, in the order in which they came; the one that goes on; their number. One word, since the rank
  /// waits for a byte to be stored before it can load the word.
  std::uint64_t phases = 0;

  wire::Phase phase(std::uint32_t i) const { return static_cast<wire::Phase>(phases >> 8 * i & 0xff); }
  wire::Phase current() const { return phase(kRunPhases); }
  std::uint32_t used() const { return static_cast<std::uint32_t>(phases >> kUsedShift); }
  void go_on_with(wire::Phase phase) { go_on_with(phase, current()); }
  void go_on_with(wire::Phase phase, wire::Phase before) {
    phases += (static_cast<std::uint64_t>(phase) - static_cast<std::uint64_t>(before)) << kCurrentShift;
  }
  /// There is room.
  void add(wire::Phase phase) {
    phases += static_cast<std::uint64_t>(phase) << 8 * used() | std::uint64_t{1} << kUsedShift;
  }

 private:
  static constexpr int kCurrentShift = 8 * kRunPhases, kUsedShift = kCurrentShift + 8;
};
static_assert(sizeof(Run) == 64);

/// Two copies, of which one is whole at any moment, also while the rank is stopped within an update.
class SharedRun {
 public:
  /// Rank.
  void put(const Run& run) {
    for (int copy = 0; copy < 2; ++copy)
      write([&](Copy& to) {
        const auto words = std::bit_cast<Words>(run);
        for (std::size_t i = 0; i < words.size(); ++i) to.put(i, words[i]);
      });
  }

  /// A phase has ended.
  struct Growth {
    std::int64_t at = 0, lasted = 0;    ///< When, and how long it went on.
    wire::Phase phase{}, before{};      ///< That goes on from then, and that had gone on.
    std::size_t place = 0, latest = 0;  ///< Of the latter, and of the one that had grown in the call before.
  };
  /// Rank. `run` takes it in, and each number is handed on while it is at hand: six stores, no fence on x86.
  [[gnu::always_inline]] void grow(Run& run, const Growth& by) {
    write([&](Copy& to) {
      to.put(kNs + by.latest, static_cast<std::uint64_t>(run.ns[by.latest]));
      const std::int64_t ns = run.ns[by.place] + by.lasted;
      run.ns[by.place] = ns;
      to.put(kNs + by.place, static_cast<std::uint64_t>(ns));
      run.end_ns = by.at;
      to.put(kEnd, static_cast<std::uint64_t>(by.at));
      const std::uint64_t count = run.count + 1;
      run.count = count;
      to.put(kCount, count);
      run.go_on_with(by.phase, by.before);
      to.put(kPhases, run.phases);
    });
  }

  /// Agent. False: the rank was faster, each time of several.
  bool get(Run& run) const {
    for (int attempt = 0; attempt < kAttempts; ++attempt)
      if (try_get(run)) return true;
    return false;
  }

 private:
  static constexpr int kAttempts = 16;
  using Words = std::array<std::uint64_t, sizeof(Run) / sizeof(std::uint64_t)>;
  static constexpr std::size_t kEnd = offsetof(Run, end_ns) / sizeof(std::uint64_t),
                               kCount = offsetof(Run, count) / sizeof(std::uint64_t),
                               kNs = offsetof(Run, ns) / sizeof(std::uint64_t),
                               kPhases = offsetof(Run, phases) / sizeof(std::uint64_t);
  struct alignas(64) Copy {
    std::atomic<std::uint64_t> at[std::tuple_size_v<Words>];
    void put(std::size_t i, std::uint64_t word) { at[i].store(word, std::memory_order_relaxed); }
  };

  /// write_to(Copy&): the one that is not whole.
  template <class WriteTo>
  void write(WriteTo write_to) {
    const std::uint64_t next = turn_.load(std::memory_order_relaxed) + 1;
    // Whoever reads a word of the next turn sees that this one is over.
    std::atomic_thread_fence(std::memory_order_release);
    Copy* copy = &copies_[next % 2];
    // Else the compiler takes the address apart again for each word, and runs out of registers.
    asm("" : "+r"(copy));
    write_to(*copy);
    turn_.store(next, std::memory_order_release);
  }

  bool try_get(Run& run) const {
    const std::uint64_t turn = turn_.load(std::memory_order_acquire);
    Words words;
    for (std::size_t i = 0; i < words.size(); ++i) words[i] = copies_[turn % 2].at[i].load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    run = turn == 0 ? Run{} : std::bit_cast<Run>(words);
    return turn_.load(std::memory_order_relaxed) == turn;
  }

  std::atomic<std::uint64_t> turn_{0};
  Copy copies_[2] = {};
};

}  // namespace idlewave::shm
