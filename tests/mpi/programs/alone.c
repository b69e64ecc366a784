/* Linked into the programs of the tests of MPICH 4: its ranks begin and end as if each had a node of its own. On one node they spin for
   each other in a loop that calls nothing, so that no function of ours can let the core go (yielding.c). MPICH 5, which does not, hangs so
   with partitioned messages. */
#include <stdlib.h>

__attribute__((constructor)) static void have_a_node_of_ones_own(void) { setenv("MPIR_CVAR_NOLOCAL", "1", 0); }
