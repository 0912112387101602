"""Which set the name of a folder means, in the spellings that people use."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final
from unicodedata import combining, normalize

TRAINING: Final = "path"
VALIDATION: Final = "validation_path"
TEST: Final = "test_path"
UNLABELLED: Final = ""
"""The set of folders with examples to predict on: none of the three sets."""


def _plain(name: str) -> str:
    """In small letters, without accents."""
    apart = normalize("NFKD", name).lower()
    return "".join(letter for letter in apart if not combining(letter))


_TRAIN: Final = (
    *("train", "training", "trn", "trainings"),
    *("entrainement", "apprentissage", "entrenamiento", "entrenar", "treino", "treinamento"),
    *("treinar", "addestramento", "allenamento", "trening", "treningowy", "treningowe", "egitim"),
    *("обучение", "обучающая", "обучающие", "обучающий", "тренировка", "тренировочная"),
    *("训练", "訓練", "学習", "训练用", "훈련", "학습"),
)
_VALIDATE: Final = (
    *("val", "valid", "validation", "validate", "dev"),
    *("validierung", "validierungs", "validacion", "validacao", "validazione", "convalida"),
    *("validatie", "walidacja", "walidacyjny", "dogrulama", "валидация", "валидационная"),
    *("验证", "驗證", "検証", "검증"),
)
_TEST: Final = (
    *("test", "tests", "testing", "tst"),
    *("prueba", "pruebas", "teste", "testes", "testowy", "testowe", "тест", "тестовая"),
    *("тестовые", "тестирование", "测试", "測試", "テスト", "테스트"),
)
_UNLABELLED: Final = (
    *("pred", "predict", "prediction", "unlabeled", "unlabelled", "unsup", "unsupervised"),
)
_WORDS: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(map(_plain, _TRAIN), (TRAINING,)),
    **dict.fromkeys(map(_plain, _VALIDATE), (VALIDATION,)),
    **dict.fromkeys(("eval", "evaluation"), (VALIDATION, TEST)),
    **dict.fromkeys(map(_plain, _TEST), (TEST,)),
    "holdout": (TEST, VALIDATION),
    **dict.fromkeys(_UNLABELLED, (UNLABELLED,)),
}
"""What each word means; of two the second where another folder is the first."""
_FILLING: Final = (
    *("set", "sets", "data", "dataset", "images", "image", "imgs", "img", "pictures", "photos"),
    *("split", "folder", "files", "the", "jpg", "jpeg", "png"),
    *("daten", "datensatz", "satz", "menge", "bilder", "fotos", "donnees", "datos", "dados"),
    *("imagenes", "imagens", "immagini", "dati", "de", "conjunto", "выборка", "данные"),
    *("集", "数据", "數據", "数据集", "图片", "图像", "データ", "用", "用データ", "데이터", "세트"),
)
_TOGETHER: Final = re.compile(
    f"({'|'.join(_WORDS)})(?:{'|'.join(map(_plain, _FILLING))})",
)


def words_of(name: str) -> list[str]:
    """The words of a name, in small letters and without accents."""
    return re.findall(r"[^\W\d_]+", _plain(re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)))


def meant_by(name: str) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The settings of the sets that a name may mean, and the other words in it.

    ``seg_train``, ``training-set``, ``TrainSet``, ``1_train`` and ``train_images`` are of the
    training set; ``None``: the name does not say a set, or says two of them.
    """
    words = words_of(re.sub(r"(?i)hold[\W_]out", "holdout", name))
    words = [whole[1] if (whole := _TOGETHER.fullmatch(word)) else word for word in words]
    sets = [word for word in words if word in _WORDS]
    if len(sets) != 1:
        return None
    others = (word for word in words if word not in _WORDS and word not in _FILLING)
    return _WORDS[sets[0]], tuple(others)


def known_sets(folders: Sequence[Path]) -> dict[Path, tuple[tuple[str, ...], tuple[str, ...]]]:
    """Those whose names say a set, with the settings that each may mean and its other words."""
    meant = {folder: meant_by(folder.name) for folder in folders}
    return {folder: each for folder, each in meant.items() if each is not None}
