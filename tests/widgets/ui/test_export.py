"""Files and pictures that dashboards hand over."""

from lvmkit_widgets.ui.export import image


def test_what_pictures_of_notebooks_show_is_named_as_text():
    shown = image("<svg/>", 'Ward "3"><script>alert(1)</script>')
    assert "<script" not in shown
    assert 'alt="Ward &quot;3&quot;&gt;' in shown
