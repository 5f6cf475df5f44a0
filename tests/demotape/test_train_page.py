"""docs/train.md: its lines are run as they are written, and its training loop by TRL with a stub of a model."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.replay.agents.lamp_shop import shop_task
from tests.support.own_environment import make_environment

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "train.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", PAGE, re.M | re.S)
LINES = [line for language, block in BLOCKS if not language for line in block.splitlines()]
LOOP, = (block for language, block in BLOCKS if language == "python")
SERVE = "demotape env serve "
AGENT = """
from playwright.sync_api import sync_playwright

def act(task):
    with sync_playwright() as playwright:
        page = playwright.chromium.connect_over_cdp(task.cdp).contexts[0].pages[0]
        page.get_by_label("Lamp").fill("Floor lamp")
        page.get_by_role("button", name="Order").click()
        page.get_by_text("You ordered").wait_for()
"""
CLIENT = """
import re, sys
from demotape_environments.trl import RecordedTask
task = RecordedTask(sys.argv[1])
page = task.reset(split="train", index=0, prompt="x")
for words, action in (("textbox", "fill({!r}, 'Floor lamp')"), ("button", "click({!r})")):
    page = task.act(action.format(re.search(rf"\\[([\\w-]+)\\] {words}", page)[1]))
assert page == "The task has ended." == task.act("noop()"), page
assert task.get_reward() == 1, task.get_reward()
task.reset(split="train", index=0)
assert "Not performed: " in task.act("clik('a')") and task.get_reward() == 0
"""
# A model of a byte a token, with the chat template of Qwen3. Of the attempts of a group, every other does the task.
STUB = '''
import json, re, sys
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast, Qwen3Config, Qwen3ForCausalLM
from trl.chat_template_utils import qwen3_chat_template

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
signs = sorted(pre_tokenizers.ByteLevel.alphabet())
plain = Tokenizer(models.BPE({sign: number for number, sign in enumerate([*SPECIAL, *signs])}, []))
plain.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
plain.decoder = decoders.ByteLevel()
words = PreTrainedTokenizerFast(tokenizer_object=plain, eos_token="<|im_end|>", pad_token="<|endoftext|>",
                                padding_side="left", additional_special_tokens=["<|im_start|>"])
words.chat_template = qwen3_chat_template


def answer(prompt, number):
    uid = lambda role: re.findall(rf"\\[([\\w-]+)\\] {role}", prompt)[-1]
    if "<tool_response>" not in prompt and number % 2:
        return "I do not know."
    if "The task has ended" in prompt:
        return "Ordered."
    is_typed = "Floor lamp" in prompt.rpartition("Task:")[2]
    action = f"click('{uid('button')}')" if is_typed else f"fill('{uid('textbox')}', 'Floor lamp')"
    return f"<tool_call>\\n{json.dumps({'name': 'act', 'arguments': {'action': action}})}\\n</tool_call>"


class Policy(Qwen3ForCausalLM):
    def generate(self, input_ids, attention_mask, **_):
        prompts = [words.decode(row[mask.bool()]) for row, mask in zip(input_ids, attention_mask)]
        replies = [words.encode(answer(prompt, number) + "<|im_end|>") for number, prompt in enumerate(prompts)]
        width = max(map(len, replies))
        padded = [reply + [words.pad_token_id] * (width - len(reply)) for reply in replies]
        return torch.cat([input_ids, torch.tensor(padded)], 1)


policy = Policy(Qwen3Config(vocab_size=len(words), hidden_size=16, intermediate_size=32, num_hidden_layers=1,
                            num_attention_heads=2, num_key_value_heads=1, head_dim=8, max_position_embeddings=1 << 16))
'''


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    return make_environment(tmp_path_factory.mktemp("train"), f"{ROOT}[openenv]", "openenv==0.10.0")


@pytest.fixture(scope="module")
def recorded(recording_browser):
    return shop_task(recording_browser).recording.layout.root


@pytest.fixture
def folder(tmp_path, recorded):
    """A folder in which the task has been recorded, and an agent is written."""
    shutil.copytree(recorded, tmp_path / "recordings" / "lamp")
    (tmp_path / "recordings" / "lamp" / "outcome.json").unlink()
    (tmp_path / "mine.py").write_text(AGENT)
    return tmp_path


def run(python, folder, line):
    """Run a line of the page by a shell."""
    environment = os.environ | {"PATH": f"{python.parent}:{os.environ['PATH']}", "HOME": str(folder),
                                "PYTHONPATH": str(ROOT / "examples" / "environments")}
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{line}\n{done.stdout}{done.stderr}"
    return done.stdout


@contextmanager
def served(python, folder, line):
    """The address of the tasks that a line serves."""
    words = [python.parent / "demotape", *line.split()[1:], "--port", "0"]
    with subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        yield process.stdout.readline().split()[1]
        process.send_signal(2)
        process.communicate()


def lines(first, last):
    """The lines of the page from one that begins with a text to another that does."""
    begins = [next(number for number, line in enumerate(LINES) if line.startswith(text)) for text in (first, last)]
    return LINES[begins[0]:begins[1] + 1]


def test_the_lines_until_an_agent_is_tested(python, folder):
    for line in lines("demotape process", "demotape bundle"):
        run(python, folder, line)
    scores = [json.loads((folder / f"runs/{agent}/results.jsonl").read_text().splitlines()[0])["score"]
              for agent in ("person", "idle", "mine")]
    assert scores == [1, 0, 1]
    assert (folder / "runs.html").is_file() and len((folder / "runs/mine/results.jsonl").read_text().splitlines()) == 3


def test_the_lines_of_what_attempts_leave(python, folder):
    run(python, folder, next(line for line in LINES if "--propose" in line))
    serve = [line for line in LINES if line.startswith(SERVE)]
    with served(python, folder, serve[1]) as address:
        (folder / "client.py").write_text(CLIENT)
        run(python, folder, f"python client.py {address}")
    after = lines("demotape import", "demotape export")
    assert "imported" in run(python, folder, after[0])
    assert "1 demonstrations" in run(python, folder, after[1])


def cpu_torch():
    """A build of PyTorch for processors alone; the usual one is some gigabytes."""
    folders = [Path(folder) for folder in os.environ.get("PIP_FIND_LINKS", "").split() if Path(folder).is_dir()]
    tag = f"cp{sys.version_info.major}{sys.version_info.minor}"
    wheels = sorted(wheel for folder in folders for wheel in folder.glob(f"torch-*+cpu-{tag}-*.whl"))
    if not wheels:
        pytest.skip("no build of PyTorch for processors alone in PIP_FIND_LINKS")
    return wheels[-1]


def test_the_training_loop(python, folder, tmp_path_factory):
    trainer = make_environment(tmp_path_factory.mktemp("trl"), str(cpu_torch()), "trl==1.16.0", "jmespath",
                               "openenv==0.10.0")
    run(python, folder, next(line for line in LINES if "--propose" in line))
    loop = LOOP.replace('model="Qwen/Qwen3-0.6B"', "model=policy, processing_class=words").replace(
        "num_generations=8, max_completion_length=4096", "num_generations=4, max_completion_length=16384, max_steps=1, "
        "per_device_train_batch_size=4, use_cpu=True, report_to=[], save_strategy='no', logging_steps=1")
    with served(python, folder, next(line for line in LINES if line.startswith(SERVE))) as address:
        loop = loop.replace("http://127.0.0.1:8000", address)
        (folder / "loop.py").write_text(f"{STUB}\n{loop}\nprint(json.dumps(trainer.state.log_history[0]))\n")
        printed = run(trainer, folder, "python -W ignore loop.py")
    log = json.loads(printed.splitlines()[-1])
    assert log["reward"] == 0.5 and log["reward_std"] > 0.5 and log["grad_norm"] > 0, log
