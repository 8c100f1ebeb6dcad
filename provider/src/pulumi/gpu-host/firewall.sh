# shellcheck shell=sh
# firewall.sh PORT...: says what a firewall of this host keeps from these ports. Changes nothing.

main() {
  if ! command -v ufw >/dev/null || ! ufw status | grep -qx 'Status: active'; then
    # shellcheck disable=SC2154 # begin.sh sets host
    printf 'ufw is not active on %s. Rules of nftables and of the network around it are not looked at: they have to let in %s.\n' \
      "$host" "$(printf '%s/tcp ' "$@" | sed 's/ $//; s/ /, /g')"
    return
  fi
  # shellcheck disable=SC2154
  for port in "$@"; do
    if ufw status | grep -Eq "^$port(/tcp)? +ALLOW"; then
      printf 'ufw on %s lets in %s/tcp.\n' "$host" "$port"
    else
      printf 'ufw on %s keeps %s/tcp out. To open it: sudo ufw allow from ADDRESS to any port %s proto tcp\n' "$host" "$port" "$port"
    fi
  done
}

main "$@" </dev/null
