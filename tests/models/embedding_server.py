"""A small real server of embeddings."""

import asyncio
import contextlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from everlore.models.fake import FakeEmbedder

DIMENSIONS = 32


class EmbeddingServer:
    """Speaks `POST /v1/embeddings`. `misbehave` changes the answer: it gets the honest one and returns (status, body).
    `refuses` says to which texts it answers 400, and to whatever comes with them. While `hold` is not set no answer comes;
    `asked` is released with each request."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.authorization: str | None = None
        self.misbehave: Callable[[dict[str, Any]], tuple[int, Any]] | None = None
        self.refuses: Callable[[str], bool] = lambda _: False
        self.asked = threading.Semaphore(0)
        self.hold = threading.Event()
        self.hold.set()
        model = FakeEmbedder(dimensions=DIMENSIONS)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(asked)
                outer.authorization = self.headers["Authorization"]
                outer.asked.release()
                outer.hold.wait()
                encoded = asyncio.run(model.encode_passages(asked["input"]))
                data = [{"index": i, "embedding": one.vector.tolist()} for i, one in enumerate(encoded)]
                status, body = (200, {"data": data})
                if self.path != "/v1/embeddings":
                    status, body = (404, {"error": "no such path"})
                elif any(map(outer.refuses, asked["input"])):
                    status, body = (400, {"error": "the input is too long"})
                elif outer.misbehave is not None:
                    status, body = outer.misbehave({"data": data})
                raw = body if isinstance(body, bytes) else json.dumps(body).encode()
                with contextlib.suppress(
                    BrokenPipeError, ConnectionResetError
                ):  # the client was tired of waiting
                    self.send_response(status)
                    self.send_header("Content-Length", str(len(raw)))
                    self.end_headers()
                    self.wfile.write(raw)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1"

    def close(self) -> None:
        self.hold.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
