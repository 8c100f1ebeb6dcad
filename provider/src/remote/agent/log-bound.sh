# shellcheck shell=sh
# bound_log FILE BYTES: log_bound.py's rule for units that must do without the agent, with the same marker. Needs head,
# tail, wc, sed and truncate, of coreutils or busybox. `1<>` writes into the file from its beginning without emptying it;
# every reader of the pipe is ahead of what is written.
# shellcheck disable=SC2094
bound_log() {
  log=$1
  max=$2
  [ "$max" -ge 4096 ] || max=4096
  [ -f "$log" ] && [ ! -L "$log" ] && size=$(wc -c <"$log") && [ "$size" -gt "$max" ] || return 0
  head=$((max / 4))
  [ "$head" -le 8388608 ] || head=8388608
  tail=$((max / 2 - head))
  read_marker
  from=$((size - tail))
  part=$(tail -c "+$from" "$log" | head -n 1 | wc -c)
  [ "$part" -gt $((tail / 2)) ] || from=$((from + part))
  [ "$from" -gt "$known" ] || from=$((known + 1))
  between=0
  gap=
  if [ "$known" -gt 0 ] && [ "$begin" -le "$head" ]; then
    at=$begin
  else
    whole=$(head -c "$head" "$log" | wc -l)
    if [ "$whole" -gt 0 ]; then at=$(head -n "$whole" "$log" | wc -c); else at=$head gap=1; fi
    if [ "$known" -eq 0 ]; then
      known=$at
      next=$((whole + 1))
    else
      between=$(tail -c "+$((at + 1))" "$log" | head -c $((begin - at)) | wc -l)
    fi
  fi
  count=$(tail -c "+$((known + 1))" "$log" | head -c $((from - 1 - known)) | wc -l)
  start=$((at + ${gap:-0}))
  if [ -n "$marked" ]; then missing=$((from - 1 - known + begin + missing - start)); else missing=$((from - 1 - start)); fi
  mark="[pulumi-vllm: $((lines + between + count)) lines ($missing bytes) were taken out here, the next is line $((next + count)); service.logs.maxBytes was reached]"
  {
    head -c "$at" "$log"
    [ -z "$gap" ] || echo
    echo "$mark"
    tail -c "+$from" "$log" | head -c $((size - from + 1))
    end=$(wc -c <"$log")
    tail -c "+$((size + 1))" "$log" | head -c $((end - size))
  } 1<>"$log" && truncate -s $((start + ${#mark} + 1 + end - from + 1)) "$log"
}

# Where the marker of an earlier cut stands ($begin, $known: bytes before and with it) and what it says.
read_marker() {
  known=0 lines=0 missing=0 next=0 begin=0
  marked=$(LC_ALL=C sed -n '/^\[pulumi-vllm: [0-9]* lines ([0-9]* bytes) were taken out here, the next is line [0-9]*; service[.]logs[.]maxBytes was reached\]$/{=;p;q;}' "$log" |
    LC_ALL=C sed 's/[^0-9 ]//g')
  [ -n "$marked" ] || return 0
  # The number of the line, then the three numbers in it.
  # shellcheck disable=SC2086
  set -- $marked
  lines=$2 missing=$3 next=$4
  begin=$(head -n "$(($1 - 1))" "$log" | wc -c)
  known=$(head -n "$1" "$log" | wc -c)
}
