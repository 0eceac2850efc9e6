"""The service under measurement, a bare hyper server and nginx."""

import os
import pathlib
import shutil

from place import Request, free_port, run

BUILT = pathlib.Path(os.environ.get("BUILT", ""))
READY = Request("/readyz")
CARD = (
    '{"front_image_url":"https://images.example.org/sea.jpg","message":"The sea says hello.",'
    '"recipient":{"name":"Ada Lovelace","address":"12 St James Square","city":"London",'
    '"province":"London","postal_code":"SW1Y 4JH","country":"GB"}}'
)
JSON = {"content-type": "application/json"}
# Headers that nginx writes itself.
OWN_HEADERS = ("date", "content-length", "content-type", "etag")
NGINX = """
worker_processes {workers}; daemon off; pid {folder}/nginx.pid; error_log /dev/null;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 100000000; open_file_cache max=100;
  default_type application/json; types {{ text/html html; }}
  server {{ listen 127.0.0.1:{port}; root {folder}/root; {headers} }}
}}
"""


def start_ours(place, name="ours", *, settings="", environment=None, data=None, core=None, ready=READY):
    """Our service with quotas that no load here reaches. `settings` is the text of its pennyblack.toml."""
    folder = place.folder / name
    folder.mkdir()
    (folder / "pennyblack.toml").write_text(settings)
    port = free_port()
    given = {
        "PENNYBLACK_LISTEN": f"127.0.0.1:{port}",
        "PENNYBLACK_BASE_URL": f"http://127.0.0.1:{port}",
        "PENNYBLACK_DATA": str(data or folder / "data"),
        "PENNYBLACK_LOG": "warn",
        "PENNYBLACK_SANDBOX_PORT": "0",
        "PENNYBLACK_DISCOVERY_QUOTA": "4000000000",
        **(environment or {}),
    }
    return place.start(name, [BUILT / "pennyblack"], port, ready=ready, environment=given, core=core, cwd=folder)


def save_answer(place, name, url, request=None):
    """Writes head and body of an answer to files, as the bare server reads them."""
    head, body = place.folder / f"{name}.head", place.folder / f"{name}.body"
    command = ["curl", "-s", "-D", head, "-o", body, url]
    if request:
        command += ["--data-raw", request.body]
        command += [word for header in request.headers.items() for word in ("-H", ": ".join(header))]
    run(command)
    return head, body


def start_bare(place, name, answer, *, status=200, core=None):
    """A hyper server that returns one saved answer to every request: the limit of the machine and wrk."""
    port = free_port()
    command = [BUILT / "examples" / "bare_hyper", f"127.0.0.1:{port}", *answer]
    return place.start(name, command, port, ready=Request("/", status), core=core)


def start_nginx(place, documents, core=None):
    """nginx with these saved answers as files. Its headers are those of the first."""
    root, port = place.folder / "root", free_port()
    root.mkdir()
    for file, (_, body) in documents.items():
        shutil.copy(body, root / file)
    head = next(iter(documents.values()))[0].read_text().splitlines()
    given = [line.split(": ", 1) for line in head if ": " in line]
    quoted = lambda value: "'" + value.replace("'", "\\'") + "'"
    headers = " ".join(f"add_header {name} {quoted(value)};" for name, value in given if name not in OWN_HEADERS)
    config = place.folder / "nginx.conf"
    config.write_text(
        NGINX.format(workers=os.cpu_count() if core is None else 1, folder=place.folder, port=port, headers=headers)
    )
    command = ["nginx", "-c", config, "-p", place.folder]
    return place.start("nginx", command, port, ready=Request("/" + next(iter(documents))), core=core)
