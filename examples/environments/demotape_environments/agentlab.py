"""Recorded tasks as a benchmark of BrowserGym's experiments, which AgentLab's studies run."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from browsergym.experiments import EnvArgs
from browsergym.experiments.benchmark import Benchmark, HighLevelActionSetArgs

from .browsergym import register

_SUBSETS = ("chat", "infeas", "nav", "tab", "bid", "coord")  # of BrowserGym's actions
_MAX_STEPS = 30


@dataclass
class RecordedEnvArgs(EnvArgs):  # type: ignore[misc]
    """The environment of a recorded task; studies make it in processes of their own. `address`: as `demotape replay
    serve RECORDING --cdp 0` prints it."""

    address: str = ""

    def make_env(self, *args: Any, **kwargs: Any) -> Any:
        register({self.task_name.removeprefix("demotape."): self.address})
        return super().make_env(*args, **kwargs)


def benchmark(addresses: Mapping[str, str], max_steps: int = _MAX_STEPS) -> Benchmark:
    """A benchmark of recorded tasks by name, with the addresses of their environments; a task at a time in each."""
    tasks = [RecordedEnvArgs(f"demotape.{name}", task_seed=0, max_steps=max_steps, address=address)
             for name, address in addresses.items()]
    return Benchmark("demotape", HighLevelActionSetArgs(_SUBSETS), is_multi_tab=True, supports_parallel_seeds=False,
                     env_args_list=tasks, backends=[])
