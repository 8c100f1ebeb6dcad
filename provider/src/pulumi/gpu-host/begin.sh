# shellcheck shell=sh
# Comes before each script of this folder, which is sent over on stdin: `sh -s -- HOST ...`. HOST is for messages. What a script changed it
# tells in lines that begin with "changed: ".
set -eu
LC_ALL=C
PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
DEBIAN_FRONTEND=noninteractive
export LC_ALL PATH DEBIAN_FRONTEND
host=$1
shift

# fail FOUND CHANGE
fail() {
  printf 'Cannot prepare %s: %s\n  change: %s\n' "$host" "$1" "$2" >&2
  exit 1
}

changed() {
  printf 'changed: %s\n' "$1"
}

# Of Debian's packages that are named, those that are not installed, a line each.
missing_packages() {
  command -v apt-get >/dev/null || fail "found no apt-get, need Ubuntu or Debian" "connection.host"
  for package in "$@"; do
    status=$(dpkg-query -W -f '${db:Status-Status}' -- "$package" 2>/dev/null) || status=
    [ "$status" = installed ] || printf '%s\n' "$package"
  done
}

install_packages() {
  apt-get -q -o DPkg::Lock::Timeout=600 update >&2 ||
    fail "apt-get update failed (its lines are above)" "/etc/apt/sources.list, or the network of the host"
  apt-get -q -y -o DPkg::Lock::Timeout=600 install --no-install-recommends -- "$@" >&2 ||
    fail "apt-get could not install $* (its lines are above)" "the names of the packages, or the host's package sources"
}

has_systemd() {
  [ -d /run/systemd/system ]
}
