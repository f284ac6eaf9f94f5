#include "congestion/controls/controls.h"

#include <utility>
#include <vector>

#include "congestion/controls/bbr.h"
#include "congestion/controls/bolt.h"
#include "congestion/controls/cubic.h"
#include "congestion/controls/dcqcn.h"
#include "congestion/controls/dctcp.h"
#include "congestion/controls/eqds.h"
#include "congestion/controls/fixed_window.h"
#include "congestion/controls/hpcc.h"
#include "congestion/controls/mprdma.h"
#include "congestion/controls/ndp.h"
#include "congestion/controls/newreno.h"
#include "congestion/controls/nscc.h"
#include "congestion/controls/nscc_rccc.h"
#include "congestion/controls/powertcp.h"
#include "congestion/controls/rccc.h"
#include "congestion/controls/smartt.h"
#include "congestion/controls/strack.h"
#include "congestion/controls/swift.h"
#include "congestion/controls/timely.h"
#include "congestion/controls/uno.h"
#include "sim/units/module_list.h"

namespace weft::congestion {
namespace {

// The first one is the default; the others by name.
std::vector<Control> built_in() {
  return {
      nscc(),          //
      bbr(),           //
      bolt(),          //
      cubic(),         //
      dcqcn(),         //
      dctcp(),         //
      eqds(),          //
      fixed_window(),  //
      hpcc(),          //
      mprdma(),        //
      ndp(),           //
      newreno(),       //
      nscc_rccc(),     //
      powertcp(),      //
      rccc(),          //
      smartt(),        //
      strack(),        //
      swift(),         //
      timely(),        //
      uno(),           //
  };
}

ModuleList<Control>& list() {
  static ModuleList<Control> list("congestion control", built_in());
  return list;
}

}  // namespace

std::span<const Control> controls() { return list().all(); }
void add_control(Control control) { list().add(std::move(control)); }

}  // namespace weft::congestion
