"""The review app over HTTP on one port, which can be stopped and started again while rooms are connected."""

import threading
from pathlib import Path
from typing import Any

from curator_web import create_app, server
from curator_web.db.models.room_models import Room

from .rooms import RoomEnd
from .team_fixtures import add_people


class RoomServer:
    """With the people of the tests; for the time of a `with`."""

    def __init__(self, folder: Path):
        self._folder, self._port = folder, 0
        self.tokens: dict[str, str] = {}

    def __enter__(self) -> "RoomServer":
        self.start()
        self.tokens = add_people(self.app)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        self.app = create_app(None, self._folder)
        self.db = self.app.extensions["demotape"].db
        self._server = server.make(self.app, port=self._port)
        self._port = self._server.port
        self.url = server.address(self._server)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop, and end all connections, as the end of the process does."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        live = self.app.extensions["demotape"].rooms
        for room in list(live._rooms.values()):
            for participant in list(room._participants):
                room.leave(participant)
        self.db.close()

    def open_room(self, **body: Any) -> dict[str, Any]:
        """A room of ann's; what the API answers."""
        answer = self.app.test_client().post("/api/rooms", json=body, headers={
            "Authorization": f"Bearer {self.tokens['ann']}"})
        assert answer.status_code == 201, answer.text
        return answer.json

    def instructor(self, room_id: str) -> RoomEnd:
        """A connection of val's."""
        return RoomEnd(f"{self.url}rooms/{room_id}/live", token=self.tokens["val"])

    def room(self, room_id: str) -> Room:
        """The row of a room."""
        with self.db.reading() as session:
            return session.get_one(Room, room_id)
