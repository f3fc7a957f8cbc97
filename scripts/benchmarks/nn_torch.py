"""The steps of nn.lua in PyTorch, which nn.py times: the same nets, as its programs have them.

So the input of a net that is trained has no gradient, which nn computes nevertheless; that of a
single layer or block has one.
"""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import nn
from torch.nn import functional

Step = Callable[[], None]
Net = Callable[..., Any]


def _rand(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, requires_grad=True)


def _classes(count: int, most: int) -> torch.Tensor:
    return torch.randint(most, (count,))


def _nll(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> Step:
    return _trainer(net, lambda out: functional.nll_loss(out, y), x)


def _trainer(net: nn.Module, loss: Net, x: torch.Tensor) -> Step:
    """Return a step that trains."""
    update = torch.optim.SGD(net.parameters(), 0.01)

    def step() -> None:
        update.zero_grad()
        x.grad = None
        loss(net(x)).backward()
        update.step()

    return step


def _passes(net: nn.Module, x: torch.Tensor) -> Step:
    """Return a step without an update; the gradient of the result is the result itself."""

    def step() -> None:
        x.grad = None
        out = net(x)
        out.backward(out.detach())

    return step


def _inference(net: nn.Module, x: torch.Tensor) -> Step:
    net.eval()

    def step() -> None:
        with torch.no_grad():
            net(x)

    return step


def _mlp() -> Step:
    net = nn.Sequential(nn.Linear(784, 256), nn.Tanh(), nn.Linear(256, 10), nn.LogSoftmax(1))
    return _nll(net, torch.randn(32, 784), _classes(32, 10))


def _small_mlp() -> Step:
    net = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Linear(50, 5), nn.LogSoftmax(1))
    return _nll(net, torch.randn(10, 20), _classes(10, 5))


def _lenet() -> Step:
    net = nn.Sequential(
        *(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
        nn.LogSoftmax(1),
    )
    return _nll(net, torch.randn(32, 1, 32, 32), _classes(32, 10))


class _Sequences(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convolution = nn.Conv1d(100, 64, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.convolution(x)).max(2).values


def _cell() -> Step:
    cell = nn.LSTMCell(128, 128)
    update = torch.optim.SGD(cell.parameters(), 0.01)
    x, cells, states = _rand(50, 128), _rand(50, 128), _rand(50, 128)
    gradients = cells.detach(), states.detach()

    def step() -> None:
        update.zero_grad()
        a, b = cells, states
        for _ in range(10):
            x.grad = a.grad = b.grad = None
            h, c = cell(x, (b, a))
            torch.autograd.backward((c, h), gradients)
            a, b = c.detach().requires_grad_(), h.detach().requires_grad_()
        update.step()

    return step


def _vgg_like() -> Step:
    layers: list[nn.Module] = []
    for planes, maps in ((3, 32), (32, 64), (64, 128)):
        layers += [nn.Conv2d(planes, maps, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2)]
    net = nn.Sequential(*layers, nn.Flatten(), nn.Linear(128 * 64, 10), nn.LogSoftmax(1))
    return _nll(net, torch.randn(8, 3, 64, 64), _classes(8, 10))


class _Residual(nn.Module):
    def __init__(self, planes: int, maps: int, step: int) -> None:
        super().__init__()
        self.block = nn.Sequential(
            *(nn.Conv2d(planes, maps, 3, step, 1), nn.BatchNorm2d(maps), nn.ReLU()),
            *(nn.Conv2d(maps, maps, 3, 1, 1), nn.BatchNorm2d(maps)),
        )
        by = nn.Sequential(nn.Conv2d(planes, maps, 1, step), nn.BatchNorm2d(maps))
        self.by = nn.Identity() if step == 1 and planes == maps else by

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.block(x) + self.by(x))


class _CharRNN(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.LSTMCell(65, 128), nn.LSTMCell(128, 128)
        self.tell = nn.Linear(128, 65)

    def forward(self, x: torch.Tensor, states: tuple[torch.Tensor, ...]) -> Any:
        h1, c1, h2, c2 = states
        h1, c1 = self.first(functional.one_hot(x, 65).to(h1.dtype), (h1, c1))
        h2, c2 = self.second(h1, (h2, c2))
        return torch.log_softmax(self.tell(h2), 1), (h1, c1, h2, c2)


def _char_rnn() -> Step:
    net = _CharRNN()
    update = torch.optim.RMSprop(net.parameters(), 2e-3, 0.95)
    texts = [_classes(50, 65) for _ in range(50)]
    wanted = [_classes(50, 65) for _ in range(50)]

    def step() -> None:
        update.zero_grad()
        states: tuple[torch.Tensor, ...] = (torch.zeros(50, 128),) * 4
        losses = []
        for x, y in zip(texts, wanted, strict=True):
            out, states = net(x, states)
            losses.append(functional.nll_loss(out, y))
        sum(losses).backward()
        torch.nn.utils.clip_grad_value_(net.parameters(), 5)
        update.step()

    return step


def _sequence() -> Step:
    net, x = nn.LSTM(128, 128), _rand(50, 50, 128)
    update = torch.optim.SGD(net.parameters(), 0.01)

    def step() -> None:
        update.zero_grad()
        x.grad = None
        out = net(x)[0]
        out.backward(out.detach())
        update.step()

    return step


def _looking_up(update_by: Any) -> Step:
    net = nn.Embedding(10000, 128)
    update = update_by(net.parameters(), 0.01)
    words, back = torch.randint(10000, (32, 50)), torch.randn(32, 50, 128)

    def step() -> None:
        update.zero_grad()
        net(words).backward(back)
        update.step()

    return step


def _autoencoder() -> Step:
    net = nn.Sequential(
        *(nn.Conv2d(1, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 32, 3, 2, 1), nn.ReLU()),
        *(nn.ConvTranspose2d(32, 16, 3, 2, 1, 1), nn.ReLU()),
        *(nn.ConvTranspose2d(16, 1, 3, 2, 1, 1), nn.Sigmoid()),
    )
    x = torch.randn(32, 1, 28, 28)
    return _trainer(net, lambda out: functional.mse_loss(out, x.detach()), x)


def _resnet() -> Step:
    layers: list[nn.Module] = [nn.Conv2d(3, 64, 7, 2, 3), nn.BatchNorm2d(64), nn.ReLU()]
    layers.append(nn.MaxPool2d(3, 2, 1))
    planes = 64
    for maps in (64, 128, 256, 512):
        layers += [_Residual(planes, maps, 1 if maps == 64 else 2), _Residual(maps, maps, 1)]
        planes = maps
    net = nn.Sequential(*layers, nn.AvgPool2d(7), nn.Flatten(), nn.Linear(512, 1000))
    return _inference(net, torch.randn(1, 3, 224, 224))


def _vgg() -> Step:
    layers: list[nn.Module] = []
    planes = 3
    for maps, count in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
        for _ in range(count):
            layers += [nn.Conv2d(planes, maps, 3, padding=1), nn.ReLU(inplace=True)]
            planes = maps
        layers.append(nn.MaxPool2d(2))
    layers += [nn.Flatten(), nn.Linear(512 * 49, 4096), nn.ReLU(inplace=True)]
    layers += [nn.Linear(4096, 4096), nn.ReLU(inplace=True), nn.Linear(4096, 1000)]
    return _inference(nn.Sequential(*layers), torch.randn(1, 3, 224, 224))


#: What makes a row's step, by its name.
ROWS: dict[str, Callable[[], Step]] = {
    "MLP 784-256-10, 32": _mlp,
    "MLP 20-50-5, 10": _small_mlp,
    "LeNet, 32": _lenet,
    "convolution 64-64 3x3 56x56, 2": lambda: _passes(
        nn.Conv2d(64, 64, 3, padding=1), _rand(2, 64, 56, 56)
    ),
    "batch-norm 64 28x28, 8": lambda: _passes(nn.BatchNorm2d(64), _rand(8, 64, 28, 28)),
    "1-D convolution + max 50x100, 16": lambda: _passes(_Sequences(), _rand(16, 100, 50)),
    "LSTM cell 128, 50 x 10": _cell,
    "VGG-like 3 x conv 3x3, 8x3x64x64": _vgg_like,
    "ResNet block 64 28x28, 8": lambda: _passes(_Residual(64, 64, 1), _rand(8, 64, 28, 28)),
    "char-rnn 2 x LSTM 128, 50 x 50": _char_rnn,
    "SeqLSTM 128, 50 x 50": _sequence,
    "LookupTable 10000x128, sgd": lambda: _looking_up(torch.optim.SGD),
    "LookupTable 10000x128, adam": lambda: _looking_up(torch.optim.Adam),
    "autoencoder 28x28, 32": _autoencoder,
    "ResNet-18 224x224, 1": _resnet,
    "VGG-16 224x224, 1": _vgg,
}
_CLOCKS = {"cpu": time.process_time, "wall": time.perf_counter}


def _time(step: Step, clock: Callable[[], float], seconds: float) -> float:
    """Milliseconds of a step: the best of short rounds."""
    best, count, begun = float("inf"), 1, clock()
    while True:
        start = clock()
        for _ in range(count):
            step()
        taken = clock() - start
        best = min(best, taken / count)
        if taken < seconds / 40:
            count *= 2
        if clock() - begun > seconds:
            return best * 1000


def main() -> None:
    """Answer lines as nn.lua does."""
    if sys.argv[1:]:
        torch.set_num_threads(int(sys.argv[1]))
    name, step = "", lambda: None
    for line in sys.stdin:
        row, kind, clock, seconds = line.rstrip("\n").split("\t")
        if name != row + kind:
            name, step = row + kind, lambda: None
            gc.collect()
            torch.set_default_dtype(torch.float32 if kind == "Float" else torch.float64)
            torch.manual_seed(1)
            step = ROWS[row]()
            for _ in range(3):
                step()
        print(f"{_time(step, _CLOCKS[clock], float(seconds)):.5f}", flush=True)


if __name__ == "__main__":
    main()
