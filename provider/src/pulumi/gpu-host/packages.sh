# shellcheck shell=sh
# packages.sh PACKAGE...: these packages of Debian or Ubuntu are installed. None is upgraded or removed.

main() {
  missing=$(missing_packages "$@")
  [ "$missing" != "" ] || return 0
  # shellcheck disable=SC2086 # names of packages hold no blanks
  install_packages $missing
  changed "installed $(printf '%s' "$missing" | tr '\n' ' ')"
}

main "$@" </dev/null
