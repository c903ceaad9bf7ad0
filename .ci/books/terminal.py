"""Converts the QR code in the output of a terminal with light text on dark to a picture (PBM)."""
import sys

SCALE = 4
HALVES = {" ": "11", "▀": "01", "▄": "10", "█": "00"}  # the upper and the lower half; 1 is dark

lines = [line.rstrip("\n") for line in sys.stdin]
lines = [line for line in lines if line and set(line) <= set(HALVES)]
rows = [[HALVES[c][half] for c in line for _ in range(SCALE)] for line in lines for half in (0, 1) for _ in range(SCALE)]
print("P1", len(rows[0]), len(rows))
for row in rows:
    print(" ".join(row))
