import random
import torch
from gpupanel.api import report
random.seed(4)
loss = 1.0
for epoch in range(2):
    for index in range(20):
        loss *= 1.0 - random.random() / 10
        report(step=index, epoch=epoch + 1, loss=loss, grad_norm=loss / 2)
    print(f"Epoch: {epoch} | loss {loss:.6f}")
print("RESULT", torch.cuda.device_count(), loss)
