/* An MPI of nobody's kin, for one rank; and with -DPROGRAM a program that uses it. */
#include <stdio.h>
#include <string.h>

int MPI_Init(int* argc, char*** argv);
int MPI_Barrier(void* comm);
int MPI_Finalize(void);

#ifdef PROGRAM
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Barrier(NULL);
  MPI_Finalize();
  puts("done");
  return 3;
}
#else
static int begun;
int PMPI_Initialized(int* flag) { return *flag = begun, 0; }
int PMPI_Finalized(int* flag) { return *flag = 0, 0; }
int PMPI_Get_library_version(char* text, int* length) {
  return *length = (int)strlen(strcpy(text, "Another MPI 1.0")), 0;
}
int PMPI_Comm_rank(void* comm, int* rank) { return *rank = -1, comm != NULL; }
int PMPI_Comm_size(void* comm, int* size) { return *size = 0, comm != NULL; }
int MPI_Init(int* argc, char*** argv) { return begun = 1, argc == NULL || argv == NULL; }
int MPI_Barrier(void* comm) { return comm != NULL; }
int MPI_Finalize(void) { return 0; }
#endif
