"""The tests. What calculates with several threads is given one: the processes of `make test` share the processors."""

import os

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "OPENCV_FOR_THREADS_NUM"):
    os.environ.setdefault(_name, "1")
