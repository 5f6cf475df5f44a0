"""`python -m benchmarks.left_out`: is what was taken out of a demonstration out of every exported byte?"""
