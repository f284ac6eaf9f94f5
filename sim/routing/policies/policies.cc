#include "sim/routing/policies/policies.h"

#include <utility>

#include "sim/routing/policies/bitmap.h"
#include "sim/routing/policies/dfsssp.h"
#include "sim/routing/policies/dimension_order.h"
#include "sim/routing/policies/dlb.h"
#include "sim/routing/policies/drill.h"
#include "sim/routing/policies/ecmp.h"
#include "sim/routing/policies/fatpaths.h"
#include "sim/routing/policies/flowbender.h"
#include "sim/routing/policies/flowcut.h"
#include "sim/routing/policies/flowlet.h"
#include "sim/routing/policies/hammingmesh.h"
#include "sim/routing/policies/k_shortest.h"
#include "sim/routing/policies/lash.h"
#include "sim/routing/policies/minimal.h"
#include "sim/routing/policies/minimal_adaptive.h"
#include "sim/routing/policies/mod_k.h"
#include "sim/routing/policies/nue.h"
#include "sim/routing/policies/plb.h"
#include "sim/routing/policies/reps.h"
#include "sim/routing/policies/routes.h"
#include "sim/routing/policies/spray.h"
#include "sim/routing/policies/srv6.h"
#include "sim/routing/policies/switch_spray.h"
#include "sim/routing/policies/tables.h"
#include "sim/routing/policies/ugal.h"
#include "sim/routing/policies/up_down.h"
#include "sim/routing/policies/valiant.h"
#include "sim/routing/policies/wcmp.h"
#include "sim/units/module_list.h"

namespace weft::routing {

namespace {

std::vector<Policy> built_in() {
  return {
      ecmp(),
      minimal(),
      wcmp(),
      d_mod_k(),
      s_mod_k(),
      dimension_order(),
      k_shortest(),
      edge_disjoint(),
      // Without deadlocks on networks of any shape.
      up_down(),
      dfsssp(),
      lash(),
      nue(),
      // Packet by packet, whatever the load.
      spray(),
      switch_spray(),
      valiant(),
      fatpaths(),
      // By what the sender sees.
      bitmap(),
      reps(),
      plb(),
      flowbender(),
      srv6(),
      // By what switches see.
      minimal_adaptive(),
      power_of_two(),
      drill(),
      dlb(),
      hammingmesh(),
      ugal(),
      ugal_g(),
      par(),
      slingshot(),
      // In order, or nearly so.
      flowlet(),
      flowcut(),
      // A user's own.
      tables(),
      routes(),
  };
}

ModuleList<Policy>& list() {
  static ModuleList<Policy> list("routing policy", built_in());
  return list;
}

}  // namespace

std::span<const Policy> policies() { return list().all(); }
void add_policy(Policy policy) { list().add(std::move(policy)); }

}  // namespace weft::routing
