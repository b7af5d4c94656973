import struct
from base64 import b64decode

import pytest
from hostile import Reader
from ipywidgets import FloatSlider, Image, IntSlider

from ragnb.widgets import Interactive

PNG = b"\x89PNG\r\n\x1a\n" + struct.pack(">I", 13)


@pytest.fixture
def sum_of_two():
    return Interactive(
        lambda a, b: f"a + b = {a + b}\na - b = {a - b}", a=IntSlider(3), b=IntSlider(1)
    )


def test_every_slider_changes_the_result(sum_of_two):
    sum_of_two.children[0].value = 5
    assert Reader(sum_of_two.children[-1].value).text == "a + b = 6a - b = 4"
    sum_of_two.children[1].value = 2
    assert Reader(sum_of_two.children[-1].value).text == "a + b = 7a - b = 3"


def test_where_no_kernel_runs_the_present_result_is_shown(sum_of_two):
    sum_of_two.children[0].value = 5
    bundle = sum_of_two._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert (
        bundle["text/plain"]
        == "a = 5, b = 1 (the slider needs a running kernel)\na + b = 6\na - b = 4"
    )
    assert (
        Reader(bundle["text/html"]).text
        == "a = 5, b = 1 (the slider needs a running kernel)a + b = 6a - b = 4"
    )


def test_a_picture_is_an_image_live_and_where_no_kernel_runs():
    shown = Interactive(lambda width: PNG + bytes([int(width)]), width=FloatSlider(1))
    assert isinstance(shown.children[-1], Image)
    shown.children[0].value = 2
    assert shown.children[-1].value == PNG + b"\x02"
    bundle = shown._repr_mimebundle_()
    assert b64decode(bundle["image/png"]) == PNG + b"\x02"
    assert bundle["text/plain"] == "width = 2.0 (the slider needs a running kernel)"
    assert "text/html" not in bundle
