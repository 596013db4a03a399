"""The HTML document around the page: what link previews read, and which tab is open from the first moment on.

Gradio writes previews of its own into the document and opens the first tab before an event could ask for another, so
both are put right in the answer itself.
"""

import html
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gradio.route_utils import get_root_url
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from app import preview

PICTURE = "/preview.png"
# Before any other script of the document, so that the page is built with the tab of its address.
FIRST_SCRIPT = Path(__file__).parent / "assets" / "first.js"
# Gradio's previews; and its base "./", which changes no address, but lets plotly write the page's whole address into
# figures, whose colour bars and clips are lost when the address changes.
_NOT_OURS = re.compile(r'<(?:meta\s+(?:property|name)="(?:og|twitter):|base\s)[^>]*>\s*')


def own_head(document: str, root: str, tabs: Sequence[str]) -> str:
    """The document with our own previews instead of Gradio's and without a base, and the script that opens a tab."""
    told = {"title": preview.TITLE, "description": preview.describe(), "image": root + PICTURE}
    metas = [f'<meta property="og:{name}" content="{html.escape(text)}">' for name, text in told.items()]
    metas += [f'<meta name="twitter:{name}" content="{html.escape(text)}">' for name, text in told.items()]
    metas += [
        '<meta property="og:type" content="website">',
        f'<meta property="og:url" content="{html.escape(root)}">',
        f'<meta property="og:image:width" content="{preview.WIDTH}">',
        f'<meta property="og:image:height" content="{preview.HEIGHT}">',
        '<meta name="twitter:card" content="summary_large_image">',
        f'<meta name="description" content="{html.escape(told["description"])}">',
        f"<title>{html.escape(preview.TITLE)}</title>",
    ]
    script = FIRST_SCRIPT.read_text(encoding="utf-8").replace("TABS", repr(list(tabs)))
    head = "\n".join([*metas, f"<script>\n{script}</script>"])
    return _NOT_OURS.sub("", document).replace("</head>", f"{head}\n</head>", 1)


def _picture(request: Request) -> Response:
    return Response(preview.draw(), media_type="image/png", headers={"Cache-Control": "public, max-age=3600"})


# The picture of link previews.
PICTURE_ROUTE = Route(PICTURE, _picture, methods=["GET", "HEAD"])


class OwnHead:
    """Middleware that rewrites the one document of the page; everything else passes untouched."""

    def __init__(self, app: Any, tabs: Sequence[str]) -> None:
        """Around an app.

        Args:
            tabs: Names of the tabs in addresses.
        """
        self._app = app
        self._tabs = tabs

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] != "GET" or scope["path"].rstrip("/") != "":
            await self._app(scope, receive, send)
            return
        root = get_root_url(Request(scope), route_path="/", root_path=scope.get("root_path") or None)
        start: dict[str, Any] = {}
        content = bytearray()

        async def collect(message: Any) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
                return
            content.extend(message.get("body", b""))
            if message.get("more_body"):
                return
            headers = MutableHeaders(scope=start)
            body = bytes(content)
            if headers.get("content-type", "").startswith("text/html"):
                body = own_head(body.decode(), root, self._tabs).encode()
                headers["content-length"] = str(len(body))
            await send(start)
            await send({"type": "http.response.body", "body": body})

        await self._app(scope, receive, collect)
