# shellcheck shell=sh
# Finds a Python on the host and gives it standard input; $1: path of the Python to use, empty to look for one.
# Sent as sh -c with this text in single quotes, read by a login shell of any kind, so:
# no single quote, no exclamation mark, no double backslash, and it also runs with the lines that start
# with # left out and the others joined by one space (csh knows no line breaks inside quotes).
# Prints one error event of the agent protocol and ends with 3 when no Python fits; what is on stdin is in loader.py.
boot="import sys,zlib,json;r=sys.stdin.buffer;n=r.readline(20).strip();n=int(n) if n.isdigit() else -1;z=r.read(max(n,0));len(z)==n or (print(json.dumps({\"event\":\"error\",\"error\":{\"code\":\"AGENT_REPLY_BROKEN\",\"summary\":\"Cannot run the agent: its standard input did not arrive whole, need a login shell whose start-up files do not read from it\",\"change\":\"on the host the start-up files of this account (~/.bashrc and the like) or a ForceCommand of sshd; or run it again if the connection broke\",\"retryable\":True}})),sys.exit(2));d=json.loads(zlib.decompress(z).decode(\"utf-8\"));exec(compile(d[\"loader\"],\"agent/loader.py\",\"exec\"),{\"__name__\":\"agent_loader\",\"modules\":d[\"modules\"],\"request\":r.read()})";
ask="import sys,json,zlib;sys.stdout.write(\"%d.%d\" % sys.version_info[:2])";
need="need Python 3.9 or newer with its standard library";
code=PYTHON_MISSING;
found=;
try() {
  { [ -f "$1" ] && [ -x "$1" ]; } || return 0;
  version=$("$1" -I -S -c "$ask" </dev/null 2>/dev/null);
  case "$version" in
    3.9|3.[1-9][0-9]|[4-9].[0-9]*) exec "$1" -I -S -X utf8 -c "$boot";;
  esac;
  told=$("$1" -V </dev/null 2>&1);
  case "$told" in
    "Python 3.9"*|"Python 3."[1-9][0-9]*) told="$told without its standard library";;
    "Python "*) code=PYTHON_TOO_OLD;;
    *) told="no working Python";;
  esac;
  found="$found${found:+; }$1 is $told";
};
if [ -n "$1" ]; then
  case "$1" in
    \~/*) set -- "$HOME/${1#\~/}";;
  esac;
  try "$1";
  found=${found:-$1 is not an executable file};
  change="correct host.python";
else
  try /usr/bin/python3;
  IFS=:;
  for name in python3 python3.14 python3.13 python3.12 python3.11 python3.10 python3.9; do
    for folder in $PATH /usr/local/bin /bin "$HOME/.local/bin" /opt/conda/bin "$HOME/miniconda3/bin"; do
      case ":$seen:" in
        *":$folder/$name:"*) ;;
        *) seen="$seen:$folder/$name"; [ "$folder/$name" = /usr/bin/python3 ] || try "$folder/$name";;
      esac;
    done;
  done;
  found=${found:-no python3 in /usr/bin, on PATH or in the usual places};
  change="install Python 3.9 or newer (Debian: apt install python3), or name one as host.python";
fi;
found=$(printf "%s" "$found" | tr -cd "A-Za-z0-9 ._/:;,+~()-");
printf "{\"event\":\"error\",\"error\":{\"code\":\"%s\",\"summary\":\"Cannot run the agent: %s, %s\",\"change\":\"%s\",\"retryable\":false}}\n" "$code" "$found" "$need" "$change";
exit 3;
