"""A client of a scorel host, made from the OpenAPI document that the host serves.

It needs Python 3.9 and nothing else. Each request of the document is a method with its fields
as keyword arguments:

    host = Host("127.0.0.1:7430", token)
    for project in host.list_projects()["projects"]:
        print(project["path"])
"""

import json
import urllib.error
import urllib.parse
import urllib.request


class Refused(Exception):
    """The host refused a request. `kind` is for code, the text for people."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


class Host:
    """The requests of one host. `timeout` is in seconds for each request; None waits."""

    def __init__(self, address, token, timeout=None):
        self._url, self._token, self._timeout = "http://" + address, token, timeout
        document = json.loads(self._send("GET", "/v1/openapi.json"))
        self._operations = {
            operation["operationId"]: (path, operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if method == "post"
        }

    def __getattr__(self, name):
        if name.startswith("_") or name not in self._operations:
            raise AttributeError(f"the host has no request {name}")
        path, operation = self._operations[name]
        queries = {each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"}

        def call(**fields):
            query = {key: fields.pop(key) for key in queries & fields.keys()}
            address = path + ("?" + urllib.parse.urlencode(query) if query else "")
            return json.loads(self._send("POST", address, json.dumps(fields).encode()) or "{}")

        call.__name__, call.__doc__ = name, operation["summary"]
        return call

    def _send(self, method, path, body=None):
        headers = {"Authorization": "Bearer " + self._token, "Content-Type": "application/json"}
        request = urllib.request.Request(self._url + path, data=body, headers=headers, method=method)
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as answer:
                return answer.read()
        except urllib.error.HTTPError as failure:
            error = json.loads(failure.read()).get("error", {})
            raise Refused(error.get("kind", "unknown"), error.get("message", str(failure))) from None
