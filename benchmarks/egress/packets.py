"""Counts every packet of a network namespace whose only interface is its loopback, to which all addresses lead."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import threading
from dataclasses import dataclass

NETWORK = ("127.0.0.1", "10.9.9.9", "[fd00::9]", "leak.example")  # this machine, two of the network, a name
_INSIDE = "DEMOTAPE_EGRESS_NAMESPACE"
_SET_UP = ("ip link set lo up", "ip addr add 10.9.9.2/24 dev lo", "ip route add default dev lo",
           "ip -6 addr add fd00::2/64 dev lo nodad", "ip -6 route add default dev lo")
_IPV4, _IPV6, _TCP, _UDP, _ICMP, _ICMP6 = 0x0800, 0x86DD, 6, 17, 1, 58
_RESET = 0x04
_POLL_S = 0.2
_ALL_PROTOCOLS = 3


@dataclass(frozen=True)
class Packet:
    """One packet that was sent: protocol, addresses and ports (0 of a protocol without ports), content."""

    protocol: str
    source: tuple[str, int]
    to: tuple[str, int]
    content: bytes


def enter_namespace(module: str) -> None:
    """Run the module again in a new network namespace and exit with its code; inside the namespace, set it up."""
    if os.environ.get(_INSIDE):
        for command in _SET_UP:
            subprocess.run(command.split(), check=True)
        return
    if shutil.which("unshare") is None or shutil.which("ip") is None:
        sys.exit(f"{module}: needs unshare and ip (Debian packages util-linux, iproute2)")
    options = ["-n"] if os.geteuid() == 0 else ["-rn"]
    run = subprocess.run(["unshare", *options, sys.executable, "-m", module, *sys.argv[1:]],
                         env=os.environ | {_INSIDE: "1"}, check=False)
    sys.exit(run.returncode)


class PacketCounter:
    """Hears what is sent in this namespace from `with` to its end. `own`: TCP ports on 127.0.0.1 that connections of
    ours use, which do not count."""

    def __init__(self) -> None:
        self.own: set[int] = set()
        self._packets: list[Packet] = []
        self._lock = threading.Lock()

    def __enter__(self) -> "PacketCounter":
        self._socket = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.ntohs(_ALL_PROTOCOLS))
        self._socket.settimeout(_POLL_S)
        self._open = True
        self._thread = threading.Thread(target=self._listen, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._thread.join()
        self._socket.close()

    def take(self) -> list[Packet]:
        """The packets since the last time."""
        with self._lock:
            packets, self._packets = self._packets, []
        return [packet for packet in packets if not self._is_own(packet)]

    def _is_own(self, packet: Packet) -> bool:
        ends = packet.source, packet.to
        return packet.protocol == "tcp" and all(address == "127.0.0.1" for address, _ in ends) and any(
            port in self.own for _, port in ends)

    def _listen(self) -> None:
        while self._open:
            try:
                data, (_, kind, direction, *_) = self._socket.recvfrom(1 << 16)
            except TimeoutError:
                continue
            packet = _parse(kind, data) if direction == socket.PACKET_OUTGOING else None
            if packet:
                with self._lock:
                    self._packets.append(packet)


def _parse(kind: int, data: bytes) -> Packet | None:
    """None for what the kernel answers by itself: resets, control messages."""
    if kind == _IPV4:
        family, protocol, offset, ends = socket.AF_INET, data[9], (data[0] & 15) * 4, (data[12:16], data[16:20])
    elif kind == _IPV6:
        family, protocol, offset, ends = socket.AF_INET6, data[6], 40, (data[8:24], data[24:40])
    else:
        return None
    source, to = (socket.inet_ntop(family, end) for end in ends)
    if protocol in (_ICMP, _ICMP6) or protocol == _TCP and data[offset + 13] & _RESET:
        return None
    ports = struct.unpack(">HH", data[offset:offset + 4]) if protocol in (_TCP, _UDP) else (0, 0)
    return Packet({_TCP: "tcp", _UDP: "udp"}.get(protocol, f"protocol {protocol}"), (source, ports[0]), (to, ports[1]),
                  data)
