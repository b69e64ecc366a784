#include "monitor/analysis/partners/sample_search.h"

#include <limits>
#include <utility>

namespace idlewave::analysis::partners {
namespace {

/// Partners of its own for each rank have to explain so much more.
constexpr double kWorthGraph = 0.3;

}  // namespace

bool SampleSearch::advance(LookBudget& budget) {
  while (doing_ != Doing::kIsDone && !budget.is_spent()) {
    if (doing_ == Doing::kFitsRules && !exchange_.advance(budget)) begin_graph();
    if (doing_ == Doing::kAsksEachRank && !graph_->advance(budget)) end_graph();
  }
  return doing_ != Doing::kIsDone;
}

void SampleSearch::begin_graph() {
  const Exchange& exchange = exchange_.found();
  off_ = exchange.certain ? ExchangeFit(sample()).off_by(exchange) : std::numeric_limits<double>::infinity();
  doing_ = Doing::kIsDone;
  if (off_ <= kRounding || !sample().has_all_ranks()) return;
  graph_.emplace(sample());
  doing_ = Doing::kAsksEachRank;
}

void SampleSearch::end_graph() {
  if (Graph graph = graph_->found(); graph.off < kWorthGraph * off_) off_ = graph.off, graph_found_ = std::move(graph);
  doing_ = Doing::kIsDone;
}

const Exchange* SampleSearch::exchange() const {
  return !graph_found_ && exchange_.found().certain ? &exchange_.found() : nullptr;
}

}  // namespace idlewave::analysis::partners
