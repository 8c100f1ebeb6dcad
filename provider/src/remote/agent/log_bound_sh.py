"""log_bound.bound as POSIX sh, for units that must do without this agent: same rule, same marker.

Wants $log, a path, and $max, bytes. One line in the end: each line here ends with a word or sign after which sh goes on.
Needs head, tail, wc, sed and truncate, of coreutils or busybox. `1<>` writes into the file from its beginning without
emptying it; every reader of the pipe is ahead of what is written.
"""

from __future__ import annotations

TEXT = r"""
if [ "$max" -lt 4096 ]; then max=4096; fi;
if [ -f "$log" ] && [ ! -L "$log" ] && size=$(wc -c < "$log") && [ "$size" -gt "$max" ]; then
head=$((max / 4)); if [ "$head" -gt 8388608 ]; then head=8388608; fi;
tail=$((max / 2 - head));
set -- $(LC_ALL=C sed -n '/^\[pulumi-vllm: [0-9]* lines ([0-9]* bytes) were taken out here, the next is line [0-9]*; service[.]logs[.]maxBytes was reached\]$/{=;p;q;}' "$log"
| LC_ALL=C sed 's/[^0-9 ]//g');
known=0; between=0; lines=0; missing=0; next=0; begin=0;
if [ $# -eq 4 ]; then
lines=$2; missing=$3; next=$4;
begin=$(head -n "$(($1 - 1))" "$log" | wc -c); known=$(head -n "$1" "$log" | wc -c); fi;
from=$((size - tail));
part=$(tail -c "+$from" "$log" | head -n 1 | wc -c);
if [ "$part" -le $((tail / 2)) ]; then from=$((from + part)); fi;
if [ "$from" -le "$known" ]; then from=$((known + 1)); fi;
if [ "$known" -gt 0 ] && [ "$begin" -le "$head" ]; then at=$begin; gap=;
else
whole=$(head -c "$head" "$log" | wc -l); gap=;
if [ "$whole" -gt 0 ]; then at=$(head -n "$whole" "$log" | wc -c); else at=$head; gap=1; fi;
if [ "$known" -eq 0 ]; then known=$at; next=$((whole + 1));
else between=$(tail -c "+$((at + 1))" "$log" | head -c $((begin - at)) | wc -l); fi; fi;
gone=$(tail -c "+$((known + 1))" "$log" | head -c $((from - 1 - known)) | wc -l);
start=$((at + ${gap:-0}));
if [ $# -eq 4 ]; then missing=$((from - 1 - known + begin + missing - start)); else missing=$((from - 1 - start)); fi;
mark="[pulumi-vllm: $((lines + between + gone)) lines ($missing bytes) were taken out here, the next is line $((next + gone)); service.logs.maxBytes was reached]";
{ head -c "$at" "$log"; if [ -n "$gap" ]; then echo; fi; echo "$mark";
tail -c "+$from" "$log" | head -c $((size - from + 1));
end=$(wc -c < "$log"); tail -c "+$((size + 1))" "$log" | head -c $((end - size)); } 1<> "$log"
&& truncate -s $((start + ${#mark} + 1 + end - from + 1)) "$log"; fi
"""
