#!/bin/sh
# Sends a prompt to the host of this machine and prints the last message of the agent:
#
#	SCOREL_TOKEN=$(scorel host token create --grants view,prompt --label script) ./prompt.sh FOLDER TEXT
#
# It needs curl and jq. FOLDER must be a project of the host (scorel project add).
set -eu
folder=$1 text=$2
host=http://${SCOREL_ADDR:-$(scorel host status --json | jq -r .addr)}

# post NAME JSON sends one request. A refused one is an error with the message of the host.
post() {
	answer=$(printf '%s' "$2" | curl -sS --data-binary @- -H "Authorization: Bearer $SCOREL_TOKEN" -H 'Content-Type: application/json' "$host/v1/$1")
	problem=$(printf '%s' "$answer" | jq -r '.error.message // empty')
	[ -z "$problem" ] || { echo "$1: $problem" >&2; exit 1; }
	printf '%s' "$answer"
}

# A clientKey of ours makes it safe to repeat a request whose answer was lost.
key=$(date +%s)-$$
project=$(post list_projects '{}' | jq -r --arg folder "$folder" '.projects[] | select(.path == $folder).id')
[ -n "$project" ] || { echo "$folder is not a project of this host" >&2; exit 1; }
session=$(post create_session "$(jq -n --arg project "$project" --arg key "$key" '{projectId: $project, clientKey: $key}')" | jq -r .session.id)
post 'send_prompt?wait=turn' "$(jq -n --arg session "$session" --arg key "$key" --arg text "$text" '{sessionId: $session, clientKey: $key, text: $text}')" | jq -r .turn.text
