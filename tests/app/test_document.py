"""The HTML document around the page: previews of links are ours, and the tab of the address is open at once."""

import re
import struct
import urllib.request

from app import preview
from app.document import PICTURE, own_head
from app.links import Link

GRADIO_HEAD = """<head><base href="./" /><meta property="og:title" content="Gradio" />
<meta
  name="twitter:image"
  content="https://example.org/gradio.jpg"
/><meta name="viewport" content="width=device-width"></head><body></head></body>"""


def read(address: str, **headers: str) -> tuple[bytes, str]:
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers)) as answer:
        return answer.read(), answer.headers["content-type"]


def test_previews_name_the_project_and_nothing_of_gradio(server):
    document = read(server.address + "/?tab=gates")[0].decode()
    metas = dict(re.findall(r'<meta (?:property|name)="((?:og|twitter):\w+)" content="([^"]*)">', document))
    assert document.count("og:title") == document.count("twitter:title") == 1
    assert metas["og:title"] == metas["twitter:title"] == preview.TITLE
    assert "After 1,000 steps on wikitext-2, Time-Indexed SSM reaches" in metas["og:description"]
    assert not [text for text in metas.values() if "gradio" in text.lower()]
    picture, kind = read(metas["og:image"])
    assert kind == "image/png"
    assert struct.unpack(">II", picture[16:24]) == (preview.WIDTH, preview.HEIGHT)


def test_behind_a_proxy_the_picture_has_the_public_address(server):
    public = {"X-Forwarded-Host": "demo.example.org", "X-Forwarded-Proto": "https"}
    document = read(server.address + "/", **public)[0].decode()
    assert f'content="https://demo.example.org{PICTURE}"' in document


def test_only_the_head_of_the_document_changes():
    changed = own_head(GRADIO_HEAD, "http://here", ["generate", "gates"])
    assert '<meta name="viewport" content="width=device-width">' in changed
    assert changed.endswith("</head><body></head></body>")
    assert "example.org" not in changed
    assert "<base" not in changed
    assert "['generate', 'gates'].includes(tab)" in changed


def test_a_page_without_records_has_a_preview_too(tmp_path, monkeypatch):
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    assert preview.describe() == preview.IDEA
    assert preview.draw().startswith(b"\x89PNG")


def test_a_page_whose_records_are_damaged_has_a_preview_too(tmp_path, monkeypatch):
    (tmp_path / "runs.jsonl").write_text("nothing")
    monkeypatch.setenv("TIPSHARE_CHECKPOINTS", str(tmp_path))
    assert preview.describe() == preview.IDEA


def test_a_link_to_one_tab_says_nothing_about_another():
    link = Link({"tab": "gates", "models": "a;b", "t": "0.5"}, "results")
    assert link.some_of("models", None, ["a"]) is None
    assert link.number("t", 0.1, 0.0, 1.0) == 0.1
    here = Link({"tab": "results", "models": "a;b"}, "results")
    assert here.some_of("models", None, ["a", "b", "c"]) == ["a", "b"]
