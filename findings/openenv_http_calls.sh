#!/bin/sh
# openenv 0.10.0: over HTTP each of `/reset` and `/step` makes an environment of its own, so that a step never reaches the
# episode that was reset, and is answered without an error: the environment that answers has never been reset. The
# WebSocket endpoint keeps one environment for a connection.
#
# Needs python3 with venv. Fails if the behaviour changes.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check openenv==0.10.0 httpx
cat >run.py <<'RUN'
import json
from fastapi.testclient import TestClient
from openenv.core.env_server import create_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import Action, Observation, State


class Counted(Observation):
    environment: int
    resets: int


class Counting(Environment):
    SUPPORTS_CONCURRENT_SESSIONS = True
    made = 0

    def __init__(self):
        super().__init__()
        Counting.made += 1
        self.number, self.resets = Counting.made, 0

    def reset(self, seed=None, episode_id=None, **kwargs):
        self.resets += 1
        return Counted(environment=self.number, resets=self.resets, done=False)

    def step(self, action, timeout_s=None, **kwargs):
        return Counted(environment=self.number, resets=self.resets, done=False)

    @property
    def state(self):
        return State()


app = create_app(Counting, Action, Counted, max_concurrent_envs=4)
client = TestClient(app)
first, second = client.post("/reset", json={}), client.post("/step", json={"action": {}})
print(first.status_code, second.status_code)
same = first.json()["observation"]["environment"] == second.json()["observation"]["environment"]
print("same environment" if same else "another environment", second.json()["observation"]["resets"])
with client.websocket_connect("/ws") as socket:
    numbers = []
    for message in ({"type": "reset", "data": {}}, {"type": "step", "data": {}}):
        socket.send_text(json.dumps(message))
        numbers.append(socket.receive_json()["data"]["observation"])
print("websocket:", "same environment" if numbers[0]["environment"] == numbers[1]["environment"] else "another",
      numbers[1]["resets"])
RUN
env/bin/python run.py >seen 2>log || { cat log; exit 1; }
cat seen
[ "$(cat seen)" = "200 200
another environment 0
websocket: same environment 1" ]
