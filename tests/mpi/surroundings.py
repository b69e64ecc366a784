"""The environment in which tests start ranks of either MPI."""
import os


def environment(folder, **more):
    """Sessions lie in the folder; as many ranks as are asked for start, whoever starts them, and Open MPI's leave cores to each other."""
    return {**os.environ, "IDLEWAVE_DIR": str(folder / "sessions"), "TMPDIR": "/tmp",
            "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_mpi_yield_when_idle": "1", **more}
