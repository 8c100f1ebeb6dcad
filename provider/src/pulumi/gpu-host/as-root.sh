# shellcheck shell=sh
# Runs the script that comes on stdin as root: `sh -c THIS sh HOST WORD...`. Its lines are joined with blanks, for a word of csh holds no line break.
if [ "$(id -u)" = 0 ]; then exec sh -s -- "$@"; fi;
if sudo -n true 2>/dev/null; then exec sudo -n sh -s -- "$@"; fi;
echo "Cannot prepare $1: found that $(id -un) may not use sudo without a password, need root" >&2;
echo "  change: connection.user (root, or a user with NOPASSWD in sudoers)" >&2;
exit 1
