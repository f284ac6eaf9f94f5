// A small network of each family, for tests of what every placement keeps to.
#pragma once

#include <string>
#include <vector>

namespace weft::placement {

// In short form. All families but graph_file and slurm, which need a file.
inline std::vector<std::string> small_networks() {
  return {"single_switch:hosts=8",
          "leaf_spine:leaves=4,spines=2,hosts_per_leaf=4",
          "fat_tree2:k=4",
          "fat_tree:k=4",
          "k_ary_n_tree:k=2,n=3",
          "xgft:m=2x4x2,w=1x2x2",
          "multi_plane:k=4,planes=2",
          "rail_optimized:units=2,nodes=4,rails=2,spines=2",
          "hpn:segments=2,nodes=4,rails=2,aggs=2",
          "torus:dims=4x4",
          "torus:dims=4x3x2,hosts=2",
          "mesh:dims=5x3",
          "hypercube:n=4",
          "hyperx:dims=3x3,hosts=2",
          "express_mesh:dims=5x4,gap=2",
          "flattened_butterfly:k=3,n=3",
          "tofu:x=2,y=2,z=1",
          "tpu_torus:dims=4x4x4",
          "hammingmesh:a=2,b=2,x=3,y=4",
          "hammingmesh:a=2,b=1,x=3,y=3,planes=2",
          "dragonfly:p=2",
          "megafly:p=2",
          "cascade:g=2",
          "bcube:n=3,k=1",
          "dcell:n=3,k=1",
          "slim_fly:q=3",
          "polarfly:q=3",
          "polarstar:q=3,q2=5",
          "bundlefly:q1=3,q2=5",
          "oft:k=3",
          "mlfm:h=3",
          "spectralfly:p=3,q=5",
          "kautz:b=2,n=3",
          "delorme:q=2",
          "arrangement:n=4,k=2",
          "jellyfish:n=12,r=4",
          "xpander:d=3,lifts=2",
          "random_equivalent:of=[fat_tree:k=4]",
          "scale_up:of=[fat_tree2:k=4],accelerators=4,switches=1,nics=2",
          "datacenters:of=[fat_tree:k=4; leaf_spine:leaves=2,spines=2,hosts_per_leaf=3]",
          "leonardo:groups=1",
          "leonardo_booster:groups=1",
          "leonardo_dcgp:groups=1",
          "lumi_c:groups=1",
          "lumi_g:groups=1",
          "alps:groups=1",
          "frontier:groups=1",
          "marenostrum5_gpp:groups=1",
          "marenostrum5_acc:groups=1",
          "jupiter:groups=1",
          "fugaku:shape=4x3x2"};
}

}  // namespace weft::placement
