"""No number is made of rounding: what lies below a measure's floor is no value and in no fit."""

import torch

from experiments.diagnostic.attention import jacobian_norm
from experiments.diagnostic.gradient_through_time import above_floor, fits
from experiments.diagnostic.stream import statistics
from experiments.instruments.spikes import spike_share


def decaying(tokens: float, noise: float, length: int = 256) -> torch.Tensor:
    """exp(−k/tokens), and rounding noise of that size under it."""
    k = torch.arange(length, dtype=torch.float64)
    return (-k / tokens).exp() + noise * torch.rand(length, generator=torch.Generator().manual_seed(0), dtype=k.dtype)


def test_an_exponential_decay_stays_one_where_it_falls_below_rounding() -> None:
    found = fits(decaying(2.0, 1e-16))
    assert abs(found["tokens"] - 2.0) < 0.01
    assert found["exponential_by"] > 10
    assert 40 < found["reach"] < 70
    assert found["farthest"].isnan()


def test_a_power_law_above_the_floor_is_fitted_over_all_distances() -> None:
    gradient = (1 + torch.arange(256, dtype=torch.float64)) ** -2
    found = fits(gradient)
    assert found["exponential_by"] < 0 and found["reach"] == 255 and found["farthest"] == gradient[-1]


def test_what_rises_out_of_the_noise_again_is_not_trusted() -> None:
    assert above_floor(torch.tensor([1.0, 1e-20, 1e-3], dtype=torch.float64)).tolist() == [True, False, False]


def test_no_past_at_all_has_no_law() -> None:
    found = fits(torch.tensor([1.0, 0, 0, 0, 0], dtype=torch.float64))
    assert found["reach"] == 0 and found["tokens"].isnan() and found["exponent"].isnan()


def test_the_jacobian_of_a_saturated_softmax_is_exact() -> None:
    for dtype in (torch.float32, torch.float64):
        p = torch.tensor([1 - 3e-6, 2e-6, 1e-6], dtype=dtype)
        exact = p.double().diag() - p.double().outer(p.double())
        assert abs(jacobian_norm(p) / exact.norm() - 1) < 0.05
    p = torch.rand(5, 7, dtype=torch.float64).softmax(-1)
    exact = torch.stack([(row.diag() - row.outer(row)).norm() for row in p])
    assert torch.allclose(jacobian_norm(p), exact, rtol=1e-12)


def test_tokens_that_are_one_have_rank_0_whatever_rounding_says() -> None:
    x = torch.randn(1, 1, 33, generator=torch.Generator().manual_seed(0)).expand(2, 100, 33)
    assert statistics(x)["rank"] == 0
    assert statistics(x + 1e-3 * torch.randn(2, 100, 33))["rank"] > 1e-4


def test_rounding_around_a_constant_is_no_spike() -> None:
    values = torch.full((100,), 2.0, dtype=torch.float64)
    values[[50, 70]] += 1e-9
    assert spike_share(values) == 0
    values[80] = 2.1
    assert spike_share(values) > 0
