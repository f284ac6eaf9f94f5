#include "sim/routing/policies.h"

#include "sim/routing/bitmap.h"
#include "sim/routing/dimension_order.h"
#include "sim/routing/drill.h"
#include "sim/routing/ecmp.h"
#include "sim/routing/flowbender.h"
#include "sim/routing/flowcut.h"
#include "sim/routing/flowlet.h"
#include "sim/routing/minimal_adaptive.h"
#include "sim/routing/mod_k.h"
#include "sim/routing/plb.h"
#include "sim/routing/reps.h"
#include "sim/routing/spray.h"
#include "sim/routing/srv6.h"
#include "sim/routing/switch_spray.h"
#include "sim/routing/ugal.h"
#include "sim/routing/valiant.h"
#include "sim/routing/wcmp.h"

namespace weft::routing {

std::span<const Policy> policies() {
  static const Policy list[] = {
      ecmp(),
      wcmp(),
      d_mod_k(),
      s_mod_k(),
      dimension_order(),
      // Packet by packet, whatever the load.
      spray(),
      switch_spray(),
      valiant(),
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
      ugal(),
      ugal_g(),
      par(),
      slingshot(),
      // In order, or nearly so.
      flowlet(),
      flowcut(),
  };
  return list;
}

}  // namespace weft::routing
