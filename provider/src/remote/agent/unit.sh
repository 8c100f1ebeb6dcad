# What the units of one vLLM server do beside running vLLM. Their ExecCondition, ExecStartPre, ExecStartPost, ExecStopPost and
# timer call it with one word; systemd runs it as the server's own user. Nothing else of pulumi-vllm stays on the host.
# shellcheck shell=sh
# -O is no POSIX, but dash, bash and busybox have it; names are those of processes, sockets and our own numbers.
# shellcheck disable=SC3067,SC2010,SC2012,SC2094
#
# Set above by whoever installed it: folder (of the server), temp (its TMPDIR), unit, port, restarts (allowed in a row
# without ever serving), keep (logs), log_bytes (most bytes of a log).
#
# It keeps in the folder: started (generation, boot, time of the newest start), exits (a line each), shm (boot, then the
# names a line that its processes had mapped), shm-before (names that were there before the start), served (the newest
# generation that listened), unserved (boot, starts in a row that never listened, the first of them).
: "${folder:?}" "${temp:?}" "${unit:?}" "${port:?}" "${restarts:?}" "${keep:?}" "${log_bytes:?}"
cd "$folder" || exit 255
umask 077

# Names the boot as pulumi-vllm does: the kernel's, and when process 1 began (a container starts anew within one).
boot=$(cat /proc/sys/kernel/random/boot_id)
first=$(sed 's/.*) //' /proc/1/stat 2>/dev/null | cut -d ' ' -f 20)
boot=$boot${first:+"+$first"}
generation=
read -r generation _ 2>/dev/null <started
count=0
first_unserved=
read -r unserved_boot unserved first_failed 2>/dev/null <unserved
if [ "$unserved_boot" = "$boot" ]; then
  count=$unserved
  first_unserved=$first_failed
fi

now() { date -u +%Y-%m-%dT%H:%M:%SZ; }

replace() { cat >"$1.new" && mv "$1.new" "$1"; }

# A server that is being stopped, that failed while somebody watched, or that has failed too often in a row without ever
# serving is not started again: a model that takes minutes until it fails never meets StartLimitBurst.
allowed() {
  [ ! -e stop-intent ] && [ ! -e no-restart ] && [ "$count" -le "$restarts" ]
}

# Takes away what the start before left, counts this one, and gives it a log of its own.
prepare() {
  mkdir -p logs "$temp" || exit 1
  clean
  case $generation in
    '' | *[!0-9]*) generation=$(generations | tail -n 1) ;;
  esac
  generation=$((${generation:-0} + 1))
  generations | head -n "-$((keep - 1))" | while read -r old; do
    [ "$old" = "$first_unserved" ] || rm -f "logs/$old.log"
  done
  log=logs/$generation.log
  [ -w "$log" ] || rm -f "$log"
  true >>"$log" && ln -sfn "$generation.log" logs/current.log || exit 1
  ls /dev/shm >shm-before
  echo "$generation $boot $(now)" | replace started
}

generations() { ls logs | sed -n 's/^\([0-9][0-9]*\)[.]log$/\1/p' | sort -n; }

# Frees what no living process has mapped or open any more, of the names of this boot: another boot's are somebody
# else's now. What is still used stays on record.
clean() {
  {
    echo "$boot"
    recorded_shm | while read -r name; do
      file=/dev/shm/$name
      [ -f "$file" ] || continue
      if [ -O "$file" ] && ! is_used "$file"; then rm -f -- "$file"; else echo "$name"; fi
    done
  } | replace shm
  # What cannot be taken away is no reason to call the service failed.
  find "$temp" -mindepth 1 -delete 2>/dev/null || return 0
}

recorded_shm() { [ "$(head -n 1 shm 2>/dev/null)" = "$boot" ] && tail -n +2 shm; }

is_used() {
  grep -qsF -- "$1" /proc/[0-9]*/maps || ls -l /proc/[0-9]*/fd 2>/dev/null | grep -qF -- "$1"
}

# Says how the start ended, once nothing of it lives. systemd gives EXIT_CODE (exited, killed, dumped), EXIT_STATUS and
# SERVICE_RESULT; a start that was not allowed has none of its own.
ended() {
  if [ -n "$EXIT_CODE" ] && ! grep -q "^$generation " exits 2>/dev/null; then
    if has_served; then
      how=served
      rm -f unserved
    else
      how=unserved
      echo "$boot $((count + 1)) ${first_unserved:-$generation}" | replace unserved
    fi
    echo "$generation $EXIT_CODE $EXIT_STATUS $SERVICE_RESULT $(now) $how" >>exits
    tail -n 20 exits | replace exits
  fi
  clean
}

has_served() {
  [ "$(cat served 2>/dev/null)" = "$generation" ] || grep -qs "\"generation\": ${generation}[,}]*\$" ready.json
}

# Every half a minute while it runs, and `note` once it is ready: its shared memory goes on record, whether it listens, and
# its log stays in bounds.
watch() {
  note
  bound_log "logs/$generation.log" "$log_bytes"
}

# From its first moment until it listens: one that dies in between leaves its shared memory, and nobody to be asked whose
# it was. In the first minute a round with no new name forks only to sleep, so that the next one comes in time on a busy
# host too; a name is there a moment before it is mapped, hence three looks at it. systemd ends this with the control group.
starting() {
  (
    rounds=0
    changed=0
    known=
    pause=0.1
    while :; do
      rounds=$((rounds + 1))
      set -- /dev/shm/*
      if [ "$*" != "$known" ]; then
        known=$*
        changed=$rounds
      fi
      if [ $((rounds - changed)) -lt 3 ] || [ $((rounds % 10)) = 0 ] || [ "$pause" = 1 ]; then
        note
        if listens; then break; fi
      fi
      [ "$rounds" -lt 600 ] || pause=1
      # A sleep that knows whole seconds only.
      sleep "$pause" || { pause=1 && sleep 1; }
    done
  ) >/dev/null 2>&1 </dev/null &
}

note() {
  # One sed for all: each of a hundred processes has thousands of lines.
  # shellcheck disable=SC2046
  sed -n 's|^.* /dev/shm/\([^/ ]*\)$|\1|p' $(grep -slF "/$unit" /proc/[0-9]*/cgroup | sed 's|cgroup$|maps|') /dev/null 2>/dev/null |
    sort -u | while read -r name; do
    [ -f "/dev/shm/$name" ] || continue
    [ -O "/dev/shm/$name" ] || continue
    grep -qxF -- "$name" shm-before || grep -qxF -- "$name" shm || echo "$name" >>shm
  done
  if listens; then
    [ "$(cat served 2>/dev/null)" = "$generation" ] || echo "$generation" | replace served
  fi
}

listens() {
  cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ":$(printf %04X "$port") [0-9A-F]*:0000 0A"
}

case $1 in
  allowed | prepare | starting | ended | watch | note) "$1" ;;
  *) exit 2 ;;
esac
