"""Heads on disk: what is written is read again, and nothing else is."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from doubles.small_backbone import small_backbone
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from medusa_chat.engine.backbone import Backbone
from medusa_chat.engine.errors import MedusaError
from medusa_chat.heads import MedusaHeads, load_heads, save_heads

TOKEN_MAP = torch.tensor([0, 1, 7, 50, 99])
WEIGHTS = "medusa_lm_head.safetensors"


def save(
    folder: Path, backbone: Backbone, *, layers: int = 2, own_output: bool = False, token_map: Tensor | None = None
) -> MedusaHeads:
    heads = MedusaHeads.fresh(
        backbone.output_layer.weight, count=3, layers=layers, own_output=own_output, token_map=token_map
    )
    torch.manual_seed(5)
    for parameter in heads.parameters():
        nn.init.normal_(parameter, std=0.1)
        parameter.data = parameter.data.half().float()
    save_heads(heads, folder, backbone, "tiny", {"epochs": 2})
    return heads


@pytest.mark.parametrize("token_map", [None, TOKEN_MAP], ids=["all-tokens", "some-tokens"])
@pytest.mark.parametrize("own_output", [False, True], ids=["shared", "own"])
@pytest.mark.parametrize("layers", [1, 2])
def test_round_trip(
    tmp_path: Path, backbone: Backbone, layers: int, own_output: bool, token_map: Tensor | None
) -> None:
    heads = save(tmp_path, backbone, layers=layers, own_output=own_output, token_map=token_map)
    loaded = load_heads(tmp_path, backbone)
    hidden = torch.randn(32)
    before, after = heads.guess(hidden, 7, 3, 5), loaded.heads.guess(hidden, 7, 3, 5)
    assert torch.equal(before.tokens, after.tokens)
    torch.testing.assert_close(before.probabilities, after.probabilities)
    assert (loaded.heads.count, loaded.heads.layers, loaded.heads.own_output) == (3, layers, own_output)
    assert loaded.notes == ()
    assert not any(parameter.requires_grad for parameter in loaded.heads.parameters())


def test_shared_heads_are_published_version_2_without_output_layers(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone, layers=1)
    assert sorted(load_file(tmp_path / WEIGHTS)) == sorted(
        f"{head}.0.linear.{ending}" for head in range(3) for ending in ("weight", "bias")
    )
    config = json.loads((tmp_path / "config.json").read_text())
    assert config["version"] == "2"
    assert (config["medusa_num_heads"], config["medusa_num_layers"]) == (3, 1)
    assert config["base_model_name_or_path"] == "tiny"
    assert config["recipe"] == {"epochs": 2}


def test_heads_that_see_the_root_come_back_and_are_not_taken_for_version_2(tmp_path: Path, backbone: Backbone) -> None:
    heads = MedusaHeads.fresh(backbone.output_layer.weight, count=2, embedding=backbone.embedding)
    torch.manual_seed(5)
    for parameter in heads.parameters():
        nn.init.normal_(parameter, std=0.1)
        parameter.data = parameter.data.half().float()
    save_heads(heads, tmp_path, backbone, "tiny", {})
    loaded = load_heads(tmp_path, backbone).heads
    hidden = torch.randn(32)
    for root in (3, 77):
        assert torch.equal(heads.guess(hidden, root, 2, 5).tokens, loaded.guess(hidden, root, 2, 5).tokens)
    config = json.loads((tmp_path / "config.json").read_text())
    assert "version" not in config
    assert config["sees_root"] is True


def test_own_heads_are_published_version_1(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone, own_output=True)
    tensors = load_file(tmp_path / WEIGHTS)
    assert [tensors[f"{head}.2.weight"].shape for head in range(3)] == [(120, 32)] * 3
    assert "version" not in json.loads((tmp_path / "config.json").read_text())


def test_heads_of_other_weights_load_and_say_so(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone)
    (note,) = load_heads(tmp_path, small_backbone(seed=4)).notes
    assert "trained for other weights (tiny)" in note


def test_counts_come_from_tensors_not_from_the_config(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone)
    change_config(tmp_path, medusa_num_heads=2)
    loaded = load_heads(tmp_path, backbone)
    assert loaded.heads.count == 3
    assert any("2 heads, but the file holds 3" in note for note in loaded.notes)


def test_heads_without_a_fingerprint_say_so(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone)
    change_config(tmp_path, backbone_fingerprint=None)
    assert any("do not say which backbone" in note for note in load_heads(tmp_path, backbone).notes)


def test_wrong_hidden_size_is_refused(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone)
    with pytest.raises(MedusaError, match="hidden size of 32, but this model's is 16"):
        load_heads(tmp_path, small_backbone(hidden_size=16))


def drop(key: str) -> Callable[[dict[str, Tensor]], None]:
    return lambda tensors: tensors.__delitem__(key)


def put(key: str, tensor: Tensor) -> Callable[[dict[str, Tensor]], None]:
    return lambda tensors: tensors.__setitem__(key, tensor)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (drop("1.0.linear.bias"), "lacks the tensor 1.0.linear.bias"),
        (drop("0.0.linear.weight"), "lacks the tensor 0.0.linear.weight"),
        (put("2.9.linear.bias", torch.zeros(32)), "lacks the tensor 0.2.linear.weight"),
        (put("medusa_head.0.weight", torch.zeros(2)), "unexpected tensor medusa_head.0.weight"),
        (put("2.1.linear.weight", torch.zeros(32, 31)), "2.1.linear.weight has shape [32, 31], needed is [32, 32]"),
        (put("2.1.linear.bias", torch.zeros(4)), "2.1.linear.bias has shape [4]"),
        (put("0.2.weight", torch.zeros(5, 32)), "lacks the tensor 1.2.weight"),
        (put("root.weight", torch.zeros(32, 30)), "root.weight has shape [32, 30], needed is [32, 32]"),
        (put("token_map", torch.tensor([0, 120])), "token_map names token 120, but this model has 120 tokens"),
        (put("token_map", torch.tensor([3, 3])), "token_map names a token twice"),
        (put("token_map", torch.tensor([0.5])), "token_map must be a list of token ids"),
    ],
)
def test_every_key_must_fit(
    tmp_path: Path, backbone: Backbone, change: Callable[[dict[str, Tensor]], None], said: str
) -> None:
    save(tmp_path, backbone, token_map=TOKEN_MAP)
    tensors = load_file(tmp_path / WEIGHTS)
    change(tensors)
    save_file(tensors, tmp_path / WEIGHTS)
    with pytest.raises(MedusaError, match=re.escape(said)):
        load_heads(tmp_path, backbone)


def test_own_outputs_wider_than_the_vocabulary_are_refused(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, small_backbone(vocab_size=130), own_output=True)
    with pytest.raises(MedusaError, match="heads for 130 tokens, but this model has 120"):
        load_heads(tmp_path, backbone)


def test_a_file_without_heads_is_refused(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone)
    save_file({"something": torch.zeros(3)}, tmp_path / WEIGHTS)
    with pytest.raises(MedusaError, match="holds no Medusa heads"):
        load_heads(tmp_path, backbone)


@pytest.mark.parametrize("name", [WEIGHTS, "config.json"])
def test_damaged_or_missing_files_are_named(tmp_path: Path, backbone: Backbone, name: str) -> None:
    save(tmp_path, backbone)
    (tmp_path / name).write_bytes(b"\x00\xffnot it")
    with pytest.raises(MedusaError, match=re.escape(name)):
        load_heads(tmp_path, backbone)
    (tmp_path / name).unlink()
    with pytest.raises(MedusaError, match=f"{re.escape(name)} is missing"):
        load_heads(tmp_path, backbone)


def test_a_config_that_is_no_object_is_refused(tmp_path: Path, backbone: Backbone) -> None:
    save(tmp_path, backbone)
    (tmp_path / "config.json").write_text("[1, 2]")
    with pytest.raises(MedusaError, match="holds no object"):
        load_heads(tmp_path, backbone)


def change_config(folder: Path, **changes: object) -> None:
    path = folder / "config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))
