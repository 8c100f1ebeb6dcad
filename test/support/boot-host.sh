#!/bin/sh
# boot-host.sh IMAGE FOLDER CGROUP COMMAND...: runs COMMAND with FOLDER/root being IMAGE plus a writable layer.
# To be started by `unshare --mount --pid`: the mounts are gone with the last process that sees them.
set -eu
image=$1 folder=$2 cgroup=$3
shift 3

mount -t overlay overlay -o "lowerdir=$image,upperdir=$folder/upper,workdir=$folder/work" "$folder/root"

if [ "$cgroup" != none ]; then
  # A branch of its own: systemd-nspawn would boot every machine into the same one, where their units get mixed up.
  for hierarchy in /sys/fs/cgroup/systemd /sys/fs/cgroup/unified /sys/fs/cgroup; do
    [ -f "$hierarchy/cgroup.procs" ] || continue
    mkdir -p "$hierarchy/$cgroup"
    echo 0 >"$hierarchy/$cgroup/cgroup.procs"
  done
  # Locks and sockets of machines, which it leaves when it is killed.
  mkdir -p /run/systemd/nspawn
  mount -t tmpfs tmpfs /run/systemd/nspawn
fi
exec "$@"
