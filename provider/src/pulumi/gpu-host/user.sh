# shellcheck shell=sh
# user.sh USER LINGER KEY...: an account for servers, which these public keys let in. LINGER yes: its services run without a login.
# No key is taken away.

add_keys() {
  # As that user: a link in their home leads to nothing that they could not write themselves.
  # shellcheck disable=SC2016 # for the shell that runs it
  runuser -u "$user" -- sh -euc '
    home=$1
    shift
    umask 077
    mkdir -p "$home/.ssh"
    file=$home/.ssh/authorized_keys
    [ ! -s "$file" ] || [ -z "$(tail -c 1 "$file")" ] || echo >>"$file"
    for key in "$@"; do
      if ! grep -qxF -- "$key" "$file" 2>/dev/null; then
        printf "%s\n" "$key" >>"$file"
        echo "changed: a key lets $(id -un) in"
      fi
    done' sh "$@"
}

main() {
  user=$1 linger=$2
  shift 2
  if ! getent passwd "$user" >/dev/null; then
    useradd --create-home --shell /bin/bash -- "$user" ||
      fail "useradd does not make an account \"$user\"" "user.name"
    changed "made the account $user"
  fi
  add_keys "$(getent passwd "$user" | cut -d : -f 6)" "$@"
  if [ "$linger" = yes ] && has_systemd && [ ! -e "/var/lib/systemd/linger/$user" ]; then
    loginctl enable-linger "$user" || fail "linger of $user could not be switched on" "user.linger: false"
    changed "services of $user run without a login"
  fi
}

main "$@" </dev/null
