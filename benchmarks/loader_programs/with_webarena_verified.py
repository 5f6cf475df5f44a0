"""What WebArena-Verified's own evaluators say, in an environment where nothing of ours can be imported.

`python with_webarena_verified.py CASES.json` reads `sites` (addresses by placeholder), `cases` (a task with the folder
of a run, or with its answer and the entries of its HAR) and `values` (a JSON Schema, what is wanted, what is given).
It prints a line of JSON: the score of each case and whether each value fits, null where the evaluator itself failed.
"""

import json
import logging
import sys
from functools import partial
from pathlib import Path

from webarena_verified.api.internal.data_reader import WebArenaVerifiedDataReader
from webarena_verified.api.internal.evaluator import WebArenaVerifiedEvaluator
from webarena_verified.core.evaluation.value_comparator import ValueComparator
from webarena_verified.core.evaluation.value_normalizer import ValueNormalizer
from webarena_verified.types.config import WebArenaVerifiedConfig
from webarena_verified.types.eval import TaskEvalContext
from webarena_verified.types.task import WebArenaVerifiedTask
from webarena_verified.types.tracing import NetworkTrace


def score(evaluator, config, case):
    """1.0 or 0.0; an evaluator that fails counts as 0.0, as in its own summaries."""
    task = WebArenaVerifiedTask.model_validate(case["task"])
    if "folder" in case:
        folder = Path(case["folder"])
        answer, trace = (folder / "agent_response.json").read_text(), folder / "network.har"
    else:
        answer, trace = case["answer"], case["entries"]
    context = TaskEvalContext(task=task, agent_response_raw=answer, network_trace=NetworkTrace.from_content(trace),
                              config=config)
    return evaluator.evaluate_task(context=context).score


def fits(config, schema, wanted, given):
    """Whether a value is the wanted one."""
    normalizer, array = ValueNormalizer(), {"type": "array", "items": schema}

    def site(strict):
        return partial(config.derender_url, sites=tuple(config.environments), strict=strict)

    try:
        expected = normalizer.normalize_array((wanted,), array, strict=True, derender_url_fct=site(True))
    except Exception:
        return None
    actual = normalizer.normalize_array((given,), array, strict=False, derender_url_fct=site(False))
    return not ValueComparator().compare(expected=expected, actual=actual)


def main():
    logging.disable(logging.CRITICAL)
    asked = json.loads(Path(sys.argv[1]).read_text())
    config = WebArenaVerifiedConfig.model_validate(
        {"environments": {name: {"urls": [address]} for name, address in asked["sites"].items()}})
    evaluator = WebArenaVerifiedEvaluator(config=config, reader=WebArenaVerifiedDataReader(config))
    print(json.dumps({"scores": [score(evaluator, config, case) for case in asked.get("cases", ())],
                      "values": [fits(config, *value) for value in asked.get("values", ())]}))


main()
