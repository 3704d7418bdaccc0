#!/bin/sh
# Installs scorel @VERSION@ for Linux and macOS: downloads the program, checks the signature
# and the checksum, and puts it into one folder. It changes nothing else.
#
#   SCOREL_INSTALL_DIR        the folder (default: /usr/local/bin for root, else ~/.local/bin)
#   SCOREL_RELEASE_URL        where the files of this release are, for a mirror
#   SCOREL_REQUIRE_SIGNATURE  if set, fail where no program can check the signature
set -eu

version=@VERSION@
key=@KEY@
url=${SCOREL_RELEASE_URL:-@URL@}

say() { printf '%s\n' "$*"; }
fail() {
	printf 'scorel: %s\n' "$*" >&2
	exit 1
}
have() { command -v "$1" >/dev/null 2>&1; }

platform() {
	case $(uname -s) in
	Linux) os=linux ;;
	Darwin) os=darwin ;;
	*) fail "there is no program for $(uname -s): on Windows use install.ps1" ;;
	esac
	case $(uname -m) in
	x86_64 | amd64) arch=amd64 ;;
	arm64 | aarch64) arch=arm64 ;;
	*) fail "there is no program for $(uname -m)" ;;
	esac
}

# download FILE: over HTTPS only, with curl and GNU wget also after redirects. Other programs named
# wget, as that of BusyBox, follow redirects without an option to limit them. A mirror on this machine
# may use HTTP.
download() {
	case $url in
	https://*) protocol=https ;;
	http://127.0.0.1:* | http://localhost:*) protocol=http ;;
	*) fail "SCOREL_RELEASE_URL must begin with https://" ;;
	esac
	if have curl; then
		curl -fsSL --proto "=$protocol" --proto-redir "=$protocol" --retry 3 -o "$work/$1" "$url/$1"
	elif ! have wget; then
		fail "neither curl nor wget is installed"
	elif wget --version 2>/dev/null | grep -q '^GNU Wget '; then
		follow "$url/$1" "$work/$1"
	else
		wget -q -O "$work/$1" "$url/$1"
	fi || fail "$url/$1 cannot be downloaded"
}

# follow URL FILE: GNU wget would follow a redirect to HTTP too.
follow() {
	at=$1 left=10
	until wget -q -S --max-redirect=0 -O "$2" "$at" 2>"$work/headers"; do
		to=$(sed -n 's/^ *[Ll]ocation: *//p' "$work/headers" | tr -d '\r' | tail -n 1)
		case $to in
		"$protocol"://*) at=$to ;;
		/[!/]*) at=${at%"/${at#*://*/}"}$to ;; # on the same server
		*) return 1 ;;
		esac
		[ $((left -= 1)) -gt 0 ] || return 1
	done
}

# signed checks the signature of SHA256SUMS with minisign or OpenSSL 3. Other machines have
# nothing that can: they trust HTTPS, and `scorel update` checks every later release.
signed() {
	if have minisign; then
		minisign -Vqm "$work/SHA256SUMS" -P "$key" >/dev/null 2>&1 || fail "the signature of this release is not valid: nothing was installed"
		checked="signature and checksum"
	elif openssl version 2>/dev/null | grep -Eq '^OpenSSL ([3-9]|[1-9][0-9])'; then
		# A key of minisign is two bytes, an id of eight and the key. A signature begins alike.
		{
			printf '\060\052\060\005\006\003\053\145\160\003\041\000'
			printf '%s\n' "$key" | openssl base64 -d -A | tail -c 32
		} >"$work/key"
		sed -n 2p "$work/SHA256SUMS.minisig" | openssl base64 -d -A | tail -c 64 >"$work/signature"
		openssl pkeyutl -verify -pubin -keyform DER -inkey "$work/key" -rawin -in "$work/SHA256SUMS" \
			-sigfile "$work/signature" >/dev/null 2>&1 || fail "the signature of this release is not valid: nothing was installed"
		checked="signature and checksum"
	elif [ -n "${SCOREL_REQUIRE_SIGNATURE:-}" ]; then
		fail "the signature cannot be checked: install minisign or OpenSSL 3"
	else
		checked="checksum; install minisign or OpenSSL 3 to check the signature too"
	fi
}

matches() {
	expected=$(awk -v name="$1" '$2 == name { print $1 }' "$work/SHA256SUMS")
	[ -n "$expected" ] || fail "this release has no $1"
	if have sha256sum; then
		actual=$(sha256sum "$work/$1")
	elif have shasum; then
		actual=$(shasum -a 256 "$work/$1")
	elif have openssl; then
		actual=$(openssl dgst -sha256 -r "$work/$1")
	else
		fail "no program for checksums is installed: sha256sum, shasum or openssl"
	fi
	[ "${actual%% *}" = "$expected" ] || fail "the checksum of $1 is wrong: nothing was installed"
}

main() {
	platform
	if [ -n "${SCOREL_INSTALL_DIR:-}" ]; then
		folder=$SCOREL_INSTALL_DIR
	elif [ "$(id -u)" = 0 ]; then
		folder=/usr/local/bin
	else
		folder=${HOME:?}/.local/bin
	fi
	if [ -e "${folder%/bin}/share/scorel/package" ]; then
		fail "scorel in $folder belongs to a package manager: update it there, or set SCOREL_INSTALL_DIR"
	fi
	work=$(mktemp -d)
	# In the folder of the program, so that it is replaced in one step, and tried where it will run: a
	# folder for temporary files may not allow that.
	fresh=$folder/.scorel-new
	trap 'rm -rf "$work" "$fresh"' EXIT
	trap 'exit 130' INT TERM HUP
	archive=scorel_${version}_${os}_${arch}.tar.gz

	download SHA256SUMS
	download SHA256SUMS.minisig
	signed
	download "$archive"
	matches "$archive"
	tar -xzf "$work/$archive" -C "$work" scorel
	mkdir -p "$folder"
	{ cp "$work/scorel" "$fresh" && chmod 755 "$fresh"; } || fail "the program cannot be written to $folder: nothing was installed"
	"$fresh" --version >/dev/null || fail "the program does not run on this machine: nothing was installed"
	[ -e "$folder/scorel" ] && earlier=yes || earlier=
	mv -f "$fresh" "$folder/scorel"

	say "scorel $version is installed in $folder (checked: $checked)."
	next
}

# next says what to run now. A shell finds the program by its name only in the folders of PATH.
next() {
	case :$PATH: in
	*":$folder:"*) program=scorel ;;
	*)
		program=$folder/scorel
		say "Your PATH does not have this folder. To run the program as scorel, add it:"
		say "  export PATH=\"$folder:\$PATH\""
		;;
	esac
	say "Start it with:"
	say "  $program up"
	[ -z "$earlier" ] || say "A host that runs keeps the earlier version until: $program host restart"
}

main # nothing runs before the whole script has arrived
