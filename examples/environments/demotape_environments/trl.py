"""A recorded task for TRL's GRPOTrainer (`environment_factory`), over OpenEnv: `demotape env serve` serves it."""

from typing import Any

from openenv.core.generic_client import GenericEnvClient

_TREE_CHARS = 20_000  # of an accessibility tree that the model is shown


class RecordedTask:
    """One attempt at a time; TRL makes an instance for each rollout.

    `address`: as `demotape env serve --observe axtree` prints it. TRL gives `reset` the row of its data set, calls
    `act` as a tool, and takes `get_reward` at the end.
    """

    def __init__(self, address: str = "http://127.0.0.1:8000"):
        self._address, self._reward = address, 0.0
        self._env: Any = None

    def reset(self, split: str = "all", index: int = 0, **_: Any) -> str:
        """Begin an attempt at a task; returns what is added to the prompt: goal and page."""
        self._close()
        self._reward = 0.0
        self._env = GenericEnvClient(base_url=self._address).sync()
        self._env.__enter__()
        observation = self._env.reset(split=split, index=index).observation
        return f"\n\nTask: {observation['goal']}\n{_page(observation)}"

    def act(self, action: str) -> str:
        """Do one action in the browser, and see the page afterwards.

        Args:
            action: One call, such as click('a1-7'), fill('a1-3', 'Paris') or send_msg_to_user('the answer'), which ends
                the task. Elements are named by the uid in square brackets.

        Returns:
            The page afterwards, as an accessibility tree.
        """
        if self._env is None:
            return "The task has ended."
        result = self._env.step({"action": action})
        self._reward += result.reward or 0.0
        if result.done:
            self._close()
            return "The task has ended."
        error = result.observation.get("error")
        return (f"Not performed: {error}\n" if error else "") + _page(result.observation)

    def get_reward(self) -> float:
        """The rewards of the attempt, summed; the attempt ends."""
        self._close()
        return self._reward

    def _close(self) -> None:
        if self._env is not None:
            self._env.__exit__(None, None, None)
            self._env = None


def _page(observation: dict[str, Any]) -> str:
    return f"Address: {observation['url']}\n{observation['axtree'][:_TREE_CHARS]}"
