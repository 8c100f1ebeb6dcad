# shellcheck shell=sh
# driver.sh MINIMUM PACKAGE: an NVIDIA driver of at least MINIMUM works. PACKAGE is installed where there is none; "": nothing is installed.
# The last line is "driver VERSION".

main() {
  minimum=$1 package=$2
  if ! command -v nvidia-smi >/dev/null && [ "$package" != "" ]; then
    install_packages "$package"
    changed "installed $package"
    # It loads by itself where no other driver holds the GPUs.
    modprobe nvidia 2>/dev/null || true
  fi
  command -v nvidia-smi >/dev/null ||
    fail "found no NVIDIA driver, need $minimum or newer" \
      "driver.install (a package, such as \"nvidia-driver-570-server\"), or install one by hand"
  said=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>&1) ||
    fail "found an NVIDIA driver that does not answer ($(printf '%s' "$said" | tr '\n' ' ')), need $minimum or newer" \
      "reboot the host after an installation, then \`pulumi up\`; else dmesg says why"
  version=$(printf '%s\n' "$said" | head -n 1)
  lowest=$(printf '%s\n%s\n' "$minimum" "$version" | sort -V | head -n 1)
  [ "$lowest" = "$minimum" ] ||
    fail "found NVIDIA driver $version, need $minimum or newer" "upgrade the driver by hand, or driver.minimum"
  printf 'driver %s\n' "$version"
}

main "$@" </dev/null
