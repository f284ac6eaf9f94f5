// Knows nothing of MPI; loads the library its argument names, out of the global scope, and calls its run().
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* library = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    printf("%s\n", dlerror());
    return 2;
  }
  int (*run)(void) = (int (*)(void))dlsym(library, "run");
  return run();
}
