#!/bin/sh
set -e
for seed in 1 2; do
    python -c "import random; random.seed($seed); print('RESULT', '$1', random.random())"
done
