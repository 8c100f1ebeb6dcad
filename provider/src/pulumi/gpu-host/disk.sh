# shellcheck shell=sh
# disk.sh DEVICE PATH FORMAT OWNER: the file system of DEVICE (/dev/..., or UUID=...) is mounted on PATH, now and at boot. FORMAT ext4 or
# xfs: a disk on which nothing at all is found is formatted; "": it never is. OWNER: whose PATH is; "": as it is.

source_of() {
  case $1 in
    UUID=*) blkid -U "${1#UUID=}" || true ;;
    *) readlink -f -- "$1" || true ;;
  esac
}

# What lies on a disk: the type of its file system; "" for nothing at all.
type_of() {
  status=0
  found=$(blkid -p -o export -- "$1") || status=$?
  if [ "$status" = 0 ]; then
    type=$(printf '%s\n' "$found" | sed -n 's/^TYPE=//p')
    [ "$type" != "" ] || fail "found a partition table on $device, need a file system" "disks.device: one of its partitions"
    printf '%s\n' "$found" | grep -qx USAGE=filesystem ||
      fail "found $type on $device, need a file system" "disks.device"
    printf '%s' "$type"
    return
  fi
  # 2 is nothing, and also a disk that cannot be read.
  if [ "$status" != 2 ] || ! head -c 4096 "$1" >/dev/null; then
    fail "what lies on $device is not clear" "look at it with blkid and wipefs"
  fi
  [ "$(wipefs --no-act --parsable "$1")" = "" ] || fail "found traces of a file system on $device" "look at it with wipefs"
  [ "$(lsblk -n -o NAME "$1" | wc -l)" = 1 ] || fail "found that other devices use $device" "look at it with lsblk"
}

note_in_fstab() {
  uuid=$(blkid -p -s UUID -o value "$source")
  noted=$(awk -v path="$path" '$1 !~ /^#/ && $2 == path { print $1; exit }' /etc/fstab)
  case $noted in
    "UUID=$uuid" | "$source" | "$device") return ;;
    "") ;;
    *) fail "found $noted for $path in /etc/fstab, need $device" "disks.path, or that line" ;;
  esac
  [ ! -s /etc/fstab ] || [ "$(tail -c 1 /etc/fstab)" = "" ] || echo >>/etc/fstab
  # nofail: a host without its disk still boots, and can be looked at.
  printf 'UUID=%s %s %s defaults,nofail 0 2\n' "$uuid" "$path" "$type" >>/etc/fstab
  ! has_systemd || systemctl daemon-reload
  changed "/etc/fstab mounts $device on $path"
}

main() {
  device=$1 path=$2 format=$3 owner=$4
  case $path in
    *[[:space:]]*) fail "found a blank in \"$path\"" "disks.path" ;;
    /?*) ;;
    *) fail "found \"$path\", need an absolute path" "disks.path" ;;
  esac
  source=$(source_of "$device")
  [ -b "$source" ] || fail "found no disk $device" "disks.device (\`lsblk -f\` lists them)"
  mounted=$(findmnt -n -o SOURCE --mountpoint "$path") || mounted=
  if [ "$mounted" != "" ]; then
    [ "$(readlink -f -- "$mounted")" = "$source" ] ||
      fail "found $mounted mounted on $path, need $device" "disks.path"
    type=$(findmnt -n -o FSTYPE --mountpoint "$path")
  else
    elsewhere=$(findmnt -n -o TARGET --source "$source" | head -n 1) || elsewhere=
    [ "$elsewhere" = "" ] || fail "found $device mounted on $elsewhere, need it on $path" "disks.path"
    type=$(type_of "$source")
    if [ "$type" = "" ]; then
      [ "$format" != "" ] || fail "found no file system on $device" "disks.formatWhenEmpty: \"ext4\", if it may be formatted"
      command -v "mkfs.$format" >/dev/null || fail "found no mkfs.$format" "packages (xfsprogs brings mkfs.xfs)"
      "mkfs.$format" -q "$source" >&2 || fail "$device could not be formatted" "disks.device"
      type=$format
      changed "formatted $device as $format"
    fi
  fi
  if [ "$mounted" = "" ]; then
    mkdir -p "$path"
    [ "$(ls -A "$path")" = "" ] || fail "found files in $path, which the disk would hide" "disks.path, or move them"
    mount "$source" "$path" || fail "$device could not be mounted on $path" "disks.device"
    changed "mounted $device on $path"
  fi
  note_in_fstab
  if [ "$owner" != "" ] && [ "$(stat -c %U "$path")" != "$owner" ]; then
    chown "$owner:" "$path"
    changed "$path is $owner's"
  fi
}

main "$@" </dev/null
