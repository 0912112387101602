import os, sys, time
from pathlib import Path
def read(path):
    pairs = (line.split(":", 1) for line in Path(path).read_text().splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}
Path("conf").mkdir(exist_ok=True)
Path("conf/config.yaml").write_text("epochs: 2\nrate: 0.05\n")
settings = read("conf/config.yaml") | dict(word.split("=") for word in sys.argv[1:])
folder = Path("outputs") / time.strftime("%Y")
folder.mkdir(parents=True, exist_ok=True)
os.chdir(folder)
import numpy as np
weights, x = np.zeros(4), np.random.default_rng(0).normal(size=(64, 4))
for epoch in range(int(settings["epochs"])):
    error = x @ weights - x.sum(1)
    weights -= float(settings["rate"]) * x.T @ error
    Path("log.txt").open("a").write(f"{epoch} {np.abs(error).sum():.6f}\n")
print("RESULT", settings, Path("log.txt").read_text().splitlines()[-1], Path.cwd().name == time.strftime("%Y"))
