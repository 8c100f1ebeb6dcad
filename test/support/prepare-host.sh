#!/bin/sh
# prepare-host.sh ROOT GIVEN: makes a machine of ROOT. GIVEN holds what differs between machines: `files` (put over ROOT), `users` (one
# a line: NAME SUDO LINGER, yes or no), `authorized_keys`, and a copy of the stand-in vLLM.
set -eu
root=$1 given=$2

cp -R "$given/files/." "$root/"
chown -R 0:0 "$root/etc/ssh" "$root/etc/sudoers.d"
chmod 600 "$root"/etc/ssh/ssh_host_*_key
printf 'UseDNS no\nMaxStartups 200\nLogLevel VERBOSE\n' >>"$root/etc/ssh/sshd_config"

mkdir -p "$root/var/lib/systemd/linger"
while read -r name sudo linger; do
  [ "$name" = root ] || chroot "$root" useradd --create-home --shell /bin/bash "$name"
  if [ "$sudo" = yes ]; then
    printf '%s ALL=(ALL) NOPASSWD: ALL\n' "$name" >"$root/etc/sudoers.d/$name"
    chmod 440 "$root/etc/sudoers.d/$name"
  fi
  [ "$linger" = no ] || : >"$root/var/lib/systemd/linger/$name"
  home=$root/home/$name
  [ "$name" != root ] || home=$root/root
  mkdir -p "$home/.ssh"
  cp "$given/authorized_keys" "$home/.ssh/authorized_keys"
  chmod 700 "$home/.ssh"
  chmod 600 "$home/.ssh/authorized_keys"
  chroot "$root" chown -R "$name:" "${home#"$root"}/.ssh"
done <"$given/users"

# A real nvidia-smi is found by every user, and a real GPU forgets when the power goes: what is held lies in /run.
cp -R "$given/stand-in" "$root/opt/stand-in-source"
printf '{"count": 8, "state": "/run/stand-in-gpus"}\n' >"$root/opt/gpus.json"
chroot "$root" python3 -B /opt/stand-in-source/lay_out.py /opt/vllm --gpus /opt/gpus.json >/dev/null
rm -r "$root/opt/stand-in-source"
printf 'd /run/stand-in-gpus 0777\n' >"$root/etc/tmpfiles.d/stand-in-gpus.conf"
# shellcheck disable=SC2016 # for the shell that runs it
printf '#!/bin/sh\nexec /opt/vllm/gpu/nvidia-smi "$@"\n' >"$root/usr/local/bin/nvidia-smi"
chmod 755 "$root/usr/local/bin/nvidia-smi"
