#include "topologies/machines/machines.h"

namespace weft::topologies {

std::vector<Family> machine_families() {
  return {leonardo(), leonardo_booster(), leonardo_dcgp(),    lumi_c(),  lumi_g(), alps(),
          frontier(), marenostrum5_gpp(), marenostrum5_acc(), jupiter(), fugaku()};
}

}  // namespace weft::topologies
