#include "workloads/sim/sweep/row_message.h"

#include <nlohmann/json.hpp>
#include <string>

namespace idlewave::sim::sweep {
namespace {

using json = nlohmann::json;

}  // namespace

std::vector<std::uint8_t> encode_row(const FinishedRow& row) {
  json object = {{"number", row.number}};
  if (row.row) {
    const Row& run = *row.row;
    object["makespan"] = run.makespan;
    object["rank_steps"] = run.rank_steps;
    object["events"] = run.events;
    object["stopped"] = run.stopped;
    object["starts"] = run.starts;
    object["active_means"] = run.active_means;
    object["against"] = run.against;
  } else {
    object["error"] = row.row.error().message;
  }
  return json::to_cbor(object);
}

FinishedRow decode_row(std::span<const std::uint8_t> message) {
  const json object = json::from_cbor(message.begin(), message.end());
  const auto number = object.at("number").get<std::size_t>();
  if (object.contains("error")) return {number, wire::Error{object.at("error").get<std::string>()}};
  core::Run run{.makespan = object.at("makespan").get<double>(),
                .rank_steps = object.at("rank_steps").get<std::uint64_t>(),
                .events = object.at("events").get<std::uint64_t>(),
                .stopped = object.at("stopped").get<bool>(),
                .starts = object.at("starts").get<std::vector<double>>(),
                .active_means = object.at("active_means").get<std::vector<double>>()};
  return {number, Row{std::move(run), object.at("against").get<double>()}};
}

}  // namespace idlewave::sim::sweep
