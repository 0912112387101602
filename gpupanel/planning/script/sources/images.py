"""A folder with one sub-folder of images per class."""

from string import Template

from typing_extensions import override

from gpupanel.domain.data import ImagesData
from gpupanel.planning.script.data_section import AS_UTF8, SourceScript
from gpupanel.planning.script.sections import joined

_IMAGES = """
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from PIL import Image, ImageOps

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm"}


def picture(path):
    with Image.open(path) as image:
        image = ImageOps.exif_transpose(image).convert($mode)
        image = image.resize(($width, $height), Image.Resampling.BILINEAR)
        return np.asarray(image, np.uint8).reshape($height, $width, $channels)


class Pictures:
    \"\"\"Reads pictures when they are asked for, as an array gives its rows.\"\"\"

    def __init__(self, paths):
        self.paths, self.shape = paths, (len(paths), $height, $width, $channels)

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, rows):
        with ThreadPoolExecutor(8) as pool:
            pixels = list(pool.map(picture, self.paths[rows]))
        return np.stack(pixels) if pixels else np.zeros((0, *self.shape[1:]), np.uint8)


def list_pictures(root):
    \"\"\"The folders of the classes, and each picture with the number of its class.\"\"\"
    folders = [path for path in sorted(Path(root).iterdir()) if path.is_dir()]
    folders = [path for path in folders if not path.name.startswith(".")]
    return folders, [
        (path, number)
        for number, folder in enumerate(folders)
        for path in sorted(folder.rglob("*"))
        if path.suffix.lower() in SUFFIXES
    ]


folders, files = list_pictures($path)
x = np.array([path for path, _ in files], object)
y = np.array([number for _, number in files], np.int32)
class_count = len(folders)
"""

_SET = """
_, files = list_pictures($path)
x_$set = np.array([path for path, _ in files], object)
y_$set = np.array([number for _, number in files], np.int32)
"""


class _Images(SourceScript[ImagesData]):
    """Python that lists the images, and reads them when they are needed."""

    @override
    def read(self, data: ImagesData, *, needs_labels: bool) -> str:
        height, width, channels = data.chosen_shape
        read = Template(_IMAGES).substitute(
            path=repr(data.path),
            mode=repr("RGB" if data.color == "rgb" else "L"),
            channels=channels,
            height=height,
            width=width,
        )
        sets = {"val": data.validation_path, "test": data.test_path}
        of_sets = (
            Template(_SET).substitute(path=repr(path), set=name)
            for name, path in sets.items()
            if path
        )
        return joined(read, *of_sets)

    @override
    def class_names(self, data: ImagesData) -> str:
        return f"\n\n{AS_UTF8}\n\n\nclass_names = [as_utf8(folder.name) for folder in folders]"

    @override
    def pixels(self, data: ImagesData, *names: str, in_memory: bool) -> str:
        text = "Pictures({})[:]" if in_memory else "Pictures({})"
        return f"{', '.join(names)} = {', '.join(text.format(name) for name in names)}"


SCRIPT = _Images()
