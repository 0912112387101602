"""The architectures of ``keras.applications``, with the files of their published weights.

Numbers and files are those of Keras 3.15; a test compares them with the Keras that is installed.
"""

from dataclasses import dataclass
from typing import Final, Literal

from gpupanel.domain.keras_file import KerasFile

_GOOGLE: Final = "https://storage.googleapis.com/"

ApplicationName = Literal[
    "MobileNetV3Small",
    "MobileNetV3Large",
    "MobileNetV2",
    "MobileNet",
    "EfficientNetB0",
    "EfficientNetB1",
    "EfficientNetB2",
    "EfficientNetB3",
    "EfficientNetB4",
    "EfficientNetB5",
    "EfficientNetB6",
    "EfficientNetB7",
    "EfficientNetV2B0",
    "EfficientNetV2B1",
    "EfficientNetV2B2",
    "EfficientNetV2B3",
    "EfficientNetV2S",
    "EfficientNetV2M",
    "EfficientNetV2L",
    "ResNet50",
    "ResNet101",
    "ResNet152",
    "ResNet50V2",
    "ResNet101V2",
    "ResNet152V2",
    "DenseNet121",
    "DenseNet169",
    "DenseNet201",
    "ConvNeXtTiny",
    "ConvNeXtSmall",
    "ConvNeXtBase",
    "ConvNeXtLarge",
    "ConvNeXtXLarge",
    "Xception",
    "InceptionV3",
    "InceptionResNetV2",
    "NASNetMobile",
    "NASNetLarge",
    "VGG16",
    "VGG19",
]


@dataclass(frozen=True, slots=True)
class Family:
    """Architectures of one kind.

    Attributes:
        module: Of ``keras.applications``, with the ``preprocess_input`` that belongs to them.
        folder: Of their weights, below Google's storage.
        least_side: Of images, in pixels: smaller ones leave nothing after the strides.
        scales_inside: Whether the first layer takes pixels from 0 to 255 as they are.
    """

    module: str
    folder: str
    least_side: int = 32
    scales_inside: bool = False


@dataclass(frozen=True, slots=True)
class Application:
    """One architecture.

    Attributes:
        name: Of its function in ``keras.applications``.
        family: Those that are like it.
        parameters: Weights without the layers that classify.
        usual_side: Height and width of the images that its weights were trained on, in pixels.
        weights_file: Of the weights, without the layers that classify, in the family's folder.
        digest: Hexadecimal SHA-256 or MD5 of that file; empty where Keras knows none.
        kept_as: As Keras names the file in its cache; empty: likewise.
    """

    name: ApplicationName
    family: Family
    parameters: int
    usual_side: int
    weights_file: str
    digest: str
    kept_as: str = ""

    @property
    def weights(self) -> KerasFile:
        """The file of its weights; its size is that of so many float32, which is nearly right."""
        return KerasFile(
            f"{_GOOGLE}{self.family.folder}/{self.weights_file}",
            self.kept_as or self.weights_file,
            self.digest,
            size_bytes=4 * self.parameters,
            folder="models",
        )


_MOBILENET_V3: Final = Family(
    "mobilenet_v3", "tensorflow/keras-applications/mobilenet_v3", scales_inside=True
)
_MOBILENET_V2: Final = Family("mobilenet_v2", "tensorflow/keras-applications/mobilenet_v2")
_MOBILENET: Final = Family("mobilenet", "tensorflow/keras-applications/mobilenet")
_EFFICIENTNET: Final = Family("efficientnet", "keras-applications", scales_inside=True)
_EFFICIENTNET_V2: Final = Family(
    "efficientnet_v2", "tensorflow/keras-applications/efficientnet_v2", scales_inside=True
)
_RESNET: Final = Family("resnet", "tensorflow/keras-applications/resnet")
_RESNET_V2: Final = Family("resnet_v2", "tensorflow/keras-applications/resnet")
_DENSENET: Final = Family("densenet", "tensorflow/keras-applications/densenet")
_CONVNEXT: Final = Family("convnext", "tensorflow/keras-applications/convnext", scales_inside=True)
_XCEPTION: Final = Family("xception", "tensorflow/keras-applications/xception", least_side=71)
_INCEPTION_V3: Final = Family(
    "inception_v3", "tensorflow/keras-applications/inception_v3", least_side=75
)
_INCEPTION_RESNET_V2: Final = Family(
    "inception_resnet_v2", "tensorflow/keras-applications/inception_resnet_v2", least_side=75
)
_NASNET: Final = Family("nasnet", "tensorflow/keras-applications/nasnet")
_VGG16: Final = Family("vgg16", "tensorflow/keras-applications/vgg16")
_VGG19: Final = Family("vgg19", "tensorflow/keras-applications/vgg19")

APPLICATIONS: Final = (
    Application(
        "MobileNetV3Small",
        _MOBILENET_V3,
        939_120,
        224,
        "weights_mobilenet_v3_small_224_1.0_float_no_top_v2.h5",
        "d3e8ec802a04aa4fc771ee12a9a9b836",
    ),
    Application(
        "MobileNetV3Large",
        _MOBILENET_V3,
        2_996_352,
        224,
        "weights_mobilenet_v3_large_224_1.0_float_no_top_v2.h5",
        "07fb09a5933dd0c8eaafa16978110389",
    ),
    Application(
        "MobileNetV2",
        _MOBILENET_V2,
        2_257_984,
        224,
        "mobilenet_v2_weights_tf_dim_ordering_tf_kernels_1.0_224_no_top.h5",
        "",
    ),
    Application(
        "MobileNet",
        _MOBILENET,
        3_228_864,
        224,
        "mobilenet_1_0_224_tf_no_top.h5",
        "",
    ),
    Application(
        "EfficientNetB0",
        _EFFICIENTNET,
        4_049_571,
        224,
        "efficientnetb0_notop.h5",
        "50bc09e76180e00e4465e1a485ddc09d",
    ),
    Application(
        "EfficientNetB1",
        _EFFICIENTNET,
        6_575_239,
        240,
        "efficientnetb1_notop.h5",
        "74c4e6b3e1f6a1eea24c589628592432",
    ),
    Application(
        "EfficientNetB2",
        _EFFICIENTNET,
        7_768_569,
        260,
        "efficientnetb2_notop.h5",
        "111f8e2ac8aa800a7a99e3239f7bfb39",
    ),
    Application(
        "EfficientNetB3",
        _EFFICIENTNET,
        10_783_535,
        300,
        "efficientnetb3_notop.h5",
        "af6d107764bb5b1abb91932881670226",
    ),
    Application(
        "EfficientNetB4",
        _EFFICIENTNET,
        17_673_823,
        380,
        "efficientnetb4_notop.h5",
        "ebc24e6d6c33eaebbd558eafbeedf1ba",
    ),
    Application(
        "EfficientNetB5",
        _EFFICIENTNET,
        28_513_527,
        456,
        "efficientnetb5_notop.h5",
        "38879255a25d3c92d5e44e04ae6cec6f",
    ),
    Application(
        "EfficientNetB6",
        _EFFICIENTNET,
        40_960_143,
        528,
        "efficientnetb6_notop.h5",
        "9ecce42647a20130c1f39a5d4cb75743",
    ),
    Application(
        "EfficientNetB7",
        _EFFICIENTNET,
        64_097_687,
        600,
        "efficientnetb7_notop.h5",
        "cbcfe4450ddf6f3ad90b1b398090fe4a",
    ),
    Application(
        "EfficientNetV2B0",
        _EFFICIENTNET_V2,
        5_919_312,
        224,
        "efficientnetv2-b0_notop.h5",
        "893217f2bb855e2983157299931e43ff",
    ),
    Application(
        "EfficientNetV2B1",
        _EFFICIENTNET_V2,
        6_931_124,
        240,
        "efficientnetv2-b1_notop.h5",
        "0e80663031ca32d657f9caa404b6ec37",
    ),
    Application(
        "EfficientNetV2B2",
        _EFFICIENTNET_V2,
        8_769_374,
        260,
        "efficientnetv2-b2_notop.h5",
        "1dfe2e7a5d45b6632553a8961ea609eb",
    ),
    Application(
        "EfficientNetV2B3",
        _EFFICIENTNET_V2,
        12_930_622,
        300,
        "efficientnetv2-b3_notop.h5",
        "f6abf7b5849ac99a89b50dd3fd532856",
    ),
    Application(
        "EfficientNetV2S",
        _EFFICIENTNET_V2,
        20_331_360,
        384,
        "efficientnetv2-s_notop.h5",
        "af0682fb74e8c54910f2d4393339c070",
    ),
    Application(
        "EfficientNetV2M",
        _EFFICIENTNET_V2,
        53_150_388,
        480,
        "efficientnetv2-m_notop.h5",
        "1b8dc055df72dde80d614482840fe342",
    ),
    Application(
        "EfficientNetV2L",
        _EFFICIENTNET_V2,
        117_746_848,
        480,
        "efficientnetv2-l_notop.h5",
        "b0b66b5c863aef5b46e8608fe1711615",
    ),
    Application(
        "ResNet50",
        _RESNET,
        23_587_712,
        224,
        "resnet50_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "4d473c1dd8becc155b73f8504c6f6626",
    ),
    Application(
        "ResNet101",
        _RESNET,
        42_658_176,
        224,
        "resnet101_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "88cf7a10940856eca736dc7b7e228a21",
    ),
    Application(
        "ResNet152",
        _RESNET,
        58_370_944,
        224,
        "resnet152_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "ee4c566cf9a93f14d82f913c2dc6dd0c",
    ),
    Application(
        "ResNet50V2",
        _RESNET_V2,
        23_564_800,
        224,
        "resnet50v2_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "fac2f116257151a9d068a22e544a4917",
    ),
    Application(
        "ResNet101V2",
        _RESNET_V2,
        42_626_560,
        224,
        "resnet101v2_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "c0ed64b8031c3730f411d2eb4eea35b5",
    ),
    Application(
        "ResNet152V2",
        _RESNET_V2,
        58_331_648,
        224,
        "resnet152v2_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "ed17cf2e0169df9d443503ef94b23b33",
    ),
    Application(
        "DenseNet121",
        _DENSENET,
        7_037_504,
        224,
        "densenet121_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "30ee3e1110167f948a6b9946edeeb738",
    ),
    Application(
        "DenseNet169",
        _DENSENET,
        12_642_880,
        224,
        "densenet169_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "b8c4d4c20dd625c148057b9ff1c1176b",
    ),
    Application(
        "DenseNet201",
        _DENSENET,
        18_321_984,
        224,
        "densenet201_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "c13680b51ded0fb44dff2d8f86ac8bb1",
    ),
    Application(
        "ConvNeXtTiny",
        _CONVNEXT,
        27_820_128,
        224,
        "convnext_tiny_notop.h5",
        "d547c096cabd03329d7be5562c5e14798aa39ed24b474157cef5e85ab9e49ef1",
    ),
    Application(
        "ConvNeXtSmall",
        _CONVNEXT,
        49_454_688,
        224,
        "convnext_small_notop.h5",
        "6fc8009faa2f00c1c1dfce59feea9b0745eb260a7dd11bee65c8e20843da6eab",
    ),
    Application(
        "ConvNeXtBase",
        _CONVNEXT,
        87_566_464,
        224,
        "convnext_base_notop.h5",
        "40a20c5548a5e9202f69735ecc06c990e6b7c9d2de39f0361e27baeb24cb7c45",
    ),
    Application(
        "ConvNeXtLarge",
        _CONVNEXT,
        196_230_336,
        224,
        "convnext_large_notop.h5",
        "96f02b6f0753d4f543261bc9d09bed650f24dd6bc02ddde3066135b63d23a1cd",
    ),
    Application(
        "ConvNeXtXLarge",
        _CONVNEXT,
        348_147_968,
        224,
        "convnext_xlarge_notop.h5",
        "de3f8a54174130e0cecdc71583354753d557fcf1f4487331558e2a16ba0cfe05",
    ),
    Application(
        "Xception",
        _XCEPTION,
        20_861_480,
        299,
        "xception_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "b0042744bf5b25fce3cb969f33bebb97",
    ),
    Application(
        "InceptionV3",
        _INCEPTION_V3,
        21_802_784,
        299,
        "inception_v3_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "bcbd6486424b2319ff4ef7d526e38f63",
    ),
    Application(
        "InceptionResNetV2",
        _INCEPTION_RESNET_V2,
        54_336_736,
        299,
        "inception_resnet_v2_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "d19885ff4a710c122648d3b5c3b684e4",
    ),
    Application(
        "NASNetMobile",
        _NASNET,
        4_269_716,
        224,
        "NASNet-mobile-no-top.h5",
        "1ed92395b5b598bdda52abe5c0dbfd63",
        kept_as="nasnet_mobile_no_top.h5",
    ),
    Application(
        "NASNetLarge",
        _NASNET,
        84_916_818,
        331,
        "NASNet-large-no-top.h5",
        "d81d89dc07e6e56530c4e77faddd61b5",
        kept_as="nasnet_large_no_top.h5",
    ),
    Application(
        "VGG16",
        _VGG16,
        14_714_688,
        224,
        "vgg16_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "6d6bbae143d832006294945121d1f1fc",
    ),
    Application(
        "VGG19",
        _VGG19,
        20_024_384,
        224,
        "vgg19_weights_tf_dim_ordering_tf_kernels_notop.h5",
        "253f8cb515780f3b799900260a226db6",
    ),
)
"""By family, the smallest of each first."""
