import { type CauseRule, sourceOf } from "../rule";
import { error, proof, symptom, verdict } from "../signs";
import { isLocalPath } from "./hub";

export const FILES_RULES: readonly CauseRule[] = [
  {
    cause: "MODEL_PATH_INVALID",
    summary: [
      "there is no checkpoint at {path}",
      "there is no checkpoint, or none with a config.json, at what was given as model",
    ],
    change: [
      "model.path: the folder that holds config.json (finish the download, or mount it); or model: a repository that has one",
    ],
    signs: [
      proof(
        /No supported config format found in (?<path>\S+)/,
        "vllm 0.6 to 0.8 transformers_utils/config.py",
      ),
      proof(
        /Invalid repository ID or local directory specified: '?(?<path>[^'\s]+)/,
        "vllm 0.8 to 0.33 transformers_utils/config.py",
      ),
      proof(
        /Could not detect config format for no config file found/,
        "vllm 0.9 to 0.33 transformers_utils/config.py",
      ),
      proof(/Entry Not Found for url: \S+\/config\.json/, "huggingface_hub utils/_http.py"),
      proof(/does not appear to have a file named config\.json/, "transformers utils/hub.py"),
      proof(/Repo id must (?:be in the form|use alphanumeric)/, "huggingface_hub HFValidationError"),
      proof(/HFValidationError: /, "huggingface_hub"),
      proof(/Can't load the configuration of '(?<path>[^']+)'/, "transformers configuration_utils.py"),
      proof(
        /OSError: (?<path>\S+) is not a local folder and is not a valid model identifier/,
        "transformers utils/hub.py",
        {
          accepts: (match) => isLocalPath(match.groups?.["path"]),
        },
      ),
      error(/Incorrect path_or_model_id: '(?<path>[^']+)'/, "transformers utils/hub.py"),
      error(/No such file or directory: '(?<path>\S*\/config\.json)'/, "errno 2"),
    ],
  },
  {
    cause: "DISK_FULL",
    summary: ["a file system is full"],
    change: [
      'host: free disk space, or environment.HF_HOME / extraArgs["download-dir"] (--download-dir) on a larger disk',
    ],
    signs: [
      proof(/No space left on device/, "errno 28", {
        accepts: (match, _line, before) => !isSharedMemory(match.input, before),
      }),
      proof(/Disk quota exceeded/, "errno 122"),
    ],
  },
  {
    cause: "CACHE_NOT_WRITABLE",
    summary: [
      "{path} cannot be written by the user of the server",
      "a folder cannot be written by the user of the server",
    ],
    change: [
      "environment.HF_HOME, environment.HOME or environment.VLLM_CACHE_ROOT: a folder of the user, or host: its ownership",
    ],
    signs: [
      proof(/Permission denied: '(?<path>[^']+)'/, "errno 13"),
      proof(/PermissionError at (?<path>\S+) when downloading/, "huggingface_hub 1.x"),
      proof(/Read-only file system: '(?<path>[^']+)'/, "errno 30"),
      error(/Permission denied \(os error 13\)/, "huggingface_hub hf_xet"),
      error(/Read-only file system/, "errno 30"),
    ],
  },
  {
    cause: "USER_ID_UNKNOWN",
    summary: [
      "the process runs under uid {uid}, which has no name on this host",
      "the process runs under a uid that has no name on this host",
    ],
    change: ["environment.USER and environment.HOME, or environment.TORCHINDUCTOR_CACHE_DIR"],
    signs: [
      verdict(/getpwuid\(\): uid not found: (?<uid>\d+)/, "Python pwd; vllm-project/vllm#12219"),
      verdict(/No username set in the environment/, "Python 3.13 getpass"),
    ],
  },
  {
    cause: "CHECKPOINT_FILE_CORRUPT",
    summary: ["a weight file is truncated, or no weight file at all"],
    change: ["host: delete the broken weight file and download it again"],
    signs: [
      proof(/Error while deserializing header/, "safetensors 0.3 to 0.8"),
      proof(/SafetensorError: /, "safetensors"),
      proof(/file not fully covered/, "safetensors"),
      proof(/PytorchStreamReader failed/, "torch"),
      proof(/invalid load key, /, "Python pickle; a Git LFS pointer"),
      error(/unexpected EOF, expected \d+ more bytes/, "torch"),
    ],
  },
  {
    cause: "WEIGHTS_MISSING",
    summary: ["the checkpoint has no {file}", "files or tensors that the model needs are not there"],
    change: [
      "host: download the missing files, engine.loadFormat left out (--load-format), or the right checkpoint",
    ],
    signs: [
      proof(/Cannot find any (?:safetensors )?model weights with/, "vllm 0.3 to 0.33 model_loader"),
      proof(/Weight files referenced in index but missing/, "vllm 0.28 to 0.33 model_loader/weight_utils.py"),
      proof(
        /weights were not initialized from checkpoint/,
        "vllm 0.6 to 0.33 model_loader/default_loader.py",
      ),
      proof(/No such file or directory: '\S+\.(?:safetensors|bin|pt)'/, "errno 2"),
      proof(/No such file or directory: \S+\.safetensors/, "safetensors"),
      proof(
        /does not appear to have a file named (?!config\.json)(?<file>[\w.-]+\w)/,
        "transformers utils/hub.py",
      ),
      error(/Entry Not Found for url: /, "huggingface_hub utils/_http.py"),
      proof(/does not appear to have files named/, "transformers utils/hub.py"),
      error(
        /Can't load (?:the )?(?<file>image processor|feature extractor|processor|model) for '/,
        "transformers from_pretrained",
      ),
      proof(/Could not find checkpoint files '/, "vllm 0.32.0 model_loader/sharded_state_loader.py"),
    ],
  },
  {
    cause: "TOKENIZER_NOT_FOUND",
    summary: ["the checkpoint has no tokenizer that can be read"],
    change: [
      'model: a checkpoint with tokenizer.json and tokenizer_config.json; engine.tokenizer (--tokenizer) for one from elsewhere; extraArgs["skip-tokenizer-init"]: true (--skip-tokenizer-init) where prompts are token ids; or host: install sentencepiece or tiktoken in vLLM\'s environment where the checkpoint has only a tokenizer.model',
    ],
    signs: [
      error(/Can't load tokenizer for '/, "transformers 4, 5 tokenization_utils_base.py"),
      error(
        /Couldn't instantiate the backend tokenizer from one of/,
        "transformers 4, 5 tokenization_utils_tokenizers.py",
      ),
      error(/You need to have \w+ or \w+ installed to convert a slow tokenizer/, "transformers 4, 5"),
      error(/Tokenizer file not found: /, "vllm 0.6 to 0.33 tokenizers/mistral.py"),
      error(/Found \d+ files matching the pattern: `?\S*tok/, "vllm 0.8 to 0.33 tokenizers/mistral.py"),
      error(/tiktoken\.model not found at /, "vllm 0.32.0 tokenizers/kimi_audio.py"),
      error(
        /expected str, bytes or os\.PathLike object, not NoneType/,
        "Python; a tokenizer file is missing",
        {
          accepts: (_match, _line, before) => /vocab|tokeniz/.test(before),
        },
      ),
      error(/not a string/, "sentencepiece: TypeError: not a string, without a tokenizer.model", {
        accepts: (match, _line, before) =>
          /^TypeError: /.test(match.input) && /sentencepiece|LoadFromFile/.test(before),
      }),
    ],
  },
  {
    cause: "CHECKPOINT_MODEL_MISMATCH",
    summary: ["the checkpoint and vLLM's class of this model do not have the same tensors"],
    change: [
      "vllm.version: another (newer) one; quantizationConfigOverrides (layers that are not quantized); or another checkpoint",
    ],
    signs: [
      proof(/There is no module or parameter named '/, "vllm 0.6 to 0.33 models/utils.py"),
      error(
        /KeyError: '[\w.]*(?:layers|experts|weight|scale|lm_head|embed_tokens|proj)[\w.]*'/,
        "vllm 0.3 to 0.33 load_weights",
      ),
      error(/Attempted to load weight \(/, "vllm 0.6 to 0.33 model_loader/weight_utils.py"),
      error(/size mismatch for /, "torch load_state_dict"),
      error(/Error\(s\) in loading state_dict/, "torch"),
      error(/weight_scale for layer \S+ was never loaded/, "vllm 0.32.0 modelopt.py"),
      symptom(/AssertionError/, "vllm 0.3 to 0.33 weight loaders", {
        accepts: (_match, line, before) =>
          /assert .*(?:loaded_weight\.shape|param_data\.shape|param\.size\(\))/.test(sourceOf(before, line)),
      }),
    ],
  },
];

/** Whether "No space left on device" is about /dev/shm: told on the line, or by the lines above it. */
export function isSharedMemory(text: string, before: string): boolean {
  const near = before.split("\n").slice(-6).join("\n");
  return (
    /\/dev\/shm|nccl-|shared memory/.test(text) ||
    /\/dev\/shm|shared_memory\.py|shm_open|posix_fallocate|_posixshmem/.test(near)
  );
}
