"""Odd numbers by which hashes tell apart what a template sees: in which place, on which side."""

import numpy as np

A = np.uint64(0x9E3779B97F4A7C15)
B = np.uint64(0xC2B2AE3D27D4EB4F)
C = np.uint64(0x165667B19E3779F9)
