"""Launch settings: nothing leaves the machine, and nothing of it is served."""

from app.serve import is_space, launch_settings
from app.style import css, script


def test_the_page_stays_on_this_machine_unless_it_is_a_space(monkeypatch):
    monkeypatch.delenv("SPACE_ID", raising=False)
    assert launch_settings()["server_name"] == "127.0.0.1"
    monkeypatch.setenv("SPACE_ID", "org/space")
    assert is_space()
    assert launch_settings()["server_name"] == "0.0.0.0"
    assert launch_settings()["share"] is False
    assert not launch_settings().get("allowed_paths")


def test_style_and_script_name_no_other_host():
    for text in (css(), script()):
        assert "http:" not in text
        assert "https:" not in text
        assert "@import" not in text


def test_fonts_are_those_of_the_system():
    assert launch_settings()["theme"]._stylesheets == []
