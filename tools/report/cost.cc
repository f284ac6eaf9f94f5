#include <nlohmann/json.hpp>

#include "tools/report/sections.h"
#include "topologies/cost/bill.h"

namespace weft::report {

Json cost(const topologies::Topology& topology, const topologies::PriceList& prices, double goodput_bps) {
  const topologies::Bill bill = topologies::bill(topology, prices);
  Json json = Json::parse(topologies::bill_json(bill, {.achieved_bps = goodput_bps}));
  json["prices"] = prices.name;
  json["source"] = prices.source;
  json["date"] = prices.date;
  return json;
}

}  // namespace weft::report
