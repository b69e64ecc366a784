#include "monitor/cli/simulation/run_findings.h"

#include <fmt/format.h>

#include "monitor/cli/reporting/report.h"
#include "monitor/cli/verbs.h"
#include "probe/words/quantity.h"

namespace idlewave::cli::simulation {
namespace {

void say_what_the_history_lacks(const timeline::Timeline& timeline, std::uint64_t memory) {
  for (const timeline::Loss& loss : timeline.losses())
    if (loss.kind == timeline::LossKind::kNoRoom)
      fail(fmt::format(
               "the history of {} has room for {} ranks: what is found is of those alone; --memory gives it more",
               words::format_bytes(memory), loss.detail),
           0);
  if (!timeline.forgotten_until()) return;
  fail(fmt::format("the history of this run is larger than {}: what is found is of its later part; --memory gives it "
                   "more",
                   words::format_bytes(memory)),
       0);
}

}  // namespace

support::Json findings_of(const timeline::Timeline& timeline, words::Fractions window, std::uint64_t memory) {
  if (!timeline.empty()) return say_what_the_history_lacks(timeline, memory), reporting::report_of(timeline, window);
  say_that_nothing_is_found({fmt::format("its ranks need more than {} for their history; --memory gives it more",
                                         words::format_bytes(memory))});
  return {};
}

void say_that_nothing_is_found(const wire::Error& why) {
  fail("without what `idlewave report` finds in a run: " + why.message, 0);
}

}  // namespace idlewave::cli::simulation
