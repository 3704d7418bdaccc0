#!/bin/sh
# Starts a host in the checked-out repository, sends one prompt, and hands its answer on as the
# output "text" of the step. The model's key comes from the environment, such as ANTHROPIC_API_KEY.
set -eu
home=$(mktemp -d)
host=
finish() {
	code=$?
	[ -z "$host" ] || { kill "$host" 2>/dev/null && wait "$host" || true; }
	rm -rf "$home"
	exit "$code"
}
trap finish EXIT
trap 'exit 143' INT TERM

export SCOREL_HOME="$home"
mkfifo "$home/ready"
scorel host serve --no-relay --project . --json >"$home/ready" 2>"$home/host.log" &
host=$!
# The host prints one line when it serves, and nothing if it cannot start.
exec 3<"$home/ready"
read -r ready <&3 || { cat "$home/host.log" >&2; exit 1; }

# Nobody is there to answer: what needs an approval is denied.
scorel send --project . --mode "${INPUT_MODE:-plan}" -- "$INPUT_PROMPT" </dev/null >"$home/answer"
cat "$home/answer"
end=scorel_$(od -An -N8 -tx1 /dev/urandom | tr -d ' \n')
{
	echo "text<<$end"
	cat "$home/answer"
	echo "$end"
} >>"$GITHUB_OUTPUT"
