"""What the units of a server do beside running vLLM, as lines of POSIX sh that stand in the units themselves.

Nothing of this tool has to stay on the host, and an administrator can read everything there is. Each script is one
line in the end: a line ends with a word or sign after which sh goes on. @WORDS@ are filled in by unit_text.py.

Files in the server's folder: `started` (generation, boot, time of the newest start), `exits` (a line each), `shm`
(boot, then a name a line that processes of ours had mapped), `shm-before` (names that were there before the start),
`served` (the newest generation that listened), `unserved` (boot, starts in a row that never listened, the first of them).
"""

from __future__ import annotations

# Names this boot the way processes.boot_id does.
_BOOT = """
boot=$(cat /proc/sys/kernel/random/boot_id);
first=$(sed 's/.*) //' /proc/1/stat 2>/dev/null | cut -d ' ' -f 20);
boot=$boot${first:+"+$first"};
"""

# Frees what no living process has mapped or open any more, of this boot's names: another boot's are somebody else's now.
# What is left of them stays on record.
_CLEAN = """
{ echo "$boot"; if [ "$(head -n 1 shm 2>/dev/null)" = "$boot" ]; then
tail -n +2 shm | while read -r name; do
file="/dev/shm/$name"; if ! [ -f "$file" ]; then continue; fi;
if [ -O "$file" ] && ! grep -qsF -- "$file" /proc/[0-9]*/maps
&& ! ls -l /proc/[0-9]*/fd 2>/dev/null | grep -qF -- "$file";
then rm -f -- "$file"; else echo "$name"; fi;
done; fi; } > shm.new && mv shm.new shm;
find @TEMP@ -mindepth 1 -delete 2>/dev/null;
"""

# ExecCondition: a server that is being stopped, that failed while somebody watched, or that has failed too often without
# ever serving is not started again. A big model takes minutes until it fails: so slow a loop never meets StartLimitBurst.
ALLOWED = f"""
cd @FOLDER@ || exit 255;
if [ -e stop-intent ] || [ -e no-restart ]; then exit 1; fi;
{_BOOT}
count=0; last=; read -r last count rest 2>/dev/null < unserved;
if [ "$last" = "$boot" ] && [ "${{count:-0}}" -gt @MOST@ ]; then exit 1; fi;
exit 0
"""

# ExecStartPre: counts the start, takes away what the one before left, and gives the new one a log of its own.
PREPARE = f"""
cd @FOLDER@ || exit 1; umask 077;
{_BOOT}
mkdir -p -m 700 logs @TEMP@ || exit 1;
{_CLEAN}
numbers() {{ ls logs | sed -n 's/^\\([0-9][0-9]*\\)[.]log$/\\1/p' | sort -n; }};
n=; read -r n rest 2>/dev/null < started;
case "$n" in ''|*[!0-9]*) n=$(numbers | tail -n 1) ;; esac;
n=$((${{n:-0}} + 1));
first=; read -r last count first 2>/dev/null < unserved;
numbers | head -n -@OLDER@ | while read -r old; do
if [ "$old" != "$first" ]; then rm -f "logs/$old.log"; fi; done;
: >> "logs/$n.log" && ln -sfn "$n.log" logs/current.log || exit 1;
ls /dev/shm > shm-before;
echo "$n $boot $(date -u +%Y-%m-%dT%H:%M:%SZ)" > started.new && mv started.new started
"""

# ExecStopPost: says how the start ended, once nothing of it lives.
ENDED = f"""
cd @FOLDER@ || exit 0; umask 077;
{_BOOT}
read -r n rest 2>/dev/null < started || exit 0;
if [ -n "$EXIT_CODE" ] && ! grep -q "^$n " exits 2>/dev/null; then
echo "$n $EXIT_CODE $EXIT_STATUS $SERVICE_RESULT $(date -u +%Y-%m-%dT%H:%M:%SZ)" >> exits;
tail -n 20 exits > exits.new && mv exits.new exits;
last=; read -r last count first 2>/dev/null < unserved;
if [ "$last" != "$boot" ]; then count=0; first=; fi;
if [ "$(cat served 2>/dev/null)" = "$n" ] || grep -qs "generation.: $n[,}}]*$" ready.json;
then rm -f unserved;
else echo "$boot $((${{count:-0}} + 1)) ${{first:-$n}}" > unserved; fi;
fi;
{_CLEAN}
exit 0
"""

# Every half a minute while it runs: the log stays below its bound, its shared memory is on record, and whether it listens.
WATCH = """
cd @FOLDER@ || exit 0; umask 077;
for group in $(grep -slF '/@UNIT@' /proc/[0-9]*/cgroup); do
sed -n 's|^.* /dev/shm/\\([^/ ]*\\)$|\\1|p' "${group%cgroup}maps" 2>/dev/null; done
| sort -u | while read -r name; do
if [ -f "/dev/shm/$name" ] && [ -O "/dev/shm/$name" ]
&& ! grep -qxF -- "$name" shm-before && ! grep -qxF -- "$name" shm;
then echo "$name" >> shm; fi; done;
read -r n rest 2>/dev/null < started || exit 0;
if cat /proc/net/tcp /proc/net/tcp6 2>/dev/null | grep -q ':@PORT@ [0-9A-F]*:0000 0A'; then echo "$n" > served; fi;
log="logs/$n.log";
if [ "$(wc -c < "$log")" -gt @MAXBYTES@ ]; then
{ head -c @HEADBYTES@ "$log"; echo; echo '[pulumi-vllm: lines were taken out here, the log is bounded]'; tail -c @TAILBYTES@ "$log"; } > "$log.cut"
&& cat "$log.cut" > "$log"; rm -f "$log.cut"; fi;
exit 0
"""
