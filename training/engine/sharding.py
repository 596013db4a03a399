"""Where arrays live: on one device, or on a mesh of devices by the names of their axes; one process or several."""

from dataclasses import dataclass
from typing import Any

import haliax as hax
import jax
import numpy as np
from haliax import NamedArray
from jax.experimental import multihost_utils
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec

DATA = "data"
# Nearly every weight has this axis; sharded along it, each device keeps its part of the weights and of Adam's state.
SHARDED_AXIS = "embed"


@dataclass(frozen=True)
class Placement:
    """How a run is spread over devices.

    Attributes:
        mesh: All devices along one axis, `data`; None for a run on a single device.
        fully_sharded: Shard weights and optimizer state over the devices too, instead of replicating them.
    """

    mesh: Mesh | None = None
    fully_sharded: bool = False

    @staticmethod
    def over_all_devices(*, fully_sharded: bool = False) -> "Placement":
        devices = np.asarray(jax.devices())
        return Placement(Mesh(devices, (DATA,), axis_types=(AxisType.Auto,)), fully_sharded)

    @property
    def is_writer(self) -> bool:
        """Whether this process writes files and messages."""
        return jax.process_index() == 0

    @property
    def num_devices(self) -> int:
        return 1 if self.mesh is None else self.mesh.size

    def check(self, batch_size: int, hidden_dim: int) -> None:
        """Raise ValueError unless a batch, and the weights if they are sharded, divide evenly over the devices."""
        if batch_size % self.num_devices:
            raise ValueError(
                f"batch_size={batch_size} does not divide over {self.num_devices} devices; "
                f"choose a multiple of {self.num_devices} (--set batch_size=...)"
            )
        if self.fully_sharded and hidden_dim % self.num_devices:
            raise ValueError(
                f"hidden_dim={hidden_dim} does not divide over {self.num_devices} devices, as sharded weights must"
            )

    def shardings(self, tree: Any) -> Any:
        """The sharding of every named array in a tree, by its axes; everything else is replicated."""
        mapping = {SHARDED_AXIS: DATA} if self.fully_sharded else {}

        def sharding(leaf: Any) -> NamedSharding:
            if not isinstance(leaf, NamedArray):
                return NamedSharding(self._mesh, PartitionSpec())
            return NamedSharding(self._mesh, hax.partitioning.pspec_for_axis(leaf.axes, mapping))

        return jax.tree.map(sharding, tree, is_leaf=lambda leaf: isinstance(leaf, NamedArray))

    def out_shardings(self, *trees: Any) -> dict[str, Any]:
        """Arguments for `jax.jit` that place results by `shardings`; none on a single device."""
        if self.mesh is None:
            return {}
        placed = [self.shardings(tree) for tree in trees]
        return {"out_shardings": tuple(placed) if len(placed) > 1 else placed[0]}

    def put(self, tree: Any) -> Any:
        """A tree of host arrays, the same in every process, on the devices."""
        if self.mesh is None:
            return jax.tree.map(jax.numpy.asarray, tree)
        is_named = lambda leaf: isinstance(leaf, NamedArray)  # noqa: E731

        def put_leaf(leaf: Any, sharding: NamedSharding) -> Any:
            array = np.asarray(leaf.array if is_named(leaf) else leaf)
            placed = jax.make_array_from_callback(array.shape, sharding, lambda index: array[index])
            return NamedArray(placed, leaf.axes) if is_named(leaf) else placed

        return jax.tree.map(put_leaf, tree, self.shardings(tree), is_leaf=is_named)

    def put_batch(self, windows: np.ndarray, *, axis: int = 0) -> Any:
        """The windows of all processes together, sharded over the devices along one axis if they divide evenly."""
        if self.mesh is None:
            return windows
        divides = windows.shape[axis] % self.num_devices == 0
        spec = PartitionSpec(*[None] * axis, DATA) if divides else PartitionSpec()
        sharding = NamedSharding(self._mesh, spec)
        return jax.make_array_from_callback(windows.shape, sharding, lambda index: windows[index])

    def fetch(self, tree: Any) -> Any:
        """A tree of device arrays as whole host arrays; every process must call it."""
        if self.mesh is not None and jax.process_count() > 1:
            return multihost_utils.process_allgather(tree, tiled=True)
        return jax.tree.map(np.asarray, tree)

    def any_process(self, flag: bool) -> bool:
        """Whether the flag is set in any process; every process must call it."""
        if jax.process_count() == 1:
            return flag
        return bool(np.any(multihost_utils.process_allgather(np.asarray(flag))))

    @property
    def _mesh(self) -> Mesh:
        if self.mesh is None:
            raise ValueError("a placement on a single device has no mesh")
        return self.mesh


def start_processes(coordinator: str | None, num_processes: int | None, process_id: int | None) -> None:
    """Join the processes of one run; without arguments JAX asks the cluster (SLURM, Open MPI, TPU) for them."""
    given = (coordinator, num_processes, process_id)
    if any(value is None for value in given) and any(value is not None for value in given):
        raise ValueError(
            "--coordinator, --num-processes and --process-id belong together; leave all three out in a cluster "
            "that JAX detects (SLURM, Open MPI, TPU)"
        )
    # Without this, processes on CPUs cannot exchange arrays; other devices do not read it.
    jax.config.update("jax_cpu_collectives_implementation", "gloo")
    # It would take SIGTERM for itself; a run agrees on where to stop without it.
    jax.config.update("jax_enable_preemption_service", False)
    jax.distributed.initialize(coordinator, num_processes, process_id)
