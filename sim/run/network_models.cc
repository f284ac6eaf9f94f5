#include "sim/run/network_models.h"

#include "sim/flow/flow_model.h"
#include "sim/loggops/loggops_model.h"
#include "sim/packet/packet_model.h"

namespace weft::sim {

std::span<const NetworkModel> network_models() {
  static const NetworkModel models[] = {loggops_model(), packet::packet_model(), flow::flow_model()};
  return models;
}

}  // namespace weft::sim
