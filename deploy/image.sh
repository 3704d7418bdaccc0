#!/usr/bin/env bash
# Builds the container image around a program that was already built: `deploy/image.sh bin/scorel scorel`.
# What is in it says the last stage of deploy/Dockerfile, which builds the program too. The image
# has no shell: the program, certificates of authorities, and an empty folder for data.
set -euo pipefail
program=$1 name=$2 version=${3:-dev}
cd "$(dirname "$0")/.."
[ "$(head -c 4 "$program" | tr -d '\0')" = "$(printf '\177ELF')" ] || {
	echo "$program is not a Linux program: build it with GOOS=linux" >&2
	exit 1
}
authorities=
for file in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
	[ -n "$authorities" ] || [ ! -s "$file" ] || authorities=$file
done
[ -n "$authorities" ] || {
	echo "no certificates of authorities were found: install ca-certificates, or set SSL_CERT_FILE" >&2
	exit 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder" "$folder.log"' EXIT
mkdir "$folder/data" && chmod 0700 "$folder/data"
cp "$program" "$folder/scorel"
cp "$authorities" "$folder/ca-certificates.crt"
echo container >"$folder/package"
chmod 0755 "$folder/scorel" && chmod 0644 "$folder/ca-certificates.crt" "$folder/package"
sed -n '/^FROM scratch/,$p' deploy/Dockerfile | sed -e 's/--from=build //' -e 's,/out/,,' >"$folder/Dockerfile"
docker build --quiet --build-arg "VERSION=$version" --tag "$name" "$folder" >"$folder.log" 2>&1 || {
	cat "$folder.log" >&2
	exit 1
}
