/**
 * Variables that are told apart from secrets by their names and values. All of `environment` is a secret (docs/decisions/0003), but a log
 * in which each "FLASHINFER" or "4000" is blanked out cannot be read, by nobody and by no diagnosis.
 * The agent has the same in plain_setting.py.
 */

/** Settings of vLLM and of what it stands on. */
const PREFIXES = [
  "VLLM_",
  "NCCL_",
  "GLOO_",
  "OMP_",
  "CUDA_",
  "TORCH_",
  "TORCHINDUCTOR_",
  "PYTORCH_",
  "TRITON_",
];
/** Words of a name that speak of a secret: VLLM_API_KEY, not VLLM_MAX_TOKENS. */
const SECRET_WORDS = [
  "KEY",
  "KEYS",
  "TOKEN",
  "SECRET",
  "PASS",
  "PASSWORD",
  "PIN",
  "AUTH",
  "CREDENTIAL",
  "CREDENTIALS",
];
/** No place, address or sentence. */
const ONE_WORD = /^[\w.,:+-]{1,32}$/;
const PLAIN_WORD = /^(?:true|false|none|null|auto|debug|info|warn|warning|error|critical)$/i;
const NUMBER = /^-?\d{1,6}(?:\.\d{1,3})?$/;

/** Whether a value is no secret, whoever holds it. */
export function isPlainWord(value: string): boolean {
  return PLAIN_WORD.test(value);
}

/** Whether a variable of `environment` may stand in texts as it is. */
export function isPlainSetting(name: string, value: string): boolean {
  if (isPlainWord(value)) return true;
  if (
    name
      .toUpperCase()
      .split("_")
      .some((word) => SECRET_WORDS.includes(word))
  )
    return false;
  return NUMBER.test(value) || (PREFIXES.some((prefix) => name.startsWith(prefix)) && ONE_WORD.test(value));
}
