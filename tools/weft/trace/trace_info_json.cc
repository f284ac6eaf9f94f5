#include "tools/weft/trace/trace_info_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "goal/import/flight_recorder/stuck.h"
#include "sim/units/printable.h"

namespace weft::cli {
namespace {

using Json = nlohmann::ordered_json;

// Ranks and tags as in the text, or why there is none.
Json number(std::int32_t value, const char* any) {
  if (value >= 0) return value;
  switch (value) {
    case trace::kAnySource:
      return any;
    case trace::kProcNull:
      return "none";
    case trace::kOutsideWorld:
      return "outside";
    case trace::kRootHere:
      return "self";
    default:
      return nullptr;
  }
}

Json json_of(const goal::CallState& call, bool in) {
  Json json = {{"function", printable(call.function)}, {"thread", call.thread}};
  if (call.peer != trace::kUndefined) json["peer"] = number(call.peer, "any");
  if (call.to != trace::kUndefined) json["to"] = number(call.to, "any");
  if (call.tag != trace::kUndefined) json["tag"] = number(call.tag, "any");
  if (!call.communicator.empty()) json["communicator"] = call.communicator;
  if (call.requests > 0) json["requests"] = call.requests;
  json["enter_ns"] = call.enter_ns;
  if (!in) json["leave_ns"] = call.leave_ns;
  if (call.for_ns) json["for_ns"] = *call.for_ns;
  return json;
}

Json json_of(const goal::RankState& rank) {
  Json json = {{"rank", rank.rank},
               {"state", goal::name(rank.end)},
               {"host", printable(rank.host)},
               {"process", rank.process},
               {"file", printable(rank.file)},
               {"calls", rank.calls},
               {"elapsed_ns", rank.elapsed_ns},
               {"threads", rank.threads},
               {"threads_ns", rank.threads_ns},
               {"mpi_ns", rank.mpi_ns},
               {"status", rank.status},
               {"off_core",
                {{"waiting_ns", rank.off_between.waiting_ns},
                 {"asleep_ns", rank.off_between.asleep_ns},
                 {"in_mpi_waiting_ns", rank.off_inside.waiting_ns},
                 {"in_mpi_asleep_ns", rank.off_inside.asleep_ns}}}};
  json["facts"] = Json::object();
  for (const auto& [name, value] : rank.facts) json["facts"][printable(name)] = printable(value);
  json["last_call"] = rank.last ? json_of(*rank.last, false) : Json();
  json["in"] = Json::array();
  for (const goal::CallState& call : rank.now_in) json["in"].push_back(json_of(call, true));
  json["open_requests"] = rank.open_requests;
  json["open"] = Json::array();
  for (const goal::OpenRequest& open : rank.open) {
    json["open"].push_back({{"function", open.function},
                            {"peer", number(open.peer, "any")},
                            {"tag", number(open.tag, "any")},
                            {"communicator", open.communicator},
                            {"bytes", open.bytes}});
  }
  return json;
}

template <typename Texts>
Json printable_list(const Texts& texts) {
  Json json = Json::array();
  for (const std::string& text : texts) json.push_back(printable(text));
  return json;
}

}  // namespace

std::string short_library(const std::string& version) {
  std::string name = version.substr(0, version.find(','));
  std::replace(name.begin(), name.end(), '\t', ' ');
  return name;
}

std::string trace_info_json(const goal::TraceSummary& summary) {
  Json json = {{"ranks", summary.ranks.size()},
               {"world_size", summary.world_size},
               {"one_run", summary.one_run()},
               {"spawned", summary.spawned},
               {"hosts", printable_list(summary.hosts)},
               {"mpi_libraries", printable_list(summary.libraries)},
               {"programs", printable_list(summary.programs)},
               {"unseen_callers", printable_list(summary.unseen_callers)},
               {"calls", summary.calls},
               {"file_bytes", summary.file_bytes},
               {"sent_bytes", summary.sent_bytes},
               {"elapsed_ns", summary.elapsed_ns},
               {"mpi_share", summary.mpi_share},
               {"wildcards", {{"any_source", summary.any_source}, {"any_tag", summary.any_tag}}}};
  double time = 0;
  for (const goal::RankState& rank : summary.ranks) time += static_cast<double>(rank.threads_ns);
  json["functions"] = Json::array();
  for (const goal::FunctionUse& use : summary.functions) {
    json["functions"].push_back({{"name", printable(use.name)},
                                 {"coverage", goal::name(use.coverage)},
                                 {"calls", use.calls},
                                 {"bytes", use.bytes},
                                 {"ns", use.ns},
                                 {"share", time > 0 ? static_cast<double>(use.ns) / time : 0}});
  }
  json["communicators"] = Json::array();
  for (const goal::CommunicatorUse& use : summary.communicators) {
    json["communicators"].push_back({{"name", use.name},
                                     {"ranks", use.ranks},
                                     {"inter", use.inter},
                                     {"calls", use.calls},
                                     {"bytes", use.bytes}});
  }
  json["regions"] = Json::array();
  for (const goal::RegionUse& use : summary.regions) {
    json["regions"].push_back(
        {{"name", printable(use.name)}, {"entries", use.entries}, {"ranks", use.ranks}, {"ns", use.ns}});
  }
  json["clocks"] = Json::array();
  for (const auto& [name, host] : summary.clocks.hosts()) {
    Json readings = Json::array();
    for (const goal::ClockReading& reading : host.readings) {
      readings.push_back({{"offset_ns", reading.offset_ns},
                          {"round_trip_ns", reading.round_trip_ns},
                          {"at_ns", reading.at_ns}});
    }
    json["clocks"].push_back({{"host", printable(name)},
                              {"readings", readings},
                              {"drift", host.drift()},
                              {"drift_uncertainty", host.drift_uncertainty()}});
  }
  json["rank_states"] = Json::array();
  for (const goal::RankState& rank : summary.ranks) json["rank_states"].push_back(json_of(rank));
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string dumps_json(const std::vector<goal::RankDump>& dumps) {
  Json json = {{"source", "flight_recorder"}, {"ranks", dumps.size()}, {"stuck", Json::array()}};
  for (const goal::StuckCall& call : goal::stuck_calls(dumps)) {
    json["stuck"].push_back({{"group", call.group},
                             {"name", call.name},
                             {"sequence", call.sequence},
                             {"bytes", call.bytes},
                             {"waiting", call.waiting},
                             {"missing", call.missing},
                             {"others", call.others},
                             {"dropped", call.dropped},
                             {"no_dump", call.no_dump}});
  }
  json["stuck_messages"] = Json::array();
  for (const goal::StuckMessage& message : goal::stuck_messages(dumps)) {
    json["stuck_messages"].push_back({{"group", message.group},
                                      {"name", message.name},
                                      {"rank", message.rank},
                                      {"sequence", message.sequence},
                                      {"bytes", message.bytes}});
  }
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace weft::cli
