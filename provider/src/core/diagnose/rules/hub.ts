import type { CauseRule } from "../rule";
import { error, proof, symptom, verdict } from "../signs";

/** huggingface_hub prints what it tries again; that is no end. */
const GAVE_UP = {
  accepts: (match: RegExpExecArray): boolean => !/thrown while requesting|Retrying/.test(match.input),
};

/** A path of this host, not "org/name". */
export const isLocalPath = (text: string | undefined): boolean => /^[./~]/.test(text ?? "");

export const HUB_RULES: readonly CauseRule[] = [
  {
    cause: "HUB_GATED",
    summary: ["the repository is gated and this token (or none) has no access"],
    change: [
      "model.token or environment.HF_TOKEN (secret) of an account that was granted access; accept the licence of the repository on the hub",
    ],
    context: ["httpStatus"],
    signs: [
      verdict(/Cannot access gated repo for url/, "huggingface_hub utils/_http.py", { isBestEvidence: true }),
      proof(/You are trying to access a gated repo/, "transformers utils/hub.py"),
      proof(/ is a gated repository\. /, "transformers utils/hub.py"),
      proof(/GatedRepoError: /, "huggingface_hub errors"),
      error(/Access to model \S+ is restricted/, "huggingface_hub"),
      symptom(/403 Client Error/, "huggingface_hub"),
    ],
  },
  {
    cause: "HUB_REVISION_NOT_FOUND",
    summary: ["the revision does not exist in the repository that was asked"],
    change: [
      'model.revision (--revision), or extraArgs["tokenizer-revision"] (--tokenizer-revision) when the URL names the tokenizer\'s repository',
    ],
    context: ["httpStatus"],
    signs: [
      verdict(/Revision Not Found for url/, "huggingface_hub utils/_http.py", { isBestEvidence: true }),
      proof(/RevisionNotFoundError: /, "huggingface_hub errors"),
      proof(/The model: \S+ has no (?:valid )?revision/, "modelscope; vllm-project/vllm-ascend#829"),
      proof(/is not a valid git identifier/, "transformers utils/hub.py"),
    ],
  },
  {
    cause: "HUB_REPO_NOT_FOUND",
    summary: ["the repository does not exist, or is private and no token was sent"],
    change: [
      "model.repo: correct the name, or model.token or environment.HF_TOKEN (secret) for a private one",
    ],
    context: ["httpStatus"],
    signs: [
      proof(/Repository Not Found for url/, "huggingface_hub utils/_http.py", { isBestEvidence: true }),
      proof(/RepositoryNotFoundError: /, "huggingface_hub errors"),
      error(
        /OSError: (?<path>\S+) is not a local folder and is not a valid model identifier/,
        "transformers utils/hub.py",
        {
          accepts: (match) => !isLocalPath(match.groups?.["path"]),
        },
      ),
      symptom(/401 Client Error/, "huggingface_hub"),
      symptom(/404 Client Error/, "huggingface_hub"),
    ],
  },
  {
    cause: "HUB_RATE_LIMITED",
    summary: ["the hub answers 429: too many requests"],
    change: [
      'environment.HF_TOKEN (secret), or environment.HF_HUB_OFFLINE: "1" when the model is cached; then wait and start again',
    ],
    retryable: true,
    context: ["httpStatus"],
    signs: [
      verdict(/(?<httpStatus>429) Client Error/, "huggingface_hub utils/_http.py", { isBestEvidence: true }),
      verdict(/429 Too Many Requests/, "huggingface_hub utils/_http.py"),
      error(/We had to rate limit your IP/, "the hub's answer"),
      symptom(/HTTP Error 429 thrown/, "huggingface_hub"),
    ],
  },
  {
    cause: "HUB_OFFLINE_MISSING",
    summary: ["offline mode is on and the files are not in the local cache"],
    change: [
      "environment.HF_HUB_OFFLINE unset for the first start, or host: fill or mount the cache (environment.HF_HOME)",
    ],
    signs: [
      verdict(
        /outgoing traffic has been disabled/,
        "huggingface_hub file_download.py, _snapshot_download.py",
      ),
      verdict(/OfflineModeIsEnabled/, "huggingface_hub errors"),
      verdict(/IncompleteSnapshotError/, "huggingface_hub 1.x"),
      verdict(/offline mode is enabled/, "huggingface_hub"),
    ],
  },
  {
    cause: "HARMONY_VOCAB_UNAVAILABLE",
    summary: ["gpt-oss needs vocabulary files that could not be downloaded"],
    change: [
      "environment.TIKTOKEN_ENCODINGS_BASE: a folder with o200k_base.tiktoken and cl100k_base.tiktoken, or host: network",
    ],
    signs: [
      verdict(/error downloading or loading vocab file/, "openai_harmony; vllm-project/vllm#22525"),
      verdict(/HarmonyError: /, "openai_harmony"),
      verdict(/failed to download or load vocab file/, "openai_harmony"),
    ],
  },
  {
    cause: "HUB_UNREACHABLE",
    summary: ["the hub cannot be reached from this host"],
    change: [
      'host: network, DNS or proxy; environment.HF_ENDPOINT for a mirror; environment.HF_HUB_OFFLINE: "1" when the model is cached',
    ],
    retryable: true,
    context: ["httpStatus"],
    signs: [
      proof(/NameResolutionError: /, "urllib3", { isBestEvidence: true }),
      proof(/Failed to resolve '/, "urllib3"),
      proof(/Temporary failure in name resolution/, "getaddrinfo"),
      proof(/Name or service not known/, "getaddrinfo"),
      proof(/(?<httpStatus>50[0234]) Server Error/, "huggingface_hub"),
      proof(/Server Error: .* for url/, "huggingface_hub"),
      error(/Max retries exceeded with url/, "urllib3", GAVE_UP),
      error(/ConnectTimeout(?:Error)?/, "requests, httpx", GAVE_UP),
      error(/Read timed out/, "urllib3", GAVE_UP),
      error(/ReadTimeout/, "requests, httpx", GAVE_UP),
      error(/ProxyError/, "requests, httpx", GAVE_UP),
      error(/CERTIFICATE_VERIFY_FAILED/, "Python ssl", GAVE_UP),
      error(/Network is unreachable/, "errno 101", GAVE_UP),
      error(/httpx\.ConnectError/, "httpx"),
      error(/CAS service error/, "huggingface_hub hf_xet"),
      error(
        /An error happened while trying to locate the file on the Hub/,
        "huggingface_hub file_download.py",
      ),
      symptom(/We couldn't connect to '/, "transformers utils/hub.py"),
      symptom(/There was a specific connection error when trying to load/, "transformers utils/hub.py"),
      symptom(/LocalEntryNotFoundError/, "huggingface_hub errors"),
    ],
  },
];
