"""A task of BrowserGym reset and done again and again: with demotape's recorded task, or MiniWoB's own.

    python browsergym_steps.py TIMES (--recorded ADDRESS | --miniwob NAME) SELECTOR…

The elements are pressed one after the other. Prints, as JSON, the reward of each time and the seconds of each
reset and step.
"""

import argparse
import importlib
import json
import time
from typing import Any

import gymnasium


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("times", type=int)
    parser.add_argument("selectors", nargs="+")
    parser.add_argument("--recorded")
    parser.add_argument("--miniwob")
    options = parser.parse_args()
    if options.recorded:
        env: Any = importlib.import_module("demotape_environments.browsergym").RecordedTaskEnv(options.recorded)
    else:
        importlib.import_module("browsergym.miniwob")
        env = gymnasium.make(f"browsergym/miniwob.{options.miniwob}")
    rewards, resets, steps = [], [], []
    for seed in range(options.times):
        began = time.monotonic()
        env.reset(seed=seed)
        resets.append(time.monotonic() - began)
        reward = 0.0
        for selector in options.selectors:
            action = f"click('{env.unwrapped.page.locator(selector).get_attribute('bid')}')"
            began = time.monotonic()
            _, reward, *_ = env.step(action)
            steps.append(time.monotonic() - began)
        rewards.append(reward)
    env.close()
    print(json.dumps({"rewards": rewards, "resets": resets, "steps": steps}))


if __name__ == "__main__":
    main()
