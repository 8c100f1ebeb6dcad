# shellcheck shell=sh
# persistence.sh: persistence mode of all GPUs is on, also after a reboot where there is systemd.
# nvidia-persistenced of Debian and Ubuntu is started with --no-persistence-mode, so it does not do it.
# Source: NVIDIA, Driver Persistence; nvidia-persistenced.service of Ubuntu 24.04.

unit=nvidia-persistence-mode.service
file=/etc/systemd/system/$unit

unit_text() {
  printf '%s\n' \
    '[Unit]' \
    'Description=Persistence mode of the NVIDIA GPUs' \
    'After=nvidia-persistenced.service' \
    '' \
    '[Service]' \
    'Type=oneshot' \
    'RemainAfterExit=yes' \
    "ExecStart=$1 -pm 1" \
    '' \
    '[Install]' \
    'WantedBy=multi-user.target'
}

main() {
  program=$(command -v nvidia-smi) || fail "found no nvidia-smi, need an NVIDIA driver" "driver.install"
  if has_systemd; then
    wanted=$(unit_text "$program")
    if [ "$(cat "$file" 2>/dev/null)" != "$wanted" ]; then
      printf '%s\n' "$wanted" >"$file.new"
      mv "$file.new" "$file"
      systemctl daemon-reload
      changed "wrote $file"
    fi
    if ! systemctl --quiet is-enabled "$unit" 2>/dev/null; then
      systemctl --quiet enable "$unit"
      changed "$unit is started at boot"
    fi
  fi
  modes=$(nvidia-smi --query-gpu=persistence_mode --format=csv,noheader) ||
    fail "nvidia-smi does not tell persistence mode" "dmesg of the host says why"
  if printf '%s\n' "$modes" | grep -qx Disabled; then
    if has_systemd; then systemctl restart "$unit"; else nvidia-smi -pm 1 >&2; fi ||
      fail "persistence mode could not be switched on" "persistenceMode: false, or see \`nvidia-smi -pm 1\` on the host"
    changed "persistence mode is on"
  fi
}

main "$@" </dev/null
