// iw-said-partners FILE: of each rank of a recording, in their order, a line with whom it says that it waits for, in the
// words of programs/partners.c; an empty one where it says nothing.

#include <cstdio>
#include <string>

#include "monitor/ingest/ingest.h"
#include "monitor/timeline/timeline.h"
#include "probe/wire/frame.h"
#include "probe/wire/frame_log.h"

namespace idlewave {
namespace {

using wire::Rank;

std::string ranks_text(const char* word, const std::vector<Rank>& offsets, Rank rank, Rank size) {
  std::vector<bool> is_in(std::size_t(size), false);
  for (const Rank offset : offsets) is_in[std::size_t((rank + offset + size) % size)] = true;
  std::string text = word;
  for (Rank other = 0; other < size; ++other)
    if (is_in[std::size_t(other)]) text += " " + std::to_string(other);
  return text;
}

std::vector<Rank> all_others(Rank size) {
  std::vector<Rank> offsets;
  for (Rank offset = 1; offset < size; ++offset) offsets.push_back(offset);
  return offsets;
}

std::string text_of(const wire::WaitPattern& pattern, Rank rank, Rank size) {
  if (pattern.collective)
    return ranks_text("collective from", pattern.from.empty() ? all_others(size) : pattern.from, rank, size);
  return ranks_text("from", pattern.from, rank, size) + ranks_text(" to", pattern.to, rank, size) +
         (pattern.rendezvous ? " rendezvous" : "") + (pattern.uncertain ? " perhaps" : "");
}

std::string text_of(const timeline::DeclaredWaits& said, Rank rank, Rank size) {
  std::string text;
  for (std::size_t step = 0; step < said.cycle->steps.size(); ++step) {
    if (step > 0) text += ";";
    const auto& waits = said.cycle->steps[step];
    for (std::size_t i = 0; i < waits.size(); ++i)
      text += (i > 0 ? "|" : "") + text_of(said.patterns[waits[i]], rank, size);
  }
  return text;
}

int print(const char* path) {
  const auto reader = wire::FrameLogReader::open(path);
  if (!reader) return std::fprintf(stderr, "%s\n", reader.error().message.c_str()), 1;
  timeline::Timeline timeline(std::uint64_t{64} << 20);
  ingest::Ingest ingest(timeline);
  wire::FrameLogEntry entry;
  while ((*reader)->next(entry)) ingest.accept(wire::decode_in_place(entry.bytes), entry.received_at, entry.direction);
  for (Rank rank = 0; rank < timeline.ranks(); ++rank) {
    const auto said = timeline.declared_waits(rank);
    std::puts(said ? text_of(*said, rank, timeline.ranks()).c_str() : "");
  }
  return 0;
}

}  // namespace
}  // namespace idlewave

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: iw-said-partners FILE\n"), 2;
  return idlewave::print(argv[1]);
}
