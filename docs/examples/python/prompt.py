"""Sends a prompt to a host and prints the last message of the agent:

    SCOREL_ADDR=127.0.0.1:7430 SCOREL_TOKEN=... python3 prompt.py FOLDER TEXT
"""

import os
import sys
import uuid

from scorel_http import Host, Refused


def main(folder, text):
    host = Host(os.environ["SCOREL_ADDR"], os.environ["SCOREL_TOKEN"])
    project = next((each for each in host.list_projects()["projects"] if each["path"] == folder), None)
    if project is None:
        sys.exit(f"{folder} is not a project of this host")
    # A key of ours makes it safe to repeat a request whose answer was lost.
    key = str(uuid.uuid4())
    session = host.create_session(projectId=project["id"], clientKey=key)["session"]
    answer = host.send_prompt(wait="turn", sessionId=session["id"], clientKey=key, text=text)
    print(answer["turn"]["text"])


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refused:
        sys.exit(f"{refused.kind}: {refused}")
